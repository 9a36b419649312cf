package emu

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// branchTable is brx.idx: each lane goes where its index says.
func (w *warp) branchTable(o *op, m uint32) {
	s := &w.splits[w.cur]
	idx := &s.f.r32[o.index]
	if m != s.mask {
		w.part(s.mask&^m, s.pc+1)
	}
	for m != 0 {
		lane := bits.TrailingZeros32(m)
		i := idx[lane]
		if int(i) >= len(o.table) {
			s.f.raise(lane, "index %d into a table of %d targets", i, len(o.table))
		}
		var same uint32
		for l := range 32 {
			if m>>l&1 != 0 && idx[l] == i {
				same |= 1 << l
			}
		}
		m &^= same
		if m == 0 {
			w.splits[w.cur].pc = o.table[i]
			return
		}
		w.part(same, o.table[i])
	}
}

// eachLane calls do for the lanes of a mask, in order.
func eachLane(m uint32, do func(lane int)) {
	for ; m != 0; m &= m - 1 {
		do(bits.TrailingZeros32(m))
	}
}

func init() {
	control("ret", func(d *decoder, x *inst, o *op) { o.kind = opRet })
	control("exit", func(d *decoder, x *inst, o *op) { o.kind = opExit })
	control("bra", func(d *decoder, x *inst, o *op) {
		o.kind = opBra
		o.target = d.label(&x.Args[0])
		if o.target == int32(len(d.fn.code)+len(d.pre)) {
			// A branch to itself: what is left of a loop that waits for a variable which the
			// compiler reads once.
			o.kind, o.try = opTry, func(*frame, uint32) status { return again }
			o.why = func(*frame, uint32) string { return "a loop in which nothing is read again, so that nothing ends it" }
		}
	})
	control("brx", func(d *decoder, x *inst, o *op) {
		o.kind = opBrx
		o.index = d.src32(&x.Args[0], ptx.U32)
		for _, t := range d.targets[x.Args[1].Sym].List {
			o.table = append(o.table, d.label(&t))
		}
	})
	build("trap", func(d *decoder, x *inst) exec {
		return func(f *frame, m uint32) { f.raise(bits.TrailingZeros32(m), "trap") }
	})
	build("brkpt", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	build("pmevent", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
}
