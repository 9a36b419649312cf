package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() { control("call", buildCall) }

// buildCall builds call. The kinds of the operands tell their roles: a name or register is
// the function, a list before it holds the results, a list after it the arguments.
func buildCall(d *decoder, x *inst, o *op) {
	o.Kind = machine.OpCall
	site := &machine.CallSite{Indirect: -1}
	o.Call = site
	var callee *ptx.Operand
	for i := range x.Args {
		a := &x.Args[i]
		switch {
		case a.Kind == ptx.ListOperand && callee == nil:
			site.Rets = callArgs(d, a)
		case a.Kind == ptx.ListOperand:
			site.Args = callArgs(d, a)
		case callee == nil:
			callee = a
		}
	}
	if callee.Kind == ptx.RegOperand {
		site.Indirect = d.Src64(callee, ptx.U64)
		return
	}
	if site.Fn = d.Prog.Function(callee.Sym); site.Fn != nil {
		if why := site.Mismatch(site.Fn); why != "" {
			d.Fail("call of %s", why)
		}
		return
	}
	if site.Builtin = builtins[callee.Sym.Name]; site.Builtin == nil {
		d.Fail("function %s has no body in this module and is not a function of the CUDA runtime: link it in first", callee.Sym.Name)
	}
}

// callArgs decodes the arguments or results of a call.
func callArgs(d *decoder, list *ptx.Operand) (ps []machine.ArgPlace) {
	for i := range list.Elems {
		ps = append(ps, callArg(d, &list.Elems[i]))
	}
	return ps
}

func callArg(d *decoder, o *ptx.Operand) machine.ArgPlace {
	switch o.Kind {
	case ptx.SymOperand:
		if o.Sym.Kind == ptx.VarSymbol && o.Sym.Var.Space == ptx.Param {
			return machine.ArgPlace{Off: int64(d.Variable(o.Sym)), Size: o.Sym.Var.Size()}
		}
		return machine.ArgPlace{Cell: machine.Cell{Slot: d.Src64(o, ptx.U64), Width: machine.W64}, Bits: 64, Size: 8}
	case ptx.RegOperand:
		if o.Comp != 0 {
			return machine.RegisterPlace(d.Reg(o), o.Sym.Type, 0)
		}
		return machine.RegisterPlace(d.Reg(o), o.Sym.Type, int(o.Sym.Vec))
	case ptx.ImmOperand:
		return machine.ArgPlace{Cell: machine.Cell{Slot: d.Const64(uint64(o.Val)), Width: machine.W64}, Bits: 64, Size: 8}
	case ptx.F32Operand:
		return machine.ArgPlace{Cell: machine.Cell{Slot: d.Const32(uint32(o.Val)), Width: machine.W32}, Bits: 32, Size: 4}
	case ptx.F64Operand:
		return machine.ArgPlace{Cell: machine.Cell{Slot: d.Const64(uint64(o.Val)), Width: machine.W64}, Bits: 64, Size: 8}
	case ptx.SinkOperand:
		return machine.ArgPlace{Cell: machine.Cell{Slot: d.NewRegs(ptx.B64, 1), Width: machine.W64}, Bits: 64, Size: 8}
	}
	d.Fail("operand %s cannot be an argument of a call", o)
	return machine.ArgPlace{}
}
