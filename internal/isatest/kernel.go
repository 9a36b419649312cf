package isatest

import (
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Kernel returns a module with one kernel that contains every sample of the variants. The
// version and the architecture are the oldest that support all of them. Variants that access
// the parameters of a device function are in a device function. A comment above each sample
// holds the index of its variant; [VariantAt] reads it.
func Kernel(name string, ms []isa.Match) *ptx.Module {
	entry, device := newBench(name, true), newBench(name+"_device", false)
	needs := isa.Needs{Target: ptx.Target{SM: 50}}
	for i, m := range ms {
		needs = needs.Join(m.Needs())
		if inDevice(m) {
			device.add(i, m)
		} else {
			entry.add(i, m)
		}
	}
	if v := needs.Target.MinVersion(); needs.Version.Less(v) {
		needs.Version = v
	}
	mod := &ptx.Module{Version: needs.Version, Target: needs.Target, AddressSize: 64}
	if len(device.body) > 0 {
		mod.Items = append(device.items, device.finish())
	}
	mod.Items = append(append(mod.Items, entry.items...), entry.finish())
	return mod
}

// inDevice reports whether the variant is legal only in a device function: it names the
// parameters of such a function, or it writes a parameter, which is the function's result.
func inDevice(m isa.Match) bool {
	for i := range m.Form.Params {
		p := &m.Form.Params[i]
		if p.Kind != isa.Addr {
			continue
		}
		space := m.Space(p)
		if space == "param::func" || space == "param" && m.Form.Op == "st" {
			return true
		}
	}
	return false
}

// Samples returns instructions of one variant that differ in their optional operands and
// constants.
func Samples(m isa.Match) []*ptx.Inst { return newBench("k", true).samples(m) }

// mark starts the comment above a sample.
const mark = "// variant "

// VariantAt returns the index of the variant in a line of the text of a Kernel, or -1 if the
// line belongs to no variant. Lines count from 1.
func VariantAt(lines []string, line int) int {
	for i := min(line, len(lines)) - 1; i >= 0; i-- {
		if _, n, ok := strings.Cut(lines[i], mark); ok {
			v, err := strconv.Atoi(n)
			if err != nil {
				return -1
			}
			return v
		}
	}
	return -1
}

// bench is a function under construction. Samples share registers, because their results do
// not matter.
type bench struct {
	fn    *ptx.Func
	items []ptx.Item
	body  []ptx.Stmt
	regs  map[ptx.Type][]*ptx.Symbol
	order []ptx.Type
	used  map[ptx.Type]int // the number of registers that the current sample uses
	label *ptx.Symbol
	// word holds predicates as integers, base the address of the memory that registers are
	// loaded from and stored to.
	word, base *ptx.Symbol
	// param is the parameter of the function, result the result of a device function.
	param, result *ptx.Symbol
	extra         map[string]*ptx.Symbol // callees, target lists and variables by name
	// inner holds the declarations at the start of the body.
	inner []ptx.Stmt
}

func newBench(name string, entry bool) *bench {
	sym := &ptx.Symbol{Name: name, Kind: ptx.FuncSymbol}
	b := &bench{
		fn:    &ptx.Func{Sym: sym, Linkage: ptx.Visible, Entry: entry, HasBody: true},
		regs:  map[ptx.Type][]*ptx.Symbol{},
		used:  map[ptx.Type]int{},
		extra: map[string]*ptx.Symbol{},
		label: &ptx.Symbol{Name: "done", Kind: ptx.LabelSymbol},
		word:  &ptx.Symbol{Name: "%word", Kind: ptx.RegSymbol, Type: ptx.B32},
		base:  &ptx.Symbol{Name: "%base", Kind: ptx.RegSymbol, Type: ptx.B64},
	}
	sym.Func = b.fn
	arg := bytesVar(ptx.Param, "arg")
	b.fn.Params = []*ptx.Var{arg}
	b.param, b.result = arg.Sym, arg.Sym
	if !entry {
		out := bytesVar(ptx.Param, "out")
		b.fn.Returns = []*ptx.Var{out}
		b.result = out.Sym
	}
	return b
}

// add appends the samples of a variant to the body.
func (b *bench) add(index int, m isa.Match) {
	for _, in := range b.samples(m) {
		b.body = append(b.body, &ptx.Comment{Text: mark + strconv.Itoa(index)}, in)
		b.store(m, in)
	}
}

// bytesVar returns an array of bytes that is large and aligned enough for every access.
func bytesVar(space ptx.Space, name string) *ptx.Var {
	sym := &ptx.Symbol{Name: name, Kind: ptx.VarSymbol, Type: ptx.B8}
	v := &ptx.Var{Sym: sym, Space: space, Align: 128, Type: ptx.B8, Dims: []int64{128}}
	sym.Var = v
	return v
}

func (b *bench) finish() *ptx.Func {
	var decls []ptx.Stmt
	for _, t := range b.order {
		regs := b.regs[t]
		decls = append(decls, &ptx.RegDecl{Type: t, Names: []ptx.RegName{{Prefix: prefix(t), Count: len(regs)}}})
		for _, r := range regs {
			b.own(r)
		}
	}
	body := append(decls, b.inner...)
	body = append(body, b.load()...)
	body = append(body, b.body...)
	body = append(body, &ptx.Label{Sym: b.label}, &ptx.Inst{Op: ptx.NewOpcode("ret")})
	b.fn.Body = body
	return b.fn
}

// own adds the register to the registers of the function.
func (b *bench) own(r *ptx.Symbol) {
	r.ID = int32(len(b.fn.Regs))
	b.fn.Regs = append(b.fn.Regs, r)
}

func prefix(t ptx.Type) string { return "%" + t.String() + "_" }

// reg returns a register for a value of the type that the current sample does not use yet.
func (b *bench) reg(t ptx.Type) ptx.Operand {
	t = registerType(t)
	n := b.used[t]
	b.used[t]++
	if n == len(b.regs[t]) {
		if n == 0 {
			b.order = append(b.order, t)
		}
		s := &ptx.Symbol{Name: prefix(t) + strconv.Itoa(n), Kind: ptx.RegSymbol, Type: t}
		b.regs[t] = append(b.regs[t], s)
	}
	return ptx.RegOp(b.regs[t][n])
}

// registerType returns the type that a register must have to hold a value of type t. Packed
// and alternate types need registers of untyped bits, and bytes need 16-bit registers, except pairs
// of 4-bit floats, which PTX keeps in 8-bit registers.
func registerType(t ptx.Type) ptx.Type {
	switch {
	case t == ptx.E2M1x2:
		return ptx.B8
	case t.Bits() == 8:
		return ptx.B16
	case t == ptx.F16:
		return ptx.B16
	case t.Class() != ptx.ClassPacked:
		return t
	}
	switch t.Bits() {
	case 16:
		return ptx.B16
	case 32:
		return ptx.B32
	}
	return ptx.B64
}
