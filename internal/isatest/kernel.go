package isatest

import (
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Kernel is a module that holds every sample of the variants in one kernel, for
// the least version and architecture that serves them all. Those that touch a
// device function's parameters are in such a function. A comment above each
// sample says the index of its variant; [VariantAt] reads it.
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

// inDevice reports whether the variant is legal in a device function only: it
// names the parameters of one, or writes a parameter, which is its result.
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

// Samples are instructions of one variant that differ in their optional
// operands and constants.
func Samples(m isa.Match) []*ptx.Inst { return newBench("k", true).samples(m) }

const mark = "// variant "

// VariantAt returns the index of the variant that stands in a line of the text
// of a Kernel, counted from one, or -1.
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

// bench is a kernel under construction. Samples share registers: what they
// compute does not matter.
type bench struct {
	fn    *ptx.Func
	items []ptx.Item
	body  []ptx.Stmt
	regs  map[ptx.Type][]*ptx.Symbol
	order []ptx.Type
	used  map[ptx.Type]int // registers the sample at hand has taken
	label *ptx.Symbol
	// word and base carry values to memory and back.
	word, base *ptx.Symbol
	// param is what the function takes; result is what a device function gives.
	param, result *ptx.Symbol
	extra         map[string]*ptx.Symbol // callees, target lists, variables, by name
	// inner holds what must be declared in the body before its first use.
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

// add puts the samples of a variant in the body.
func (b *bench) add(index int, m isa.Match) {
	for _, in := range b.samples(m) {
		b.body = append(b.body, &ptx.Comment{Text: mark + strconv.Itoa(index)}, in)
		b.store(m, in)
	}
}

// bytesVar is an array of bytes that any access fits.
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

// own makes the register one of the function's.
func (b *bench) own(r *ptx.Symbol) {
	r.ID = int32(len(b.fn.Regs))
	b.fn.Regs = append(b.fn.Regs, r)
}

func prefix(t ptx.Type) string { return "%" + t.String() + "_" }

// reg is a register for a value of the type that the sample has not used yet.
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

// registerType is the type a register must be declared with to hold a value:
// packed and alternate types live in bits registers, bytes in 16-bit ones.
func registerType(t ptx.Type) ptx.Type {
	switch {
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
