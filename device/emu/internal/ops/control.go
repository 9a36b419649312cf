package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("ret", func(d *decoder, x *inst, o *op) { o.Kind = machine.OpRet })
	control("exit", func(d *decoder, x *inst, o *op) { o.Kind = machine.OpExit })
	control("bra", func(d *decoder, x *inst, o *op) {
		o.Kind = machine.OpBra
		o.Target = d.Label(&x.Args[0])
		if o.Target == int32(len(d.Func.Code)+len(d.Pre)) {
			// A compiler turns a loop that waits for a plain variable into a branch to itself,
			// because it may read the variable only once.
			o.Kind, o.Try = machine.OpTry, func(*frame, uint32) machine.Status { return machine.Again }
			o.Why = func(*frame, uint32) string {
				return "an endless loop: it reads no memory, so no other thread can end it"
			}
		}
	})
	control("brx", func(d *decoder, x *inst, o *op) {
		o.Kind = machine.OpBrx
		o.Index = d.Src32(&x.Args[0], ptx.U32)
		for _, t := range d.Targets[x.Args[1].Sym].List {
			o.Table = append(o.Table, d.Label(&t))
		}
	})
	build("trap", func(d *decoder, x *inst) exec {
		return func(f *frame, m uint32) { f.Raise(bits.TrailingZeros32(m), "trap") }
	})
	build("brkpt", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
	build("pmevent", func(d *decoder, x *inst) exec { return func(*frame, uint32) {} })
}
