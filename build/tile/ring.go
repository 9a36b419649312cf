package tile

import "github.com/GOATnote-Inc/attest/build"

// Async is a ring of buffers that cp.async fills, each thread for itself: Stages
// groups of copies are under way, one a buffer.
//
// cp.async.wait_group counts groups, so every refill commits one, also when nothing
// is left to copy. A ring that stopped committing at the end would wait for fewer
// groups than it thinks and read its last buffers while they are still being filled.
type Async struct {
	k      *build.Kernel
	stages int
	slot   *build.Var[build.U32]
}

// NewAsync is a ring of 1, 2 or more buffers, its first in turn.
func NewAsync(k *build.Kernel, stages int) *Async {
	if stages < 1 {
		k.Errorf("a ring of %d buffers: it needs at least one", stages)
	}
	return &Async{k, stages, k.U32(0).Var()}
}

// Fill starts the copies of the first groups, one a buffer.
func (r *Async) Fill(copy func(ahead, slot build.U32)) {
	for s := range uint32(r.stages) {
		copy(r.k.U32(s), r.k.U32(s))
		r.k.CpAsyncCommitGroup()
	}
	r.slot.Set(0)
}

// Slot is the number of the buffer in turn.
func (r *Async) Slot() build.U32 { return r.slot.Get() }

// Wait waits until this thread's copies to the buffer in turn have landed: all but
// the newest groups. Other threads see them after a barrier.
func (r *Async) Wait() { r.k.CpAsyncWaitGroup(r.stages - 1) }

// Refill starts the copies that fill the buffer in turn again, which nobody may be
// reading any more, and goes on to the next.
func (r *Async) Refill(copy func(ahead, slot build.U32)) {
	slot := r.slot.Get()
	copy(r.k.U32(uint32(r.stages)), slot)
	r.k.CpAsyncCommitGroup()
	r.slot.Set(after(r.k, slot, r.stages))
}

// after is the slot that follows.
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

// Ring is a ring of slots between threads that fill them and threads that use them.
// Each slot has two mbarriers: full completes a phase when the producers have
// arrived, empty when the consumers have. A phase is waited for by its parity, which
// flips each time round.
type Ring struct {
	k           *build.Kernel
	slots       int
	full, empty build.Shared[build.B64]
}

// RingBytes is the memory that the barriers of a ring take.
func RingBytes(slots int) int { return 2 * slots * 8 }

// NewRing is a ring with its barriers at mem.
func NewRing(k *build.Kernel, mem build.Shared[build.B64], slots int) Ring {
	return Ring{k, slots, mem, mem.Plus(slots)}
}

// Init makes the barriers: how many arrivals complete a phase of either kind. One
// thread does it, and the block synchronises before anybody waits.
func (r Ring) Init(producers, consumers int) {
	for s := range r.slots {
		r.k.MbarrierInit(r.full.Plus(s), producers)
		r.k.MbarrierInit(r.empty.Plus(s), consumers)
	}
}

// Side is a ring as a producer or a consumer goes round it.
type Side struct {
	r             Ring
	slot, parity  *build.Var[build.U32]
	flipped       bool // waits for the other parity
	waits, signal build.Shared[build.B64]
}

// Producer waits for empty slots and signals full ones. All slots are empty at
// first: a barrier in its phase 0 answers as if a phase of parity 1 had ended.
func (r Ring) Producer() *Side { return r.side(1, r.empty, r.full) }

// Consumer waits for full slots and signals empty ones.
func (r Ring) Consumer() *Side { return r.side(0, r.full, r.empty) }

// ConsumerWith is a consumer that goes round together with another, s, of a ring of as
// many slots: the place of s is its own, and only s goes on.
func (r Ring) ConsumerWith(s *Side) *Side { return r.with(s, false, r.full, r.empty) }

// ProducerWith is a producer that goes round together with a consumer.
func (r Ring) ProducerWith(s *Side) *Side { return r.with(s, true, r.empty, r.full) }

func (r Ring) with(s *Side, flipped bool, waits, signal build.Shared[build.B64]) *Side {
	if r.slots != s.r.slots {
		r.k.Errorf("a ring of %d slots goes round with one of %d", r.slots, s.r.slots)
	}
	return &Side{r, s.slot, s.parity, flipped, waits, signal}
}

// ConsumerAt is a consumer that has used n slots before, for rings of one or two slots.
func (r Ring) ConsumerAt(n build.U32) *Side {
	s := r.Consumer()
	switch r.slots {
	case 1:
		s.parity.Set(n.And(1))
	case 2:
		s.slot.Set(n.And(1))
		s.parity.Set(n.Shr(1).And(1))
	default:
		r.k.Errorf("the place in a ring of %d slots by a number: in one of 1 or 2", r.slots)
	}
	return s
}

func (r Ring) side(parity uint32, waits, signal build.Shared[build.B64]) *Side {
	return &Side{r, r.k.U32(0).Var(), r.k.U32(parity).Var(), false, waits, signal}
}

// Wait waits until the slot in turn is this side's, and returns its number.
func (s *Side) Wait() build.U32 {
	k, slot, parity := s.r.k, s.slot.Get(), s.parity.Get()
	if s.flipped {
		parity = parity.Xor(1)
	}
	bar := s.waits.At(slot)
	if k.Target().SM >= 90 {
		k.MbarrierWait(bar, parity) // try_wait sleeps a while before it says no
	} else {
		k.Until(func() build.Pred { return k.MbarrierTestWaitParity(bar, parity) })
	}
	return slot
}

// Signal hands the slot in turn to the other side, for the whole warp: once all lanes
// are done with it, one of them arrives.
func (s *Side) Signal(w Warp) {
	k, slot := s.r.k, s.slot.Get()
	w.Sync()
	k.If(w.One(), func() { k.MbarrierArrive(s.signal.At(slot)) })
}

// Slot is the number of the slot in turn.
func (s *Side) Slot() build.U32 { return s.slot.Get() }

// Begin goes to a slot of the first round.
func (s *Side) Begin(slot build.U32) { s.slot.Set(slot) }

// Skip goes on by n slots, at most once round.
func (s *Side) Skip(n int) {
	k, slots := s.r.k, s.r.slots
	switch {
	case n < 1 || n > s.r.slots:
		k.Errorf("%d slots further on in a ring of %d", n, slots)
	case n == 1:
		s.Next()
	case n == s.r.slots:
		s.parity.Set(s.parity.Get().Xor(1))
	default:
		next := s.slot.Get().Add(n)
		wrapped := next.SetpGe(slots)
		s.slot.Set(next.Sub(slots).Selp(next, wrapped))
		s.parity.Set(s.parity.Get().Xor(k.U32(1).Selp(0, wrapped)))
	}
}

// Next goes on to the next slot.
func (s *Side) Next() {
	k := s.r.k
	next := after(k, s.slot.Get(), s.r.slots)
	s.slot.Set(next)
	wrapped := k.U32(1).Selp(0, next.SetpEq(0))
	s.parity.Set(s.parity.Get().Xor(wrapped))
}

// Full is the barrier that a producer's copies into the slot in turn complete.
func (s *Side) Full() build.Shared[build.B64] { return s.r.full.At(s.slot.Get()) }
