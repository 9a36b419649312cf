package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Mbarrier is the 64-bit word of an mbarrier in shared memory. NVIDIA does not document
// the layout of the hardware. The layout of the emulator is, from the lowest bit: 20 bits
// for the arrivals that each phase awaits, 20 bits for the arrivals that the present phase
// still awaits, 21 bits for the bytes that it awaits (signed, because bytes may arrive
// before they are expected), 2 bits for the number of the phase, and 1 bit that is set
// while the mbarrier is valid.
type Mbarrier uint64

const (
	MbarrierMax   = 1<<20 - 1 // the most arrivals, and the largest absolute number of bytes
	mbarrierAlive = Mbarrier(1) << 63
)

// NewMbarrier returns an mbarrier whose phases await count arrivals.
func NewMbarrier(count uint32) Mbarrier { return mbarrierAlive.With(count, count, 0) }

// Expected returns the number of arrivals that each phase awaits.
func (b Mbarrier) Expected() uint32 { return uint32(b) & MbarrierMax }

// Pending returns the number of arrivals that the present phase still awaits.
func (b Mbarrier) Pending() uint32 { return uint32(b>>20) & MbarrierMax }

// Bytes returns the number of bytes that the present phase still awaits.
func (b Mbarrier) Bytes() int32 { return int32(b>>40<<11) >> 11 }

// Phase returns the number of the present phase, modulo 4.
func (b Mbarrier) Phase() uint32 { return uint32(b>>61) & 3 }

// With returns the mbarrier with other counts. If no arrivals and no bytes are left to
// wait for, the phase ends.
func (b Mbarrier) With(expected, pending uint32, bytes int32) Mbarrier {
	phase := b.Phase()
	if pending == 0 && bytes == 0 {
		phase = (phase + 1) & 3
		pending = expected
	}
	return mbarrierAlive | Mbarrier(phase)<<61 | Mbarrier(bytes)&(1<<21-1)<<40 | Mbarrier(pending)<<20 | Mbarrier(expected)
}

var errNoMbarrier = errors.New("there is no mbarrier at this address: it was not initialised, or it was invalidated or overwritten")

// LoadMbarrier returns the mbarrier in a word of shared memory.
func LoadMbarrier(word []byte) (Mbarrier, error) {
	b := Mbarrier(binary.LittleEndian.Uint64(word))
	if b&mbarrierAlive == 0 {
		return 0, errNoMbarrier
	}
	return b, nil
}

// AwaitOneMore adds one arrival to those that the present phase awaits.
func AwaitOneMore(word []byte) error {
	b, err := LoadMbarrier(word)
	if err != nil {
		return err
	}
	if b.Pending() == MbarrierMax {
		return fmt.Errorf("the mbarrier would await more than %d arrivals", MbarrierMax)
	}
	binary.LittleEndian.PutUint64(word, uint64(b.With(b.Expected(), b.Pending()+1, b.Bytes())))
	return nil
}
