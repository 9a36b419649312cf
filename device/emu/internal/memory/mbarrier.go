package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Mbarrier is the 64 bits of a barrier in shared memory. The hardware keeps its
// layout to itself; this one is, from the lowest bit: 20 bits of arrivals that
// each phase awaits, 20 of arrivals that the present one still awaits, 21 of
// bytes it awaits (with a sign, since bytes may come before they are expected),
// 2 of the phase's number and one that is set while the barrier lives.
type Mbarrier uint64

const (
	MbarrierMax   = 1<<20 - 1 // arrivals, and bytes either way
	mbarrierAlive = Mbarrier(1) << 63
)

func NewMbarrier(count uint32) Mbarrier { return mbarrierAlive.With(count, count, 0) }

func (b Mbarrier) Expected() uint32 { return uint32(b) & MbarrierMax }

func (b Mbarrier) Pending() uint32 { return uint32(b>>20) & MbarrierMax }

func (b Mbarrier) Bytes() int32 { return int32(b>>40<<11) >> 11 }

func (b Mbarrier) Phase() uint32 { return uint32(b>>61) & 3 }

// With replaces the counts. A phase that awaits nothing more ends.
func (b Mbarrier) With(expected, pending uint32, bytes int32) Mbarrier {
	phase := b.Phase()
	if pending == 0 && bytes == 0 {
		phase = (phase + 1) & 3
		pending = expected
	}
	return mbarrierAlive | Mbarrier(phase)<<61 | Mbarrier(bytes)&(1<<21-1)<<40 | Mbarrier(pending)<<20 | Mbarrier(expected)
}

var errNoMbarrier = errors.New("no mbarrier lives here: it was not initialised, or was invalidated or overwritten")

// LoadMbarrier reads the barrier in a word of shared memory.
func LoadMbarrier(word []byte) (Mbarrier, error) {
	b := Mbarrier(binary.LittleEndian.Uint64(word))
	if b&mbarrierAlive == 0 {
		return 0, errNoMbarrier
	}
	return b, nil
}

// AwaitOneMore has the present phase await one more arrival.
func AwaitOneMore(word []byte) error {
	b, err := LoadMbarrier(word)
	if err != nil {
		return err
	}
	if b.Pending() == MbarrierMax {
		return fmt.Errorf("an mbarrier that awaits more than %d arrivals", MbarrierMax)
	}
	binary.LittleEndian.PutUint64(word, uint64(b.With(b.Expected(), b.Pending()+1, b.Bytes())))
	return nil
}
