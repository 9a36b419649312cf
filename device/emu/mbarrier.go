package emu

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// mbarrier is the 64 bits of a barrier in shared memory. The hardware keeps its
// layout to itself; this one is, from the lowest bit: 20 bits of arrivals that
// each phase awaits, 20 of arrivals that the present one still awaits, 21 of
// bytes it awaits (with a sign, since bytes may come before they are expected),
// 2 of the phase's number and one that is set while the barrier lives.
type mbarrier uint64

const (
	mbarrierMost  = 1<<20 - 1 // arrivals, and bytes either way
	mbarrierAlive = mbarrier(1) << 63
)

func newMbarrier(count uint32) mbarrier { return mbarrierAlive.with(count, count, 0) }

func (b mbarrier) expected() uint32 { return uint32(b) & mbarrierMost }
func (b mbarrier) pending() uint32  { return uint32(b>>20) & mbarrierMost }
func (b mbarrier) bytes() int32     { return int32(b>>40<<11) >> 11 }
func (b mbarrier) phase() uint32    { return uint32(b>>61) & 3 }

// with replaces the counts. A phase that awaits nothing more ends.
func (b mbarrier) with(expected, pending uint32, bytes int32) mbarrier {
	phase := b.phase()
	if pending == 0 && bytes == 0 {
		phase = (phase + 1) & 3
		pending = expected
	}
	return mbarrierAlive | mbarrier(phase)<<61 | mbarrier(bytes)&(1<<21-1)<<40 | mbarrier(pending)<<20 | mbarrier(expected)
}

var errNoMbarrier = errors.New("no mbarrier lives here: it was not initialised, or was invalidated or overwritten")

// loadMbarrier reads the barrier in a word of shared memory.
func loadMbarrier(word []byte) (mbarrier, error) {
	b := mbarrier(binary.LittleEndian.Uint64(word))
	if b&mbarrierAlive == 0 {
		return 0, errNoMbarrier
	}
	return b, nil
}

// barRef is where an mbarrier lies.
type barRef struct {
	b   *block
	off uint64
}

func (r barRef) word() []byte { return r.b.shared[r.off:][:8] }
func (r barRef) at() observe.MbarrierAt {
	return observe.MbarrierAt{Block: r.b.rank, Offset: int(r.off)}
}

// barRef is the mbarrier at an offset in a block's shared memory.
func (f *frame) barRef(lane int, b *block, off uint64) barRef {
	f.within(lane, b.shared, off, 8, "shared-memory")
	return barRef{b, off}
}

// change has an operation of the thread change a barrier, tells who observes it and
// wakes who waits for it when its phase ended.
func (o origin) change(r barRef, e observe.Mbarrier, to func(b mbarrier) (mbarrier, error)) error {
	word := r.word()
	old, err := loadMbarrier(word)
	b := old
	if err == nil {
		b, err = to(old)
	}
	if err != nil {
		e.Err = err
		o.mbarrier(r, e, old)
		return err
	}
	binary.LittleEndian.PutUint64(word, uint64(b))
	o.mbarrier(r, e, old)
	if old.phase() != b.phase() {
		r.b.cluster.changed()
	}
	return nil
}

// settle carries out copies that the present phase awaits, and them alone: who arrives
// now can only mean the next phase, and may have counted on their being quick.
func (r barRef) settle() {
	for {
		b, err := loadMbarrier(r.word())
		if err != nil || b.pending() > 0 || !r.b.cluster.transferOne() {
			return
		}
	}
}

// arrive counts n arrivals.
func (o origin) arrive(r barRef, n uint32, e observe.Mbarrier) error {
	e.Op, e.Count = observe.MbarrierArrive, int(n)
	return o.change(r, e, func(b mbarrier) (mbarrier, error) {
		if n == 0 || n > b.pending() {
			return b, fmt.Errorf("%d arrivals at an mbarrier that awaits %d", n, b.pending())
		}
		return b.with(b.expected(), b.pending()-n, b.bytes()), nil
	})
}

// arriveDrop counts n arrivals, which phases after this one do not await.
func (o origin) arriveDrop(r barRef, n uint32, e observe.Mbarrier) error {
	e.Op, e.Count = observe.MbarrierDrop, int(n)
	return o.change(r, e, func(b mbarrier) (mbarrier, error) {
		if n == 0 || n > b.pending() || n > b.expected() {
			return b, fmt.Errorf("%d arrivals dropped from an mbarrier that awaits %d of %d", n, b.pending(), b.expected())
		}
		return b.with(b.expected()-n, b.pending()-n, b.bytes()), nil
	})
}

// expect has the present phase await n more bytes; a negative n counts bytes as
// come, of the work of that number.
func (o origin) expect(r barRef, n int64, work uint64) error {
	e := observe.Mbarrier{Op: observe.MbarrierExpect, Count: int(n), Work: work}
	if n < 0 {
		e.Op, e.Count = observe.MbarrierComplete, int(-n)
	}
	return o.change(r, e, func(b mbarrier) (mbarrier, error) {
		t := int64(b.bytes()) + n
		if t > mbarrierMost || t < -mbarrierMost {
			return b, fmt.Errorf("an mbarrier that awaits %d bytes; it counts up to %d", t, mbarrierMost)
		}
		return b.with(b.expected(), b.pending(), int32(t)), nil
	})
}

// awaitOneMore has the present phase await one more arrival.
func awaitOneMore(word []byte) error {
	b, err := loadMbarrier(word)
	if err != nil {
		return err
	}
	if b.pending() == mbarrierMost {
		return fmt.Errorf("an mbarrier that awaits more than %d arrivals", mbarrierMost)
	}
	binary.LittleEndian.PutUint64(word, uint64(b.with(b.expected(), b.pending()+1, b.bytes())))
	return nil
}

// barrier is the mbarrier at a lane's address.
func (a *address) barrier(f *frame, lane int) barRef {
	b, off := a.sharedAt(f, lane, 8)
	return f.barRef(lane, b, off)
}

// sharedAt is the block and the offset of a lane's address in shared memory.
func (a *address) sharedAt(f *frame, lane, align int) (*block, uint64) {
	addr := a.at(f, lane)
	if addr%uint64(align) != 0 {
		f.raiseAs("misaligned", lane, "address %#x is not aligned to %d bytes", addr, align)
	}
	if a.space == ptx.Generic {
		if addr>>windowBits != sharedBase>>windowBits {
			f.raise(lane, "generic address %#x is not in shared memory", addr)
		}
		addr &= 1<<32 - 1
	}
	return f.sharedBlock(lane, addr)
}

// sharedBlock is the block of the cluster and the offset that a shared address
// means.
func (f *frame) sharedBlock(lane int, addr uint64) (*block, uint64) {
	r := addr >> rankShift
	if r == 0 {
		return f.b, addr
	}
	if r > uint64(len(f.b.cluster.blocks)) {
		f.raiseAs("oob-shared", lane, "shared address %#x is of block %d of a cluster of %d", addr, r-1, len(f.b.cluster.blocks))
	}
	return f.b.cluster.blocks[r-1], addr & sharedMask
}
