package tile

import "github.com/GOATnote-Inc/attest/build"

// Ring is a ring of slots between threads that fill them, the producers, and threads
// that use them, the consumers. It owns the slots' buffers and two mbarriers per slot:
// full completes a phase when the producers have arrived, empty when the consumers
// have. A phase is waited for by its parity, which flips each time round.
type Ring struct {
	Buffers
	full, empty build.Shared[build.B64]
}

// RingBytes returns the bytes of shared memory for the barriers of a ring.
func RingBytes(slots int) int { return 2 * slots * 8 }

// NewRing returns a ring of the buffers, with its barriers at bars.
func NewRing(b Buffers, bars build.Shared[build.B64]) Ring {
	return Ring{b, bars, bars.Plus(b.slots)}
}

// Init initialises the barriers: it says how many arrivals complete a phase of either
// kind. One thread calls it, and the block synchronises before a side waits.
func (r Ring) Init(producers, consumers int) {
	for s := range r.slots {
		r.k.MbarrierInit(r.full.Plus(s), producers)
		r.k.MbarrierInit(r.empty.Plus(s), consumers)
	}
}

// Side is a producer's or a consumer's view of a ring: its position, the barriers that
// it waits for and those that it signals.
type Side struct {
	r             Ring
	slot, parity  *build.Var[build.U32]
	flipped       bool // waits for the opposite parity
	waits, signal build.Shared[build.B64]
}

// Producer returns a side that waits for empty slots and signals full ones. All slots are empty at first: a
// barrier in its phase 0 answers as if a phase of parity 1 had ended.
func (r Ring) Producer() *Side { return r.side(1, r.empty, r.full) }

// Consumer returns a side that waits for full slots and signals empty ones.
func (r Ring) Consumer() *Side { return r.side(0, r.full, r.empty) }

// ConsumerWith returns a consumer that shares the position of s, a side of a ring with as
// many slots. Only s moves on.
func (r Ring) ConsumerWith(s *Side) *Side { return r.with(s, false, r.full, r.empty) }

// ProducerWith returns a producer that shares the position of s, a consumer of a ring with
// as many slots. Only s moves on.
func (r Ring) ProducerWith(s *Side) *Side { return r.with(s, true, r.empty, r.full) }

func (r Ring) with(s *Side, flipped bool, waits, signal build.Shared[build.B64]) *Side {
	if r.slots != s.r.slots {
		r.k.Errorf("a ring of %d slots cannot share the position of a ring of %d slots", r.slots, s.r.slots)
	}
	return &Side{r, s.slot, s.parity, flipped, waits, signal}
}

// ConsumerAt returns a consumer that has used n slots before. It works for rings of one or
// two slots, where the position follows from n by shifts.
func (r Ring) ConsumerAt(n build.U32) *Side {
	s := r.Consumer()
	switch r.slots {
	case 1:
		s.parity.Set(n.And(1))
	case 2:
		s.slot.Set(n.And(1))
		s.parity.Set(n.Shr(1).And(1))
	default:
		r.k.Errorf("ConsumerAt of a ring of %d slots: only rings of 1 or 2 slots know their position from a number", r.slots)
	}
	return s
}

func (r Ring) side(parity uint32, waits, signal build.Shared[build.B64]) *Side {
	return &Side{r, build.NewVar(r.k.U32(0)), build.NewVar(r.k.U32(parity)), false, waits, signal}
}

// Wait waits until the current slot belongs to this side, and returns its number.
func (s *Side) Wait() build.U32 {
	k, slot, parity := s.r.k, s.slot.Get(), s.parity.Get()
	if s.flipped {
		parity = parity.Xor(1)
	}
	bar := s.waits.At(slot)
	if k.Target().SM >= 90 {
		k.MbarrierWait(bar, parity) // try_wait suspends the thread for a while before it says no
	} else {
		k.Until(func() build.Pred { return k.MbarrierTestWaitParity(bar, parity) })
	}
	return slot
}

// Signal hands the current slot to the other side, for the whole warp: once all lanes
// are done with it, one of them arrives.
func (s *Side) Signal(w Warp) {
	k, slot := s.r.k, s.slot.Get()
	w.Sync()
	k.If(w.One(), func() { k.MbarrierArrive(s.signal.At(slot)) })
}

// Load starts the copies of boxes of a tensor into a slot, which Wait returned, one box after
// the other. The copy engine completes the slot's full barrier when all
// its bytes are there. One lane starts the copies, but every lane computes addresses and
// coordinates: if lanes could differ in them, ptxas would emit a loop over the lanes.
func (s *Side) Load(w Warp, slot build.U32, m build.TensorMap, boxes int, coords func(box int) build.Coords) {
	k := s.r.k
	offset := s.r.Offset(slot)
	full := s.r.full.At(s.slot.Get())
	to, from := make([]build.Shared[build.B8], boxes), make([]build.Coords, boxes)
	for i := range boxes {
		to[i], from[i] = s.r.Part(offset, i*s.r.bytes/boxes), coords(i)
	}
	k.If(w.One(), func() {
		k.MbarrierArriveExpectTx(full, s.r.bytes)
		for i := range boxes {
			k.CpAsyncBulkTensorSharedClusterGlobal(to[i], m, from[i], full)
		}
	})
}

// Slot returns the number of the current slot.
func (s *Side) Slot() build.U32 { return s.slot.Get() }

// Begin starts at a slot of the first round.
func (s *Side) Begin(slot build.Int) { s.slot.Set(slot) }

// Skip moves on by n slots, at most once round.
func (s *Side) Skip(n int) {
	k, slots := s.r.k, s.r.slots
	switch {
	case n < 1 || n > slots:
		k.Errorf("Skip(%d) in a ring of %d slots: skip at least 1 and at most %d", n, slots, slots)
	case n == 1:
		s.Next()
	case n == slots:
		s.parity.Set(s.parity.Get().Xor(1))
	default:
		next := s.slot.Get().Add(n)
		wrapped := next.SetpGe(slots)
		s.slot.Set(next.Sub(slots).Selp(next, wrapped))
		s.parity.Set(s.parity.Get().Xor(k.U32(1).Selp(0, wrapped)))
	}
}

// Next moves on to the next slot.
func (s *Side) Next() {
	next := After(s.r.k, s.slot.Get(), s.r.slots)
	s.slot.Set(next)
	wrapped := s.r.k.U32(1).Selp(0, next.SetpEq(0))
	s.parity.Set(s.parity.Get().Xor(wrapped))
}
