package emu

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/finding"
)

// raiseAs is raise of a fault of a class that package check has a name for.
func (f *frame) raiseAs(class string, lane int, format string, args ...any) {
	flt := f.w.fault(f, lane, fmt.Sprintf(format, args...))
	flt.Class = finding.Kind(class)
	panic(flt)
}

// raise ends the launch with a fault of the current instruction. lane is -1 when no
// single lane causes the fault.
func (f *frame) raise(lane int, format string, args ...any) {
	panic(f.w.fault(f, lane, fmt.Sprintf(format, args...)))
}

func (w *warp) fault(f *frame, lane int, msg string) *device.Fault {
	flt := &device.Fault{File: f.fn.prog.file, Finding: finding.Finding{
		Kind: finding.Fault, Severity: finding.Error, Kernel: w.b.kernel.name, Message: msg, Count: 1,
		Place: finding.Place{Func: f.fn.f.Sym.Name, Block: w.b.ctaid, Warp: w.id, Lanes: finding.Lane(lane)},
	}}
	if o := &f.fn.code[w.pc]; o.in != nil {
		at := f.fn.sourceLine(w.pc)
		flt.Pos, flt.Inst, flt.Source = o.in.Pos, o.in.Op.Text, at.line
		flt.Callers = append(slices.Clip(at.callers), f.callers()...)
	}
	return flt
}
