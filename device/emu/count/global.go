package count

import (
	"encoding/json"
	"math/bits"
)

// GlobalUse is how warps, and the copies they started, used global memory.
type GlobalUse struct {
	Requests  uint64
	Sectors   uint64 // of 32 bytes
	BytesUsed uint64 // of those sectors: bytes that some lane wants
}

// MarshalJSON adds what follows from the others.
func (u GlobalUse) MarshalJSON() ([]byte, error) {
	var share *float64
	if e, ok := u.Efficiency(); ok {
		share = &e
	}
	return json.Marshal(struct {
		Requests   uint64   `json:"requests"`
		Sectors    uint64   `json:"sectors"`
		BytesUsed  uint64   `json:"bytes_used"`
		BytesMoved uint64   `json:"bytes_moved"`
		Efficiency *float64 `json:"efficiency"` // null when nothing was moved
	}{u.Requests, u.Sectors, u.BytesUsed, u.BytesMoved(), share})
}

func (u *GlobalUse) add(v *GlobalUse) {
	u.Requests += v.Requests
	u.Sectors += v.Sectors
	u.BytesUsed += v.BytesUsed
}

// BytesMoved is what the sectors amount to.
func (u *GlobalUse) BytesMoved() uint64 { return u.Sectors * sectorBytes }

// Efficiency is the share of the moved bytes that somebody wanted; false when none
// were moved.
func (u *GlobalUse) Efficiency() (share float64, ok bool) {
	if u.Sectors == 0 {
		return 0, false
	}
	return float64(u.BytesUsed) / float64(u.BytesMoved()), true
}

const sectorBytes = 32

// sectors collects the sectors of a request.
type sectors struct {
	list   []sector
	result GlobalUse
}

// sector is a sector and which of its bytes are wanted.
type sector struct {
	number uint64
	bytes  uint32
}

func (s *sectors) reset() { s.list = s.list[:0] }

// touch notes the bytes of a lane.
func (s *sectors) touch(addr uint64, size int) {
	for end := addr + uint64(size); addr < end; {
		next := min(end, (addr/sectorBytes+1)*sectorBytes)
		mask := uint32((uint64(1)<<(next-addr) - 1) << (addr % sectorBytes))
		s.at(addr / sectorBytes).bytes |= mask
		addr = next
	}
}

// at is the entry of a sector. Neighbouring lanes mostly want the same, so the
// search starts at the latest.
func (s *sectors) at(number uint64) *sector {
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].number == number {
			return &s.list[i]
		}
	}
	s.list = append(s.list, sector{number: number})
	return &s.list[len(s.list)-1]
}

// use is what was noted, as one request.
func (s *sectors) use() *GlobalUse {
	s.result = GlobalUse{Requests: 1, Sectors: uint64(len(s.list))}
	for i := range s.list {
		s.result.BytesUsed += uint64(bits.OnesCount32(s.list[i].bytes))
	}
	return &s.result
}

// lineBytes is what a copy engine asks for at a time.
const lineBytes = 4 * sectorBytes

// pieces is what was told one lane at a time. The lanes of a warp are one request; a
// copy engine makes one for each line of 128 bytes, so that a copy of any length has
// at most the four sectors a request of a warp that reads a row of words.
func (s *sectors) pieces(held []piece, engine bool) *GlobalUse {
	if !engine {
		s.reset()
		for _, p := range held {
			s.touch(p.addr, p.size)
		}
		return s.use()
	}
	s.result = GlobalUse{}
	for _, p := range held {
		last := p.addr + uint64(p.size) - 1
		s.result.Requests += last/lineBytes - p.addr/lineBytes + 1
		s.result.Sectors += last/sectorBytes - p.addr/sectorBytes + 1
		s.result.BytesUsed += uint64(p.size)
	}
	return &s.result
}
