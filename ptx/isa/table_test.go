package isa_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestVariantsFindThemselves checks that Lookup finds the form of every variant by its opcode,
// with the same modifier in each slot.
func TestVariantsFindThemselves(t *testing.T) {
	for _, m := range variants() {
		found := false
		for _, l := range isa.Lookup(m.Opcode()) {
			found = found || l.Form == m.Form && sameSlots(l, m)
		}
		if !found {
			t.Errorf("%s: Lookup(%s) does not find the form", m.Form.Syntax, m.Opcode().Text)
		}
	}
}

func sameSlots(a, b isa.Match) bool {
	for i := range a.Form.Slots {
		if a.At(i) != b.At(i) {
			return false
		}
	}
	return true
}

// TestOneFormEach checks that every sample of a variant has the form of the variant and no
// other form.
func TestOneFormEach(t *testing.T) {
	seen := map[[2]*isa.Form]bool{} // pairs of forms that were reported
	for _, m := range variants() {
		for _, in := range isatest.Samples(m) {
			r, err := isa.Resolve(in)
			if err != nil {
				if k := [2]*isa.Form{m.Form, nil}; !seen[k] {
					seen[k] = true
					t.Errorf("%s: %v", in, err)
				}
				continue
			}
			for _, l := range append(isa.Lookup(in.Op), r) {
				if _, err := l.Bind(in.Args); err != nil || l.Form == m.Form {
					continue
				}
				if k := [2]*isa.Form{m.Form, l.Form}; !seen[k] {
					seen[k] = true
					t.Errorf("%s is %q and also %q", in, m.Form.Syntax, l.Form.Syntax)
				}
			}
		}
	}
}

func TestFormsAreDocumented(t *testing.T) {
	for _, fam := range isa.Families {
		for _, f := range fam.Forms {
			if f.Doc == "" {
				t.Errorf("%s has no documentation", f.Syntax)
			}
		}
	}
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct{ op, version, target string }{
		{"add.u32", "0.0", "sm_0"},
		{"add.u16x2", "8.0", "sm_90"},
		{"fma.rn.f16", "4.2", "sm_53"},
		{"fma.rn.relu.f16", "7.0", "sm_80"},
		{"fma.rn.oob.bf16x2", "8.1", "sm_90"},
		{"add.bf16", "7.8", "sm_90"},
		{"min.ftz.NaN.f32", "7.0", "sm_80"},
		{"min.ftz.NaN.xorsign.abs.f32", "7.2", "sm_86"},
		{"tanh.approx.f32", "7.0", "sm_75"},
		{"lop3.or.b32", "8.2", "sm_70"},
		{"cvt.rn.bf16x2.f32", "7.0", "sm_80"},
		{"cvt.rn.satfinite.bf16x2.f32", "8.1", "sm_80"},
		{"cvt.rn.satfinite.e4m3x2.f32", "8.1", "sm_89"},
		{"cvt.rn.f16x2.e5m2x2", "8.1", "sm_89"},
		{"cvt.rna.tf32.f32", "7.0", "sm_80"},
		{"cvt.pack.sat.u2.s32.b32", "6.5", "sm_75"},
		{"madc.lo.cc.u64", "4.3", "sm_0"},
		{"fma.rn.f32x2", "8.6", "sm_100"},
		{"tcgen05.wait::ld.sync.aligned", "8.6", "sm_100a"},
		{"cvt.rs.satfinite.e2m1x4.f32", "8.7", "sm_100a"},
	} {
		ms := isa.Lookup(ptx.NewOpcode(c.op))
		if len(ms) == 0 {
			t.Errorf("%s has no form", c.op)
			continue
		}
		if n := ms[0].Needs(); n.Version.String() != c.version || n.Target.String() != c.target {
			t.Errorf("%s needs PTX %s %s, want %s %s", c.op, n.Version, n.Target, c.version, c.target)
		}
	}
}

// TestRunsOn checks the fp8 conversions: PTX 7.8 supports them on sm_90, and PTX 8.1 also on
// sm_89.
func TestRunsOn(t *testing.T) {
	for _, c := range []struct {
		op      string
		version ptx.Version
		target  ptx.Target
		want    bool
	}{
		{"cvt.rn.satfinite.e4m3x2.f32", ptx.Version{Major: 8, Minor: 1}, ptx.SM89, true},
		{"cvt.rn.satfinite.e4m3x2.f32", ptx.Version{Major: 7, Minor: 8}, ptx.SM90, true},
		{"cvt.rn.satfinite.e4m3x2.f32", ptx.Version{Major: 7, Minor: 8}, ptx.SM89, false},
		{"cvt.rn.satfinite.e4m3x2.f32", ptx.Version{Major: 8, Minor: 4}, ptx.SM86, false},
		{"cvt.rn.satfinite.e4m3x2.f32", ptx.Version{Major: 8, Minor: 0}, ptx.SM90a, true},
		{"add.u32", ptx.Version{Major: 4, Minor: 0}, ptx.Target{SM: 50}, true},
		{"tcgen05.wait::ld.sync.aligned", ptx.Version{Major: 8, Minor: 6}, ptx.Target{SM: 100, Feature: 'a'}, true},
		{"tcgen05.wait::ld.sync.aligned", ptx.Version{Major: 8, Minor: 8}, ptx.Target{SM: 103, Feature: 'f'}, true},
		{"tcgen05.wait::ld.sync.aligned", ptx.Version{Major: 9, Minor: 0}, ptx.Target{SM: 110, Feature: 'a'}, true},
		{"tcgen05.wait::ld.sync.aligned", ptx.Version{Major: 9, Minor: 0}, ptx.Target{SM: 120, Feature: 'a'}, false},
		{"tcgen05.wait::ld.sync.aligned", ptx.Version{Major: 9, Minor: 0}, ptx.Target{SM: 100}, false},
		{"setmaxnreg.inc.sync.aligned.u32", ptx.Version{Major: 8, Minor: 7}, ptx.Target{SM: 120, Feature: 'a'}, true},
		{"wgmma.fence.sync.aligned", ptx.Version{Major: 8, Minor: 6}, ptx.Target{SM: 100, Feature: 'a'}, false},
	} {
		ms := isa.Lookup(ptx.NewOpcode(c.op))
		if len(ms) != 1 || ms[0].RunsOn(c.version, c.target) != c.want {
			t.Errorf("%s on PTX %s %s: want %t", c.op, c.version, c.target, c.want)
		}
	}
}

