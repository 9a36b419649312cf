package tile

import "github.com/GOATnote-Inc/attest/build"

// Async is a ring of buffers that a thread fills with cp.async, for itself: as many
// groups of copies are in flight as there are buffers. [Buffers] says where they are.
//
// cp.async.wait_group counts groups, so every refill commits one, also when nothing is
// left to copy. A ring that stopped committing at the end would wait for too few groups
// and would read its last buffers while they are still being filled.
type Async struct {
	k      *build.Kernel
	stages int
	slot   *build.Var[build.U32]
}

// NewAsync returns a ring of at least one buffer, at slot 0.
func NewAsync(k *build.Kernel, stages int) *Async {
	if stages < 1 {
		k.Errorf("a ring of %d buffers: it needs at least one", stages)
	}
	return &Async{k, stages, build.NewVar(k.U32(0))}
}

// Fill starts the copies of the first groups, one per buffer.
func (r *Async) Fill(copy func(ahead, slot build.U32)) {
	for s := range uint32(r.stages) {
		copy(r.k.U32(s), r.k.U32(s))
		r.k.CpAsyncCommitGroup()
	}
	r.slot.Set(0)
}

// Slot is the number of the current buffer.
func (r *Async) Slot() build.U32 { return r.slot.Get() }

// Wait waits until this thread's copies to the current buffer have landed: until only
// the newer groups are in flight. Other threads see them after a barrier.
func (r *Async) Wait() { r.k.CpAsyncWaitGroup(r.stages - 1) }

// Refill starts the copies that fill the current buffer again and moves on to the next
// buffer. No thread may still be reading the current one.
func (r *Async) Refill(copy func(ahead, slot build.U32)) {
	slot := r.slot.Get()
	copy(r.k.U32(uint32(r.stages)), slot)
	r.k.CpAsyncCommitGroup()
	r.slot.Set(after(r.k, slot, r.stages))
}

// after returns the slot that follows.
func after(k *build.Kernel, slot build.U32, slots int) build.U32 {
	switch slots {
	case 1:
		return k.U32(0)
	case 2:
		return slot.Xor(1)
	}
	next := slot.Add(1)
	return k.U32(0).Selp(next, next.SetpEq(slots))
}
