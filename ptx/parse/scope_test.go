package parse_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// kernel parses statements and returns the kernel around them.
func kernel(t *testing.T, stmts string) *ptx.Func {
	t.Helper()
	return mustParse(t, "x.ptx", inBody(stmts)).Func("k")
}

// insts returns the instructions of a function by opcode.
func insts(f *ptx.Func) map[string]*ptx.Inst {
	m := map[string]*ptx.Inst{}
	for _, s := range f.Body {
		if in, ok := s.(*ptx.Inst); ok {
			m[in.Op.Text] = in
		}
	}
	return m
}

// labels returns the symbols of a function's labels, in their order.
func labels(f *ptx.Func) []*ptx.Symbol {
	var ls []*ptx.Symbol
	for _, s := range f.Body {
		if l, ok := s.(*ptx.Label); ok {
			ls = append(ls, l.Sym)
		}
	}
	return ls
}

func TestRegisterRanges(t *testing.T) {
	f := kernel(t, `.reg .u64 %big<4000000000>; .reg .f32 single; .reg .b32 %none<0>;
		a %r8; b %r08; c %r9; d %big3999999999; e %big4000000000; f %rd; g %x1;
		{ .reg .f64 %r<5>; .reg .pred single; h %r3; i %r8; j single; }
		k %r3; l %r8; m single;`)
	in := insts(f)
	sym := func(op string) *ptx.Symbol { return in[op].Args[0].Sym }
	for op, want := range map[string]string{
		"a": "%r8 register b32", "b": "%r8 register b32", "c": "%r9 undefined name ",
		"d": "%big3999999999 register u64", "e": "%big4000000000 undefined name ",
		"f": "%rd undefined name ", "g": "%x1 undefined name ",
		"h": "%r3 register f64", "i": "%r8 register b32", "j": "single register pred",
		"k": "%r3 register b32", "l": "%r8 register b32", "m": "single register f32",
	} {
		s := sym(op)
		if got := s.Name + " " + s.Kind.String() + " " + s.Type.String(); got != want {
			t.Errorf("%s: got %q, want %q", op, got, want)
		}
	}
	for _, same := range [][2]string{{"a", "b"}, {"a", "i"}, {"a", "l"}} {
		if sym(same[0]) != sym(same[1]) {
			t.Errorf("%s and %s name different registers", same[0], same[1])
		}
	}
	if sym("h") == sym("k") || sym("j") == sym("m") {
		t.Error("a register of an inner scope is visible outside")
	}
	var names []string
	for i, r := range f.Regs {
		if int(r.ID) != i {
			t.Errorf("%s: ID %d at index %d", r.Name, r.ID, i)
		}
		names = append(names, r.Name)
	}
	if got, want := strings.Join(names, " "), "single %r8 %big3999999999 single %r3 %r3"; got != want {
		t.Errorf("Regs: got %s, want %s", got, want)
	}
}

// TestLabels checks that a label belongs to the innermost scope that defines it, before or
// after its use.
func TestLabels(t *testing.T) {
	f := kernel(t, `
		a L;
	L:	b L;
		{ c L; { d L; e M; } L: f L; }
		{ g L; { h L; } }
		{ i L; L: }
		{ { { j M; } } k M; }
	M:	l M;
		{ m nowhere; } n nowhere;`)
	in, ls := insts(f), labels(f)
	want := map[string]*ptx.Symbol{
		"a": ls[0], "b": ls[0], "c": ls[1], "d": ls[1], "f": ls[1], "g": ls[0], "h": ls[0], "i": ls[2],
		"e": ls[3], "j": ls[3], "k": ls[3], "l": ls[3],
	}
	for op, sym := range want {
		if got := in[op].Args[0].Sym; got != sym {
			t.Errorf("%s names the %s at line %d, want line %d", op, got.Kind, got.Pos.Line, sym.Pos.Line)
		}
		if sym.Kind != ptx.LabelSymbol {
			t.Errorf("%s: a %s", op, sym.Kind)
		}
	}
	m, n := in["m"].Args[0].Sym, in["n"].Args[0].Sym
	if m != n || m.Kind != ptx.UndefinedSymbol {
		t.Errorf("the kinds of an undeclared name are %s and %s", m.Kind, n.Kind)
	}
}

func TestTargetsResolve(t *testing.T) {
	f := kernel(t, `{ brx.idx %r1, list; list: .branchtargets A, B; } A: B: exit;
		call %rd1, (%r1), proto; proto: .callprototype _ (.param .b32 x);`)
	in := insts(f)
	if s := in["brx.idx"].Args[1].Sym; s.Kind != ptx.TargetsSymbol {
		t.Errorf("list is a %s", s.Kind)
	}
	if s := in["call"].Args[2].Sym; s.Kind != ptx.ProtoSymbol {
		t.Errorf("proto is a %s", s.Kind)
	}
	for _, s := range f.Body {
		if l, ok := s.(*ptx.Targets); ok {
			for i, want := range labels(f) {
				if l.List[i].Sym != want {
					t.Errorf("target %d is the %s %s", i, l.List[i].Sym.Kind, l.List[i].Sym.Name)
				}
			}
		}
	}
}

func TestModuleNames(t *testing.T) {
	m := mustParse(t, "x.ptx", head+`
.extern .global .u32 g;
.global .u32 g = 5;
.func f(.param .u32 x);
.entry k(.param .u64 p) {
	.reg .u64 %rd<3>;
	.shared .u32 local;
	a p; b g; c f; d local; e later; h %tid.x; i WARP_SZ; j %tid;
}
.func f(.param .u32 x) { l x; p x; m p; }
.global .u32 later;`)
	in := insts(m.Func("k"))
	arg := func(op string) *ptx.Operand { return &in[op].Args[0] }
	for op, want := range map[string]struct {
		kind   ptx.OperandKind
		symbol ptx.SymbolKind
	}{
		"a": {ptx.SymOperand, ptx.VarSymbol}, "b": {ptx.SymOperand, ptx.VarSymbol},
		"c": {ptx.SymOperand, ptx.FuncSymbol}, "d": {ptx.SymOperand, ptx.VarSymbol},
		"e": {ptx.SymOperand, ptx.UndefinedSymbol}, // PTX requires a declaration before the use
		"h": {ptx.SpecialOperand, ptx.SpecialSymbol}, "i": {ptx.SpecialOperand, ptx.SpecialSymbol},
		"j": {ptx.SpecialOperand, ptx.SpecialSymbol},
	} {
		if o := arg(op); o.Kind != want.kind || o.Sym.Kind != want.symbol {
			t.Errorf("%s: operand %d of a %s", op, o.Kind, o.Sym.Kind)
		}
	}
	if f := m.Func("f"); arg("c").Sym.Func != f || f.Sym != arg("c").Sym {
		t.Error("the call does not lead to the function's body")
	}
	if v := arg("b").Sym.Var; v.Init == nil || v.Init.Val != 5 {
		t.Error("the name leads to the declaration, not to the definition")
	}
	if s := insts(m.Func("f"))["m"].Args[0].Sym; s.Kind != ptx.UndefinedSymbol {
		t.Error("a parameter is visible in another function")
	}
}
