package build

import (
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Mod is a modifier that an instruction may take, with the operand that belongs to it, if
// there is one.
type Mod struct {
	name string
	arg  arg
}

// opcode is the spelling of an instruction with its optional modifiers. The author gives
// them in any order, and opcode puts them into that of PTX.
func (k *Kernel) opcode(op string, mods []Mod) *ptx.Opcode {
	text := op
	for _, m := range mods {
		text += "." + m.name
	}
	if o, ok := k.opcodes[text]; ok {
		return o
	}
	o := ptx.NewOpcode(text)
	if ms := isa.Lookup(o); len(ms) > 0 {
		o = ms[0].Opcode()
	}
	k.opcodes[text] = o
	return o
}

// inst emits one instruction and checks it against the table.
func (k *Kernel) inst(op string, mods []Mod, dst []ptx.Operand, args []arg) {
	k.doing = op
	in := &ptx.Inst{Op: k.opcode(op, mods), Args: make([]ptx.Operand, 0, len(dst)+len(args))}
	in.Args = append(in.Args, dst...)
	for _, a := range append(args[:len(args):len(args)], modArgs(in.Op, mods)...) {
		o, ok := a.operand(k)
		if !ok {
			return
		}
		in.Args = append(in.Args, o)
	}
	if _, err := isa.Resolve(in); err != nil {
		k.errorf("%v", err)
		return
	}
	k.emit(in)
}

// modArgs are the operands that belong to the modifiers, in the order of the form.
func modArgs(op *ptx.Opcode, mods []Mod) (args []arg) {
	if !slices.ContainsFunc(mods, func(m Mod) bool { return m.arg != nil }) {
		return nil
	}
	ms := isa.Lookup(op)
	if len(ms) == 0 {
		return nil
	}
	for i := range ms[0].Form.Params {
		for _, mod := range mods {
			if mod.arg != nil && ms[0].Form.Params[i].If == mod.name {
				args = append(args, mod.arg)
			}
		}
	}
	return args
}

// emit appends the instruction under the author's line.
func (k *Kernel) emit(in *ptx.Inst) {
	if l := k.src.loc(); l != nil {
		k.body = append(k.body, l)
	}
	k.body = append(k.body, in)
}

// reg makes a register for a value of type T.
func reg[T Value](k *Kernel) (T, ptx.Operand) {
	var zero T
	op := ptx.RegOp(newReg(zero.Type()))
	return wrap[T](&val{k, op, k.scope}), op
}

// emit0 is an instruction without a result.
func emit0(k *Kernel, op string, mods []Mod, args ...arg) { k.inst(op, mods, nil, args) }

// emit1 is an instruction with one result.
func emit1[T Value](k *Kernel, op string, mods []Mod, args ...arg) T {
	d, o := reg[T](k)
	k.inst(op, mods, []ptx.Operand{o}, args)
	return d
}

// unary, binary and ternary are instructions with one result and up to three scalar sources:
// the register a, and b and c of the given types. They are not inlined, since a thousand
// generated methods call them.
//
//go:noinline
func unary[T Value](a Value, op string, mods []Mod) T {
	return emit1[T](kernelOf(a), op, mods, a)
}

//go:noinline
func binary[T Value](a Value, op string, mods []Mod, tb ptx.Type, b any) T {
	return emit1[T](kernelOf(a), op, mods, a, in(tb, b))
}

//go:noinline
func ternary[T Value](a Value, op string, mods []Mod, tb ptx.Type, b any, tc ptx.Type, c any) T {
	return emit1[T](kernelOf(a), op, mods, a, in(tb, b), in(tc, c))
}

// emitPair is an instruction with a result of two halves: "d|p".
func emitPair[T, U Value](k *Kernel, op string, mods []Mod, args ...arg) (T, U) {
	d, od := reg[T](k)
	p, op2 := reg[U](k)
	k.inst(op, mods, []ptx.Operand{{Kind: ptx.PairOperand, Elems: []ptx.Operand{od, op2}}}, args)
	return d, p
}

// emitSink is an instruction that discards its result: "_".
func emitSink(k *Kernel, op string, mods []Mod, args ...arg) {
	k.inst(op, mods, []ptx.Operand{{Kind: ptx.SinkOperand}}, args)
}

// emitVec is an instruction with a vector of n results.
func emitVec[T Value](k *Kernel, op string, n int, mods []Mod, args ...arg) []T {
	ds, ops := make([]T, n), make([]ptx.Operand, n)
	for i := range n {
		ds[i], ops[i] = reg[T](k)
	}
	k.inst(op, mods, []ptx.Operand{ptx.VecOp(ops...)}, args)
	return ds
}

// kernelOf is the kernel that the value belongs to. A zero value belongs to none, so there
// is no kernel that could report the misuse, and kernelOf panics.
func kernelOf(v Value) *Kernel {
	b := v.base()
	if b == nil {
		panic("build: method of a zero " + strings.ToUpper(v.Type().String()) + ": it was declared and never given a value")
	}
	return b.k
}

// withSpace adds the modifier for the address's state space, chosen from those
// the instruction takes.
func withSpace(mods []Mod, a Address, alts string) []Mod {
	if a == nil || a.Space() == "" {
		return mods
	}
	space := a.Space()
	list := strings.Fields(alts)
	if !slices.Contains(list, space) {
		for _, s := range list {
			if ptx.ParseSpace(s) == ptx.ParseSpace(space) {
				space = s
				break
			}
		}
	}
	return withMod(mods, Mod{name: space})
}

// withMod adds a modifier to a copy of mods, because the slice may be the caller's.
func withMod(mods []Mod, m Mod) []Mod { return append(slices.Clone(mods), m) }

// withCount adds the modifier that says how long an operand is.
func withCount(mods []Mod, prefix string, n int, suffix string) []Mod {
	if prefix == "v" && n == 1 {
		return mods
	}
	return withMod(mods, Mod{name: prefix + strconv.Itoa(n) + suffix})
}

// vecOrOne is a vector operand, or a plain one if there is only one element.
func vecOrOne[T arg](s []T) arg {
	if len(s) == 1 {
		return s[0]
	}
	return vecOf(s)
}
