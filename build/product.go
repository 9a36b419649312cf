package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Shape is the shape of a matrix product: A is M×K, B is K×N, C and D are M×N.
type Shape string

// Layout is the order in which a matrix lies in memory, or in a fragment.
type Layout string

// The layouts: by rows and by columns.
const (
	Row Layout = "row"
	Col Layout = "col"
)

// BitOp combines the single bits of two factors before they are counted.
type BitOp string

// The operations on single bits.
const (
	XorPopc BitOp = "xor.popc"
	AndPopc BitOp = "and.popc"
)

// MmaForm is the form of a product D = A·B + C of a warp: see [Kernel.Mma] and
// [Kernel.WmmaMma] for the forms that exist.
type MmaForm struct {
	Shape            Shape
	D, A, B          ptx.Type
	C                ptx.Type // D when it is left out
	ALayout, BLayout Layout   // Row and Col when they are left out
	Bits             BitOp    // only for factors of ptx.B1
}

// withDefaults fills in what was left out.
func (f MmaForm) withDefaults() MmaForm {
	if f.C == ptx.NoType {
		f.C = f.D
	}
	if f.ALayout == "" {
		f.ALayout = Row
	}
	if f.BLayout == "" {
		f.BLayout = Col
	}
	return f
}

// types are the element types in the order of the opcode.
func (f MmaForm) types() string { return fmt.Sprintf("%s.%s.%s.%s", f.D, f.A, f.B, f.C) }

// mma emits mma.sync.
func (k *Kernel) mma(f MmaForm, mods []Mod, a, b, c Regs) Fragment {
	f = f.withDefaults()
	op := fmt.Sprintf("mma.sync.aligned.%s.%s.%s.%s", f.Shape, f.ALayout, f.BLayout, f.types())
	if f.Bits != "" {
		op += "." + string(f.Bits)
	}
	return k.product(op, f.D, mods, a, b, c)
}

// wmma emits wmma.mma. Of factors of f16 the opcode leaves the types out.
func (k *Kernel) wmma(f MmaForm, mods []Mod, a, b, c Regs) Fragment {
	f = f.withDefaults()
	op, types := "wmma.mma", f.types()
	if f.A == ptx.F16 && f.B == ptx.F16 {
		types = f.D.String() + "." + f.C.String()
	}
	if f.Bits != "" {
		op += "." + string(f.Bits)
	}
	op += fmt.Sprintf(".sync.aligned.%s.%s.%s.%s", f.ALayout, f.BLayout, f.Shape, types)
	return k.product(op, f.D, mods, a, b, c)
}

// wmmaLoad emits wmma.load of matrix "a", "b" or "c".
func (k *Kernel) wmmaLoad(matrix string, s Shape, l Layout, t ptx.Type, p Address, stride []Int) Fragment {
	op := fmt.Sprintf("wmma.load.%s.sync.aligned.%s.%s.%s", matrix, l, s, t)
	m, ok := k.form(op, withSpace(nil, p, "global shared shared::cta"))
	if !ok {
		return newFragment(k, t, mostRegisters)
	}
	d := &m.Form.Params[0]
	f := newFragment(k, m.Type(d), m.Count(d))
	args := append([]arg{p}, strideOf(stride)...)
	k.inst(m.Opcode().Text, nil, []ptx.Operand{regsOperand(f)}, args)
	return f
}

// wmmaStore emits wmma.store.d.
func (k *Kernel) wmmaStore(s Shape, l Layout, t ptx.Type, p Address, d Regs, stride []Int) {
	op := fmt.Sprintf("wmma.store.d.sync.aligned.%s.%s.%s", l, s, t)
	m, ok := k.form(op, withSpace(nil, p, "global shared shared::cta"))
	if !ok {
		return
	}
	if regs, ok := k.matrix(m, &m.Form.Params[1], d); ok {
		k.inst(m.Opcode().Text, nil, nil, append([]arg{p, regs}, strideOf(stride)...))
	}
}

func strideOf(stride []Int) (args []arg) {
	for _, s := range stride {
		args = append(args, in(ptx.U32, s))
	}
	return args
}

// mostRegisters is how many registers the largest fragment has. A misuse returns that
// many, so that the author's code runs on to where the misuse is reported.
const mostRegisters = 8

// product emits a product of a warp, its result in new registers.
func (k *Kernel) product(op string, t ptx.Type, mods []Mod, operands ...Regs) Fragment {
	failed := func() Fragment {
		if t == ptx.F16 {
			t = ptx.F16x2
		}
		return newFragment(k, t, mostRegisters)
	}
	m, ok := k.form(op, mods)
	if !ok {
		return failed()
	}
	args := make([]arg, len(operands))
	for i, r := range operands {
		if args[i], ok = k.matrix(m, &m.Form.Params[i+1], r); !ok {
			return failed()
		}
	}
	d := &m.Form.Params[0]
	f := newFragment(k, m.Type(d), m.Count(d))
	k.inst(op, mods, []ptx.Operand{regsOperand(f)}, args)
	return f
}

func regsOperand(f Fragment) ptx.Operand {
	ops := make([]ptx.Operand, len(f.regs))
	for i, r := range f.regs {
		ops[i] = r.op
	}
	return ptx.VecOp(ops...)
}

// matrix checks the registers of a matrix against the operand that the form has.
func (k *Kernel) matrix(m isa.Match, q *isa.Param, r Regs) (arg, bool) {
	list, t, err := registers(r)
	want := m.Type(q)
	switch {
	case err != nil:
		k.errorf("%s: matrix %s: %v", m.Opcode().Text, q.Name, err)
	case len(list) != m.Count(q):
		k.errorf("%s: matrix %s has %d registers, and the form takes %d", m.Opcode().Text, q.Name, len(list), m.Count(q))
	case !holds(want, t):
		k.errorf("%s: matrix %s has registers of type .%s, and the form takes .%s", m.Opcode().Text, q.Name, t, want)
	default:
		return list, true
	}
	return nil, false
}

// form looks a matrix instruction up. The error lists the forms that are nearest.
func (k *Kernel) form(op string, mods []Mod) (isa.Match, bool) {
	o := k.opcode(op, mods)
	if ms := isa.Lookup(o); len(ms) > 0 {
		return ms[0], true
	}
	k.errorf("%s is not a form of the instruction; %s", o.Text, nearForms(o))
	return isa.Match{}, false
}

// nearForms lists the spellings that share the most modifiers with an opcode.
func nearForms(op *ptx.Opcode) string {
	const most = 12
	var best []string
	score := -1
	for _, f := range isa.Forms(op.Name) {
		if f.Family.ReadOnly {
			continue
		}
		for m := range f.Variants() {
			o := m.Opcode()
			same := 0
			for _, mod := range o.Mods {
				if slices.Contains(op.Mods, mod) {
					same++
				}
			}
			if same > score {
				best, score = nil, same
			}
			if same == score && !slices.Contains(best, o.Text) {
				best = append(best, o.Text)
			}
		}
	}
	text := "the nearest forms are:\n\t" + strings.Join(best[:min(most, len(best))], "\n\t")
	if more := len(best) - most; more > 0 {
		text += fmt.Sprintf("\n\tand %d more", more)
	}
	return text
}
