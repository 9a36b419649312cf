package emu

import (
	"fmt"
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// warpOp is an instruction in which lanes of a warp exchange values. Operands it
// does not have are -1.
type warpOp struct {
	a, b, c, d slot
	a64        slot
	in         slot // predicate
	neg        bool
	out        slot // predicate
	compute    func(x *exchange, m uint32)
}

// exchange is the values that lanes exchange: those of the registers themselves
// when all lanes are at one instruction, else gathered from where they are.
type exchange struct {
	a, b, c, d *lanes32
	a64        *lanes64
	in, out    uint32
	buf        [4]lanes32
	buf64      lanes64
	found      lanes32 // by match
}

func noOperands() *warpOp { return &warpOp{a: -1, b: -1, c: -1, d: -1, a64: -1, in: -1, out: -1} }

// run exchanges values among lanes that are together.
func (o *warpOp) run(f *frame, m uint32) {
	x := &f.w.x
	for _, r := range [...]struct {
		to   **lanes32
		from slot
	}{{&x.a, o.a}, {&x.b, o.b}, {&x.c, o.c}, {&x.d, o.d}} {
		if r.from >= 0 {
			*r.to = &f.r32[r.from]
		}
	}
	if o.a64 >= 0 {
		x.a64 = &f.r64[o.a64]
	}
	if o.in >= 0 {
		x.in = o.input(f)
	}
	o.compute(x, m)
	if o.out >= 0 {
		f.setPred(o.out, m, x.out)
	}
}

func (o *warpOp) input(f *frame) uint32 {
	if o.neg {
		return ^f.p[o.in]
	}
	return f.p[o.in]
}

// gather collects the operands of lanes m of one of several places.
func (o *warpOp) gather(f *frame, m uint32, x *exchange) {
	for i, s := range [...]slot{o.a, o.b, o.c} {
		if s >= 0 {
			move(&x.buf[i], &f.r32[s], m)
		}
	}
	if o.a64 >= 0 {
		move(&x.buf64, &f.r64[o.a64], m)
	}
	if o.in >= 0 {
		x.in = x.in&^m | o.input(f)&m
	}
}

// scatter gives lanes m their results.
func (o *warpOp) scatter(f *frame, m uint32, x *exchange) {
	if o.d >= 0 {
		move(&f.r32[o.d], &x.buf[3], m)
	}
	if o.out >= 0 {
		f.setPred(o.out, m, x.out)
	}
}

// sync waits for all lanes of the member mask that still live, and then executes
// the instruction. Lanes with different masks are different groups.
func (w *warp) sync(o *op, m uint32) outcome {
	if m == 0 {
		w.splits[w.cur].pc++
		return ranOut
	}
	w.isolate(m)
	s := &w.splits[w.cur]
	masks, live := &s.f.r32[o.index], w.lanes&^w.exited
	var ready uint32
	for rest := m; rest != 0; {
		members := masks[bits.TrailingZeros32(rest)]
		group := sameLanes(masks, rest, members)
		rest &^= group
		if members&live&^group != 0 {
			continue
		}
		if o.run != nil {
			o.run(s.f, group)
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
		w.part(ready, s.pc+1)
		w.splits[w.cur].wait = true
	}
	return ranOut
}

// meet lets lanes that are at the same kind of instruction in different places
// exchange their values when together they are all members of the mask. The
// current split has just begun to wait.
func (w *warp) meet(o *op) {
	if o.warp == nil {
		return
	}
	cur := &w.splits[w.cur]
	members := cur.f.r32[o.index][bits.TrailingZeros32(cur.mask)]
	var all uint32
	for i := range w.splits {
		all |= w.meets(&w.splits[i], o, members)
	}
	if members&w.lanes&^w.exited&^all != 0 {
		return
	}
	x := &w.x
	x.a, x.b, x.c, x.d, x.a64 = &x.buf[0], &x.buf[1], &x.buf[2], &x.buf[3], &x.buf64
	n := len(w.splits)
	for i := range n {
		if m := w.meets(&w.splits[i], o, members); m != 0 {
			s := &w.splits[i]
			s.f.fn.code[s.pc].warp.gather(s.f, m, x)
		}
	}
	o.warp.compute(x, all)
	for i := range n {
		m := w.meets(&w.splits[i], o, members)
		if m == 0 {
			continue
		}
		s := &w.splits[i]
		at := &s.f.fn.code[s.pc]
		if at.said != nil {
			at.said(s.f, m, all)
		}
		at.warp.scatter(s.f, m, x)
		if m == s.mask {
			s.pc++
			s.wait = false
		} else {
			w.partOf(i, m, s.pc+1)
		}
	}
}

// meets are the lanes of a waiting split that wait to execute o with these
// members.
func (w *warp) meets(s *split, o *op, members uint32) uint32 {
	at := &s.f.fn.code[s.pc]
	if !s.wait || at.kind != opSync || at.warp == nil || at.in.Op.Text != o.in.Op.Text {
		return 0
	}
	return sameLanes(&s.f.r32[at.index], s.mask, members)
}

// whySync says which lanes others wait for.
func (o *op) whySync(f *frame, m uint32) string {
	members := f.r32[o.index][bits.TrailingZeros32(m)]
	return fmt.Sprintf("waits for lanes %08x of members %08x", members&f.w.lanes&^f.w.exited&^m, members)
}

// buildWarpBarrier is bar.warp.sync.
func buildWarpBarrier(d *decoder, x *inst, o *op) {
	o.together(d, x, noOperands())
	o.warp.compute = func(*exchange, uint32) {}
}

// together makes o an exchange among the lanes of its member mask, or among those
// that happen to run it where it has none.
func (o *op) together(d *decoder, x *inst, w *warpOp) {
	o.run, o.warp = w.run, w
	if mask := x.Arg("membermask"); mask != nil {
		o.kind = opSync
		o.index = d.src32(mask, ptx.B32)
		o.why = o.whySync
	}
}
