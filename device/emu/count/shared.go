package count

import "math/bits"

// SharedUse is how warps used shared memory. A request is what one instruction of a
// warp asks for; it takes one wavefront for each 128 bytes that its lanes could have
// at once, and one more for each conflict.
type SharedUse struct {
	Requests   uint64 `json:"requests"`
	Wavefronts uint64 `json:"wavefronts"`
	Conflicts  uint64 `json:"conflicts"` // wavefronts that other addresses would save
}

func (u *SharedUse) add(v *SharedUse) {
	u.Requests += v.Requests
	u.Wavefronts += v.Wavefronts
	u.Conflicts += v.Conflicts
}

const (
	bankCount = 32
	bankBytes = 4
)

// banks finds conflicts. It keeps its room from one request to the next.
type banks struct {
	words [bankCount][]uint32 // that are wanted of each bank
	use   SharedUse
}

// request is what lanes of a warp use, size bytes at each offset.
func (b *banks) request(mask uint32, offsets *[32]uint64, size int) *SharedUse {
	b.use = SharedUse{Requests: 1}
	b.phases(mask, size, func(lane int) { b.want(offsets[lane], size) })
	return &b.use
}

// pieces is what lanes use that were told one at a time: the first piece of each
// lane together, then the second of each, and so on.
func (b *banks) pieces(held []piece) *SharedUse {
	b.use = SharedUse{Requests: 1}
	var round [32]*piece
	var mask uint32
	size := 0
	finish := func() {
		b.phases(mask, size, func(lane int) { b.want(round[lane].addr, round[lane].size) })
		mask, size = 0, 0
	}
	for i := range held {
		p := &held[i]
		if mask>>p.lane&1 != 0 {
			finish()
		}
		mask |= 1 << p.lane
		round[p.lane] = p
		size = max(size, p.size)
	}
	finish()
	return &b.use
}

// phases counts wavefronts: lanes of up to 4 bytes go all at once, wider ones in
// parts of the warp that could have 128 bytes between them.
func (b *banks) phases(mask uint32, size int, want func(lane int)) {
	lanes := min(32, max(1, bankCount*bankBytes/max(size, 1)))
	for first := 0; first < 32; first += lanes {
		part := mask >> first << first
		if end := first + lanes; end < 32 {
			part &= 1<<end - 1
		}
		if part == 0 {
			continue
		}
		for i := range b.words {
			b.words[i] = b.words[i][:0]
		}
		for ; part != 0; part &= part - 1 {
			want(bits.TrailingZeros32(part))
		}
		waves := 1
		for i := range b.words {
			waves = max(waves, len(b.words[i]))
		}
		b.use.Wavefronts += uint64(waves)
		b.use.Conflicts += uint64(waves - 1)
	}
}

// want notes the words of an access. A word that is wanted twice is read once.
func (b *banks) want(addr uint64, size int) {
	for w := addr / bankBytes; w <= (addr+uint64(size)-1)/bankBytes; w++ {
		bank := &b.words[w%bankCount]
		known := false
		for _, v := range *bank {
			known = known || v == uint32(w)
		}
		if !known {
			*bank = append(*bank, uint32(w))
		}
	}
}
