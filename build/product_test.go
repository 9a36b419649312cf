package build

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestProducts calls the methods for matrix products with every form of the table, and checks
// that each call emits the opcode of the form.
func TestProducts(t *testing.T) {
	n := 0
	for _, op := range []string{"mma", "wmma", "wgmma"} {
		for _, f := range isa.Forms(op) {
			for m := range f.Variants() {
				if !f.Family.ReadOnly && plain(m) && callProduct(t, m) {
					n++
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d forms were called", n)
	}
}

// plain reports whether a variant has no optional modifiers, except that the state space
// is named.
func plain(m isa.Match) bool {
	for i := range m.Form.Slots {
		s := &m.Form.Slots[i]
		if space := m.At(i) == "global"; s.Opt && (m.At(i) != "") != (s.Name == "ss") || s.Name == "ss" && !space {
			return false
		}
	}
	return true
}

// callProduct emits one matrix product with the number and the types of registers that the table
// requires. It reports false for other instructions.
func callProduct(t *testing.T, m isa.Match) bool {
	t.Helper()
	k := newCallKernel()
	regs := func(i int) Regs {
		q := &m.Form.Params[i]
		return newFragment(k, m.Type(q), m.Count(q))
	}
	mods := m.Opcode().Mods
	switch {
	case m.Form.Op == "mma":
		k.Mma(mmaFormOf(m, mods[4:]), regs(1), regs(2), regs(3))
	case mods[0] == "mma":
		k.WmmaMma(wmmaFormOf(m, mods), regs(1), regs(2), regs(3))
	case mods[0] == "load", mods[0] == "store":
		layout, shape, typ := Layout(mods[4]), Shape(mods[5]), ptx.ParseType(mods[7])
		at := GlobalAt[B8](fresh(k, U64{}).(U64))
		switch mods[1] {
		case "a":
			k.WmmaLoadA(shape, layout, typ, at, 8)
		case "b":
			k.WmmaLoadB(shape, layout, typ, at)
		case "c":
			k.WmmaLoadC(shape, layout, typ, at, fresh(k, U32{}))
		default:
			k.WmmaStoreD(shape, layout, typ, at, regs(1), 8)
		}
	case mods[0] == "mma_async":
		form := WgmmaForm{A: ptx.ParseType(mods[5]), B: ptx.ParseType(mods[6])}
		var a Factor = fresh(k, U64{}).(U64)
		if m.Form.Params[1].Name == "a" {
			a = regs(1)
		}
		k.WgmmaMmaAsync(form, regs(0), a, fresh(k, U64{}).(U64), fresh(k, Pred{}).(Pred))
	default:
		return false
	}
	want := m.Opcode().Text
	for _, e := range k.errs {
		t.Errorf("%s: %v", want, e)
		return true
	}
	if got := k.body[len(k.body)-1].(*ptx.Inst).Op.Text; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	return true
}

// mmaFormOf returns the form of mma.sync for the modifiers after the shape.
func mmaFormOf(m isa.Match, rest []string) MmaForm {
	mods := m.Opcode().Mods
	f := MmaForm{Shape: Shape(mods[2]), ALayout: Layout(mods[3]), BLayout: Layout(mods[4])}
	types := rest[1:]
	f.D, f.A, f.B, f.C = ptx.ParseType(types[0]), ptx.ParseType(types[1]), ptx.ParseType(types[2]), ptx.ParseType(types[3])
	if len(types) > 4 {
		f.Bits = BitOp(strings.Join(types[4:], "."))
	}
	return f
}

// wmmaFormOf returns the form of wmma.mma for its modifiers.
func wmmaFormOf(m isa.Match, mods []string) MmaForm {
	var f MmaForm
	mods = mods[1:]
	if mods[1] == "popc" {
		f.Bits, mods = BitOp(mods[0]+".popc"), mods[2:]
	}
	f.ALayout, f.BLayout, f.Shape = Layout(mods[2]), Layout(mods[3]), Shape(mods[4])
	types := mods[5:]
	if len(types) == 2 {
		f.D, f.A, f.B, f.C = ptx.ParseType(types[0]), ptx.F16, ptx.F16, ptx.ParseType(types[1])
		return f
	}
	f.D, f.A, f.B, f.C = ptx.ParseType(types[0]), ptx.ParseType(types[1]), ptx.ParseType(types[2]), ptx.ParseType(types[3])
	return f
}

// TestProductMisuse checks that the error for a form that does not exist lists the forms that
// exist, and that the code of the author continues.
func TestProductMisuse(t *testing.T) {
	words := func(k *Kernel, n int) []B32 { return newFragment(k, ptx.B32, n).B32() }
	sums := func(k *Kernel) []F32 { return newFragment(k, ptx.F32, 4).F32() }
	half := MmaForm{Shape: M16n8k16, D: ptx.F32, A: ptx.F16, B: ptx.F16}
	for _, c := range []struct {
		name, want string
		write      func(k *Kernel)
	}{
		{"shape", "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", func(k *Kernel) {
			k.Mma(MmaForm{Shape: M16n8k32, D: ptx.F32, A: ptx.BF16, B: ptx.BF16}, words(k, 4), words(k, 2), sums(k))
		}},
		{"layout", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", func(k *Kernel) {
			f := half
			f.BLayout = Row
			k.Mma(f, words(k, 4), words(k, 2), sums(k))
		}},
		{"number of registers", "matrix a has 2 registers, and the form takes 4", func(k *Kernel) { k.Mma(half, words(k, 2), words(k, 2), sums(k)) }},
		{"type of registers", "matrix c has registers of type .b32, and the form takes .f32", func(k *Kernel) { k.Mma(half, words(k, 4), words(k, 2), words(k, 4)) }},
		{"no registers", "matrix b: a int is not a list of registers", func(k *Kernel) { k.Mma(half, words(k, 4), 7, sums(k)) }},
		{"type of the result", "registers of type .f32, not .s32", func(k *Kernel) { k.Mma(half, words(k, 4), words(k, 2), sums(k)).S32() }},
		{"width", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", func(k *Kernel) {
			k.WgmmaMmaAsync(WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}, newFragment(k, ptx.F32, 3), fresh(k, U64{}), fresh(k, U64{}).(U64), fresh(k, Pred{}).(Pred))
		}},
		{"transpose", "no form of the instruction with these types and operands transposes A", func(k *Kernel) {
			k.WgmmaMmaAsync(WgmmaForm{A: ptx.F16, B: ptx.F16, TransposeA: true}, newFragment(k, ptx.F32, 4), words(k, 4), fresh(k, U64{}).(U64), fresh(k, Pred{}).(Pred))
		}},
		{"load", "wmma.load.a.sync.aligned.row.m16n16k16.global.f16", func(k *Kernel) {
			k.WmmaLoadA(M16n16k16, Row, ptx.F32, GlobalAt[F32](fresh(k, U64{}).(U64)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newCallKernel()
			c.write(k)
			if len(k.errs) != 1 || !strings.Contains(k.errs[0].Msg, c.want) {
				t.Errorf("%v, want %q", k.errs, c.want)
			}
		})
	}
}
