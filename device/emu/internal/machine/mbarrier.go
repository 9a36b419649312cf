package machine

import (
	"encoding/binary"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// BarRef is the place of an mbarrier.
type BarRef struct {
	b   *Block
	off uint64
}

// Word returns the eight bytes of the mbarrier.
func (r BarRef) Word() []byte { return r.b.Shared[r.off:][:8] }

func (r BarRef) at() observe.MbarrierAt {
	return observe.MbarrierAt{Block: r.b.Rank, Offset: int(r.off)}
}

// BarRef returns the mbarrier at an offset in a block's shared memory.
func (f *Frame) BarRef(lane int, b *Block, off uint64) BarRef {
	f.Within(lane, b.Shared, off, 8, "shared-memory")
	return BarRef{b, off}
}

// change applies an operation to an mbarrier and announces it. If the phase ends, change
// wakes the waiting threads.
func (o Origin) change(r BarRef, e observe.Mbarrier, to func(b memory.Mbarrier) (memory.Mbarrier, error)) error {
	word := r.Word()
	old, err := memory.LoadMbarrier(word)
	b := old
	if err == nil {
		b, err = to(old)
	}
	if err != nil {
		e.Err = err
		o.AnnounceMbarrier(r, e, old)
		return err
	}
	binary.LittleEndian.PutUint64(word, uint64(b))
	o.AnnounceMbarrier(r, e, old)
	if old.Phase() != b.Phase() {
		r.b.Cluster.changed()
	}
	return nil
}

// Settle completes the copies that the present phase still awaits, if it awaits no arrival.
// The next arrival then belongs to the next phase: the program relied on the copies being
// fast.
func (r BarRef) Settle() {
	for {
		b, err := memory.LoadMbarrier(r.Word())
		if err != nil || b.Pending() > 0 || !r.b.Cluster.transferOne() {
			return
		}
	}
}

// Arrive counts n arrivals.
func (o Origin) Arrive(r BarRef, n uint32, e observe.Mbarrier) error {
	e.Op, e.Count = observe.MbarrierArrive, int(n)
	return o.change(r, e, func(b memory.Mbarrier) (memory.Mbarrier, error) {
		if n == 0 || n > b.Pending() {
			return b, fmt.Errorf("%d arrivals at an mbarrier that awaits %d", n, b.Pending())
		}
		return b.With(b.Expected(), b.Pending()-n, b.Bytes()), nil
	})
}

// ArriveDrop counts n arrivals, and lets the later phases await n fewer.
func (o Origin) ArriveDrop(r BarRef, n uint32, e observe.Mbarrier) error {
	e.Op, e.Count = observe.MbarrierDrop, int(n)
	return o.change(r, e, func(b memory.Mbarrier) (memory.Mbarrier, error) {
		if n == 0 || n > b.Pending() || n > b.Expected() {
			return b, fmt.Errorf("%d arrivals dropped from an mbarrier that awaits %d of %d", n, b.Pending(), b.Expected())
		}
		return b.With(b.Expected()-n, b.Pending()-n, b.Bytes()), nil
	})
}

// Expect adds n to the bytes that the present phase awaits. A negative n counts bytes that
// have arrived with the given asynchronous work.
func (o Origin) Expect(r BarRef, n int64, work uint64) error {
	e := observe.Mbarrier{Op: observe.MbarrierExpect, Count: int(n), Work: work}
	if n < 0 {
		e.Op, e.Count = observe.MbarrierComplete, int(-n)
	}
	return o.change(r, e, func(b memory.Mbarrier) (memory.Mbarrier, error) {
		t := int64(b.Bytes()) + n
		if t > memory.MbarrierMax || t < -memory.MbarrierMax {
			return b, fmt.Errorf("the mbarrier would await %d bytes: it counts up to %d", t, memory.MbarrierMax)
		}
		return b.With(b.Expected(), b.Pending(), int32(t)), nil
	})
}

// Barrier returns the mbarrier at a lane's address. A GPU ends the kernel if an instruction for the
// own block's mbarriers names one of another block.
func (a *Address) Barrier(f *Frame, lane int) BarRef {
	if addr := a.At(f, lane) & (1<<32 - 1); a.Own && f.foreign(addr) {
		f.RaiseAs("mbarrier-misuse", lane, "the mbarrier at %#x is in another block of the cluster: only arrive, expect_tx and complete_tx with .shared::cluster reach it", addr)
	}
	b, off := a.SharedAt(f, lane, 8)
	return f.BarRef(lane, b, off)
}

// SharedAt returns the block and the offset of a lane's address in shared memory.
func (a *Address) SharedAt(f *Frame, lane, align int) (*Block, uint64) {
	addr := a.At(f, lane)
	if addr%uint64(align) != 0 {
		f.RaiseAs("misaligned", lane, "address %#x is not aligned to %d bytes", addr, align)
	}
	if a.Space == ptx.Generic {
		if addr>>memory.WindowBits != memory.SharedBase>>memory.WindowBits {
			f.Raise(lane, "generic address %#x is not in shared memory", addr)
		}
		addr &= 1<<32 - 1
	}
	if a.Own && f.foreign(addr) {
		f.RaiseAs("oob-shared", lane, notOwn, addr)
	}
	return f.sharedBlock(lane, addr)
}

// sharedBlock returns the block of the cluster and the offset for a shared address.
func (f *Frame) sharedBlock(lane int, addr uint64) (*Block, uint64) {
	r := addr >> memory.RankShift
	if r == 0 {
		return f.Block, addr
	}
	if r > uint64(len(f.Block.Cluster.Blocks)) {
		f.RaiseAs("oob-shared", lane, "shared address %#x names block %d of a cluster of %d", addr, r-1, len(f.Block.Cluster.Blocks))
	}
	return f.Block.Cluster.Blocks[r-1], addr & memory.SharedMask
}
