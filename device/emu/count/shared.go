package count

import "math/bits"

// SharedUse counts the accesses of warps to shared memory. A request is one instruction of a warp.
// It takes one wavefront per 128 bytes that its lanes can access at once, and one more per bank
// conflict.
type SharedUse struct {
	Requests   uint64 `json:"requests"`
	Wavefronts uint64 `json:"wavefronts"`
	Conflicts  uint64 `json:"conflicts"` // wavefronts that addresses without conflicts would save
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

// banks finds bank conflicts. Its memory is used again for each request.
type banks struct {
	words [bankCount][]uint32 // by bank: the words that lanes access
	use   SharedUse
}

// request returns the use by lanes of a warp, size bytes at each offset.
func (b *banks) request(mask uint32, offsets *[32]uint64, size int) *SharedUse {
	b.use = SharedUse{Requests: 1}
	b.phases(mask, size, func(lane int) { b.want(offsets[lane], size) })
	return &b.use
}

// pieces returns the use by accesses that were announced lane by lane: the first pieces of all
// lanes together, then the second pieces, and so on.
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

// phases counts wavefronts. Lanes with up to 4 bytes go together; wider accesses go in parts of
// the warp that access 128 bytes.
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

// want adds the words of an access. A word that several lanes access counts once.
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
