package count

import (
	"encoding/json"
	"math/bits"
)

// GlobalUse counts the accesses of warps, and of the copies that they start, to global memory.
type GlobalUse struct {
	Requests  uint64
	Sectors   uint64 // sectors of 32 bytes
	BytesUsed uint64 // bytes of these sectors that a lane accesses
}

// MarshalJSON adds the derived values.
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

// BytesMoved returns the size of all sectors in bytes.
func (u *GlobalUse) BytesMoved() uint64 { return u.Sectors * sectorBytes }

// Efficiency returns the share of the moved bytes that lanes access. ok is false if no bytes were
// moved.
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

// sector is a sector and a mask of its bytes that lanes access.
type sector struct {
	number uint64
	bytes  uint32
}

func (s *sectors) reset() { s.list = s.list[:0] }

// touch adds the bytes of a lane.
func (s *sectors) touch(addr uint64, size int) {
	for end := addr + uint64(size); addr < end; {
		next := min(end, (addr/sectorBytes+1)*sectorBytes)
		mask := uint32((uint64(1)<<(next-addr) - 1) << (addr % sectorBytes))
		s.at(addr / sectorBytes).bytes |= mask
		addr = next
	}
}

// at returns the entry of a sector. Neighbouring lanes mostly access the same sector, so the
// search starts at the last entry.
func (s *sectors) at(number uint64) *sector {
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].number == number {
			return &s.list[i]
		}
	}
	s.list = append(s.list, sector{number: number})
	return &s.list[len(s.list)-1]
}

// use returns the use by one request of all bytes that touch has added.
func (s *sectors) use() *GlobalUse {
	s.result = GlobalUse{Requests: 1, Sectors: uint64(len(s.list))}
	for i := range s.list {
		s.result.BytesUsed += uint64(bits.OnesCount32(s.list[i].bytes))
	}
	return &s.result
}

// lineBytes is the size of a request of a copy engine.
const lineBytes = 4 * sectorBytes

// pieces returns the use by accesses that were announced lane by lane. The lanes of a warp make
// one request. A copy engine makes one request per line of 128 bytes, so that one request has at
// most four sectors, like a warp that reads 32 adjacent words.
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
