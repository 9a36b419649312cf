package emu

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
)

// raiseAs is raise of a fault of a kind that package check has a name for.
func (f *frame) raiseAs(kind string, lane int, format string, args ...any) {
	flt := f.w.fault(f, lane, fmt.Sprintf(format, args...))
	flt.Kind = kind
	panic(flt)
}

// raise ends the launch with a fault of the present instruction. lane is -1 when
// it is not one lane's doing.
func (f *frame) raise(lane int, format string, args ...any) {
	panic(f.w.fault(f, lane, fmt.Sprintf(format, args...)))
}

func (w *warp) fault(f *frame, lane int, msg string) *device.Fault {
	flt := &device.Fault{File: f.fn.prog.file, Kernel: w.b.kernel.name, Block: w.b.ctaid, Warp: w.id, Lane: lane, Msg: msg}
	if o := &f.fn.code[w.pc]; o.in != nil {
		at := f.fn.sourceLine(w.pc)
		flt.Pos, flt.Inst, flt.Source = o.in.Pos, o.in.Op.Text, at.line
		flt.Callers = append(slices.Clip(at.callers), f.callers()...)
	}
	return flt
}
