package verify

import (
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestDuplicates checks names that are declared twice. The parser refuses a text with such a
// name, but a module that Go code builds can have one; the test therefore renames a symbol
// after parsing.
func TestDuplicates(t *testing.T) {
	const text = `.version 8.0
.target sm_80
.address_size 64
.global .u32 a;
.global .u32 b;
.func f() { ret; }
.func g() { ret; }
.visible .entry k()
{
	.reg .b32 %r<20>;
	.reg .b32 %q<20>;
	.reg .b32 %x;
	.reg .b32 %y;
first:
	{
		.reg .b32 %x;
	}
second:
	ret;
}`
	tests := []struct {
		name, from, to string
		want           []string
	}{
		{"nothing", "%y", "%z", nil},
		{"register", "%y", "%x", []string{"13: error duplicate-name: %x is declared twice; first at line 12"}},
		{"register in a range", "%y", "%r12", []string{"13: error duplicate-name: %r12 is declared twice; first at line 10"}},
		{"register past a range", "%y", "%r20", nil},
		{"register like a range", "%y", "%r012", nil},
		{"range over a range", "%q", "%r", []string{"11: error duplicate-name: %r0 is declared twice; first at line 10"}},
		{"label", "second", "first", []string{"18: error duplicate-name: first is declared twice; first at line 14"}},
		{"label and register", "second", "%x", []string{"18: error duplicate-name: %x is declared twice; first at line 12"}},
		{"variable", "b", "a", []string{"5: error duplicate-name: a is declared twice; first at line 4"}},
		{"function", "g", "f", []string{"7: error duplicate-name: f is declared twice; first at line 6"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustParse(t, "dup.ptx", text)
			rename(m, tt.from, tt.to)
			compare(t, tt.want, found(Check(m)))
		})
	}
}

func rename(m *ptx.Module, from, to string) {
	sym := func(s *ptx.Symbol) {
		if s.Name == from {
			s.Name = to
		}
	}
	for _, v := range m.Vars() {
		sym(v.Sym)
	}
	for _, f := range m.Funcs() {
		sym(f.Sym)
		for _, s := range f.Body {
			switch s := s.(type) {
			case *ptx.Label:
				sym(s.Sym)
			case *ptx.RegDecl:
				for i := range s.Names {
					if s.Names[i].Prefix == from {
						s.Names[i].Prefix = to
					}
				}
			}
		}
	}
}
