package tile

import "github.com/GOATnote-Inc/attest/build"

// Async is a ring of buffers that a thread fills with cp.async. [Buffers] says where they are.
// There are two kinds:
//
//   - [NewAsync] has as many groups of copies in flight as there are buffers. A thread refills
//     the current buffer after it has read it.
//   - [NewAsyncAhead] has one group less in flight. Warps that share the buffers refill the
//     buffer of the round before as soon as a barrier says that the current one has arrived, so
//     one barrier per round is enough.
//
// cp.async.wait_group counts groups, so every refill commits one, also when nothing is
// left to copy. A ring that stopped committing at the end would wait for too few groups
// and would read its last buffers while they are still being filled.
type Async struct {
	k      *build.Kernel
	stages int
	ahead  int // groups in flight
	slot   *build.Var[build.U32]
}

// NewAsync returns a ring of at least one buffer, at slot 0.
func NewAsync(k *build.Kernel, stages int) *Async {
	if stages < 1 {
		k.Errorf("a ring of %d buffers: it needs at least one", stages)
	}
	return &Async{k, stages, stages, build.NewVar(k.U32(0))}
}

// NewAsyncAhead returns a ring of at least two buffers, at slot 0, of which one is free while
// the others are being filled.
func NewAsyncAhead(k *build.Kernel, stages int) *Async {
	if stages < 2 {
		k.Errorf("a ring of %d buffers of which one is free: it needs at least two", stages)
	}
	r := NewAsync(k, max(stages, 1))
	r.ahead = max(stages-1, 1)
	return r
}

// Ahead returns the number of groups that are in flight: a refill in one round is for the round
// that comes this many rounds later.
func (r *Async) Ahead() int { return r.ahead }

// Fill starts the copies of the first groups.
func (r *Async) Fill(copy func(ahead, slot build.U32)) {
	for s := range uint32(r.ahead) {
		copy(r.k.U32(s), r.k.U32(s))
		r.k.CpAsyncCommitGroup()
	}
	r.slot.Set(0)
}

// Slot is the number of the current buffer.
func (r *Async) Slot() build.U32 { return r.slot.Get() }

// Wait waits until this thread's copies to the current buffer have landed: until only
// the newer groups are in flight. Other threads see them after a barrier.
func (r *Async) Wait() { r.k.CpAsyncWaitGroup(r.ahead - 1) }

// Refill starts the copies that fill a buffer again and moves on to the next buffer: the
// current buffer, or the one of the round before in a ring of [NewAsyncAhead]. No thread may
// still be reading it. Slot returns the next buffer after this call.
func (r *Async) Refill(copy func(ahead, slot build.U32)) {
	slot := r.slot.Get()
	to := slot
	if r.ahead < r.stages {
		to = before(r.k, slot, r.stages)
	}
	copy(r.k.U32(uint32(r.ahead)), to)
	r.k.CpAsyncCommitGroup()
	r.slot.Set(After(r.k, slot, r.stages))
}

// before returns the slot that precedes.
func before(k *build.Kernel, slot build.U32, slots int) build.U32 {
	if slots == 2 {
		return slot.Xor(1)
	}
	return k.U32(uint32(slots-1)).Selp(slot.Sub(1), slot.SetpEq(0))
}

// After returns the slot that follows in a ring of slots slots.
func After(k *build.Kernel, slot build.U32, slots int) build.U32 {
	switch slots {
	case 1:
		return k.U32(0)
	case 2:
		return slot.Xor(1)
	}
	next := slot.Add(1)
	return k.U32(0).Selp(next, next.SetpEq(slots))
}
