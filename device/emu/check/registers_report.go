package check

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/finding"
)

// The kinds of undefined values.
const (
	UninitRegister finding.Kind = "uninit-register"
	UninitLocal    finding.Kind = "uninit-local"
)

func init() {
	register(checker{kinds: []kind{
		{
			Rule: finding.Rule{
				Kind:  UninitRegister,
				Short: "a register is used that was never written",
				Full:  "An address, a stored value or a branch depends on a register that has no value on this path.",
				Help:  "Initialise the register before the branch that skips its definition.",
			},
			why: "a register is undefined until it is written; on a GPU it holds what another program left",
			fix: "give the variable a value on every path to its use, or keep the use under the condition of the write",
		},
		{
			Rule: finding.Rule{
				Kind:  UninitLocal,
				Short: "local memory is read that was never written",
				Full:  "A thread reads a part of its stack or of a spilled array that it never wrote.",
				Help:  "Initialise the array, or find the path through the code that skips the write.",
			},
			why: "local memory is undefined until the thread writes it, again in each call; on a GPU it holds what another thread or call left",
			fix: "initialise the variable, or the elements of the array that are read",
		},
	}, also: []finding.Kind{ShuffleInactive}, start: newUndef, follows: true})
}

// report reports that lanes use the undefined value of a register. partly says that only some of
// its bits are undefined.
func (x *undefStep) report(use undefUse, reg int, lanes uint32, partly bool) {
	r := &x.f.regs[reg]
	if r.from.load != nil {
		r.from.use(lanes)
		return
	}
	name := x.f.fn.regs[reg].sym.Name
	c, o := x.w.c, &r.from
	here := c.at(x.ID, x.Rank, x.Warp, lanes)
	here.Action = [...]string{"address", "store", "branch", "operand"}[use]
	d := finding.Finding{Kind: o.kind, Severity: finding.Error}
	if partly {
		d.Severity = finding.Warning
	}
	switch o.kind {
	case UninitRegister:
		d.Place = here
		d.Message = fmt.Sprintf("%s %s, %s", x.Op.Text, x.does(use, name), unwrittenText(name, o.sym.Name, partly))
		d.Other = x.firstRead(o, lanes)
	case UninitLocal:
		d.Place, d.Other = c.at(o.id, x.Rank, x.Warp, lanes), &here
		d.Action = "read"
		x.place(&d.Place, o)
		d.Message = fmt.Sprintf("%s reads local memory that was never written, and %s at line %d %s",
			d.Inst, x.Op.Text, x.Pos.Line, x.does(use, "the value"))
	case ShuffleInactive:
		d.Place, d.Other = c.at(o.id, x.Rank, x.Warp, lanes), &here
		d.Action = "read"
		d.Message = fmt.Sprintf("%s reads %s, which %s part in it, and %s at line %d %s",
			d.Inst, finding.Lanes(o.from), takeNo(o.from), x.Op.Text, x.Pos.Line, x.does(use, "the value"))
	}
	c.report(d)
}

// does returns what the instruction does with a value, for a message.
func (x *undefStep) does(use undefUse, name string) string {
	switch {
	case use == undefAddress:
		return "takes its address from " + name
	case use == undefStored:
		return "stores " + name
	case use == undefGuard && (x.Op.Name == "bra" || x.Op.Name == "brx"):
		return "branches on " + name
	case use == undefGuard:
		return "is guarded by " + name
	}
	return "acts on " + name
}

func unwrittenText(name, root string, partly bool) string {
	what := "which was never written"
	if partly {
		what = "part of which was never written"
	}
	if name == root {
		return what
	}
	if partly {
		return "part of which is computed from " + root + ", which was never written"
	}
	return "computed from " + root + ", which was never written"
}

func takeNo(lanes uint32) string {
	if lanes&(lanes-1) == 0 {
		return "takes no"
	}
	return "take no"
}

// firstRead returns the place of the instruction that read the register first, or of the
// declaration.
func (x *undefStep) firstRead(o *undefOrigin, lanes uint32) *finding.Place {
	if o.id >= 0 && o.id != x.ID {
		a := x.w.c.at(o.id, x.Rank, x.Warp, lanes)
		a.Action = "first read of " + o.sym.Name
		return &a
	}
	if !o.sym.Pos.IsValid() {
		return nil
	}
	return &finding.Place{
		Func: x.Func.Sym.Name, Pos: o.sym.Pos, Inst: ".reg", Action: "declaration of " + o.sym.Name,
		Block: x.w.c.Blocks[x.Rank].Ctaid, Warp: x.Warp, Lanes: finding.Lanes(lanes),
	}
}
