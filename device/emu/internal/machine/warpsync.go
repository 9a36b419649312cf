package machine

import (
	"fmt"
	"math/bits"
)

// WarpOp is an instruction in which lanes of a warp exchange values. Missing operands are
// -1.
type WarpOp struct {
	A, B, C, D Slot
	A64        Slot
	In         Slot // predicate
	Neg        bool
	Out        Slot // predicate
	Compute    func(x *Exchange, m uint32)
}

// Exchange holds the values that lanes exchange: the registers themselves if all lanes are
// at one instruction, else copies gathered from several places.
type Exchange struct {
	A, B, C, D *Lanes32
	A64        *Lanes64
	In, Out    uint32
	buf        [4]Lanes32
	buf64      Lanes64
	groups     Lanes32 // match: the group of each lane
}

// NoOperands returns a WarpOp without operands.
func NoOperands() *WarpOp { return &WarpOp{A: -1, B: -1, C: -1, D: -1, A64: -1, In: -1, Out: -1} }

// Run exchanges values among lanes that are at the same instruction.
func (o *WarpOp) Run(f *Frame, m uint32) {
	x := &f.Warp.x
	for _, r := range [...]struct {
		to   **Lanes32
		from Slot
	}{{&x.A, o.A}, {&x.B, o.B}, {&x.C, o.C}, {&x.D, o.D}} {
		if r.from >= 0 {
			*r.to = &f.R32[r.from]
		}
	}
	if o.A64 >= 0 {
		x.A64 = &f.R64[o.A64]
	}
	if o.In >= 0 {
		x.In = o.input(f)
	}
	o.Compute(x, m)
	if o.Out >= 0 {
		f.SetPred(o.Out, m, x.Out)
	}
}

func (o *WarpOp) input(f *Frame) uint32 {
	if o.Neg {
		return ^f.Pred[o.In]
	}
	return f.Pred[o.In]
}

// gather copies the operands of the lanes m, which are at one of several places, into x.
func (o *WarpOp) gather(f *Frame, m uint32, x *Exchange) {
	for i, s := range [...]Slot{o.A, o.B, o.C} {
		if s >= 0 {
			MoveLanes(&x.buf[i], &f.R32[s], m)
		}
	}
	if o.A64 >= 0 {
		MoveLanes(&x.buf64, &f.R64[o.A64], m)
	}
	if o.In >= 0 {
		x.In = x.In&^m | o.input(f)&m
	}
}

// scatter writes the results to the lanes m.
func (o *WarpOp) scatter(f *Frame, m uint32, x *Exchange) {
	if o.D >= 0 {
		MoveLanes(&f.R32[o.D], &x.buf[3], m)
	}
	if o.Out >= 0 {
		f.SetPred(o.Out, m, x.Out)
	}
}

// sync waits for all lanes of the member mask that have not ended, and then executes the
// instruction. Lanes with different masks form different groups.
func (w *Warp) sync(o *Op, m uint32) outcome {
	if m == 0 {
		w.splits[w.cur].pc++
		return ranOut
	}
	w.isolate(m)
	s := &w.splits[w.cur]
	masks, live := &s.f.R32[o.Index], w.Lanes&^w.Exited
	var ready uint32
	for rest := m; rest != 0; {
		members := masks[bits.TrailingZeros32(rest)]
		group := SameLanes(masks, rest, members)
		rest &^= group
		if members&live&^group != 0 {
			continue
		}
		if o.Run != nil {
			o.Run(s.f, group)
		}
		ready |= group
	}
	switch ready {
	case m:
		s.pc++
	case 0:
		s.wait = true
		w.meet(o)
	default:
		w.SplitOff(ready, s.pc+1)
		w.splits[w.cur].wait = true
	}
	return ranOut
}

// meet executes o for lanes that wait at the same kind of instruction in different places,
// once together they are all members of the mask. The current split has just begun to
// wait.
func (w *Warp) meet(o *Op) {
	if o.Warp == nil {
		return
	}
	cur := &w.splits[w.cur]
	members := cur.f.R32[o.Index][bits.TrailingZeros32(cur.mask)]
	var all uint32
	for i := range w.splits {
		all |= w.meets(&w.splits[i], o, members)
	}
	if members&w.Lanes&^w.Exited&^all != 0 {
		return
	}
	x := &w.x
	x.A, x.B, x.C, x.D, x.A64 = &x.buf[0], &x.buf[1], &x.buf[2], &x.buf[3], &x.buf64
	n := len(w.splits)
	for i := range n {
		if m := w.meets(&w.splits[i], o, members); m != 0 {
			s := &w.splits[i]
			s.f.fn.Code[s.pc].Warp.gather(s.f, m, x)
		}
	}
	o.Warp.Compute(x, all)
	for i := range n {
		m := w.meets(&w.splits[i], o, members)
		if m == 0 {
			continue
		}
		s := &w.splits[i]
		at := &s.f.fn.Code[s.pc]
		if at.announce != nil {
			at.announce(s.f, m, all)
		}
		at.Warp.scatter(s.f, m, x)
		if m == s.mask {
			s.pc++
			s.wait = false
		} else {
			w.splitOffFrom(i, m, s.pc+1)
		}
	}
}

// meets returns the lanes of a waiting split that wait to execute o with the same members.
func (w *Warp) meets(s *split, o *Op, members uint32) uint32 {
	at := &s.f.fn.Code[s.pc]
	if !s.wait || at.Kind != OpSync || at.Warp == nil || at.Inst.Op.Text != o.Inst.Op.Text {
		return 0
	}
	return SameLanes(&s.f.R32[at.Index], s.mask, members)
}

// WhySync describes which lanes the others wait for.
func (o *Op) WhySync(f *Frame, m uint32) string {
	members := f.R32[o.Index][bits.TrailingZeros32(m)]
	return fmt.Sprintf("waits for lanes %08x of members %08x", members&f.Warp.Lanes&^f.Warp.Exited&^m, members)
}