// TestOrder checks that Lookup accepts modifiers in another order, except types.
func TestOrder(t *testing.T) {
	for _, c := range []struct{ op, want string }{
		{"cvt.f64.bf16.rp", "cvt.rp.f64.bf16"},
		{"add.ftz.rz.f32", "add.rz.ftz.f32"},
		{"cvt.rn.f16.bf16", "cvt.rn.f16.bf16"},
		{"cvt.rn.relu.satfinite.e5m2x2.f16x2", "cvt.rn.satfinite.relu.e5m2x2.f16x2"},
		{"set.eq.u32.f16", "set.eq.u32.f16"},
		{"set.eq.f16.u32", "set.eq.f16.u32"},
		{"cvt.f64.rn.f32", ""},
		{"cvt.rn.f32.e4m3x2", ""},
	} {
		got := ""
		if ms := isa.Lookup(ptx.NewOpcode(c.op)); len(ms) == 1 {
			got = ms[0].Opcode().Text
		} else if len(ms) > 1 {
			t.Errorf("%s: %d forms", c.op, len(ms))
		}
		if got != c.want {
			t.Errorf("%s is %q, want %q", c.op, got, c.want)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	r := ptx.RegOp(&ptx.Symbol{Name: "%r1", Kind: ptx.RegSymbol, Type: ptx.B32})
	p := ptx.RegOp(&ptx.Symbol{Name: "%p1", Kind: ptx.RegSymbol, Type: ptx.Pred})
	not := r
	not.Neg = true
	vec := ptx.VecOp(r, r)
	sink := ptx.Operand{Kind: ptx.SinkOperand}
	pair := ptx.Operand{Kind: ptx.PairOperand, Elems: []ptx.Operand{r, r}}
	for _, c := range []struct {
		op   string
		args []ptx.Operand
		want string
	}{
		{"frob.u32", nil, "unknown instruction frob"},
		{"add.foo.u32", nil, "add has no modifier .foo"},
		{"add.sat.u32", nil, `add.sat.u32 is not a form of add; the nearest is "add.type =d, a, b"`},
		{"cvt.sat.u32.u8", nil, "cvt.sat.u32.u8: with .sat and .u8 the dtype must be .s8"},
		{"dp4a.u32", nil, "dp4a.u32 is not a form of dp4a"},
		{"add.u32", []ptx.Operand{r, r}, "add.u32: operand b is missing (add.type =d, a, b)"},
		{"add.u32", []ptx.Operand{r, r, r, r}, "add.u32: operand 4, %r1, is one too many"},
		{"add.u32", []ptx.Operand{r, vec, r}, "add.u32: operand 2, {%r1, %r1}, does not fit a"},
		{"add.u32", []ptx.Operand{r, sink, r}, "add.u32: operand 2, _, does not fit a"},
		{"add.u32", []ptx.Operand{ptx.ImmOp(1), r, r}, "add.u32: operand 1, 1, does not fit d"},
		{"add.u32", []ptx.Operand{pair, r, r}, "add.u32: operand 1, %r1|%r1, does not fit d"},
		{"lop3.b32", []ptx.Operand{r, r, r, r, ptx.ImmOp(256)}, "lop3.b32: operand 5, 256, does not fit immLut"},
		{"lop3.b32", []ptx.Operand{r, r, r, r, r}, "lop3.b32: operand 5, %r1, does not fit immLut"},
		{"setp.eq.f16x2", []ptx.Operand{r, r, r}, "setp.eq.f16x2: operand 1, %r1, does not fit p"},
		{"selp.b32", []ptx.Operand{r, r, r, r}, "selp.b32: operand 4, %r1, does not fit c"},
		{"add.u32", []ptx.Operand{r, r, p}, "add.u32: operand 3, %p1, does not fit b"},
		{"add.u32", []ptx.Operand{r, r, not}, "add.u32: operand 3, !%r1, does not fit b"},
		{"setp.lt.b32", nil, "setp.lt.b32 is not a form of setp"},
	} {
		_, err := isa.Resolve(&ptx.Inst{Op: ptx.NewOpcode(c.op), Args: c.args})
		if err == nil {
			t.Errorf("%s resolves, want %q", c.op, c.want)
		} else if !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %q, want %q", c.op, err, c.want)
		}
	}
}
