package machine

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/finding"
)

// RaiseAs is Raise with the class of the fault, one of the kinds that package check
// reports.
func (f *Frame) RaiseAs(class string, lane int, format string, args ...any) {
	flt := f.Warp.fault(f, lane, fmt.Sprintf(format, args...))
	flt.Class = finding.Kind(class)
	panic(flt)
}

// Raise ends the launch with a fault of the current instruction. lane is -1 when no
// single lane causes the fault.
func (f *Frame) Raise(lane int, format string, args ...any) {
	panic(f.Warp.fault(f, lane, fmt.Sprintf(format, args...)))
}

func (w *Warp) fault(f *Frame, lane int, msg string) *device.Fault {
	flt := &device.Fault{File: f.fn.Prog.File, Finding: finding.Finding{
		Kind: finding.Fault, Severity: finding.Error, Kernel: w.b.kernel.Name, Message: msg, Count: 1,
		Place: finding.Place{Func: f.fn.Decl.Sym.Name, Block: w.b.ctaid, Warp: w.ID, Lanes: finding.Lane(lane)},
	}}
	if o := &f.fn.Code[w.PC]; o.Inst != nil {
		at := f.fn.sourceLine(w.PC)
		flt.Pos, flt.Inst, flt.Source = o.Inst.Pos, o.Inst.Op.Text, at.line
		flt.Callers = append(slices.Clip(at.callers), f.callers()...)
	}
	return flt
}
