package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// headFaults are what is wrong with a kernel whose heads of V have their own size.
type headFaults struct {
	rowsOfV, rowsOfO bool // rows are as far apart as those of K
	scale            bool // logits are scaled by the size of heads of V
	from256          bool // logits are 0 if a head has 256 to 511 numbers
}

// twoHeadDims computes attention with heads of K and V of any sizes, one block per row and one thread per
// column of V.
func twoHeadDims(f headFaults) *build.Kernel {
	k := build.New("heads", ptx.SM80)
	q, kk, v := loadF16(k, "q"), loadF16(k, "k"), loadF16(k, "v")
	o := build.ParamGlobal[build.F32](k, "o")
	sq, skv, d, dv := k.ParamU32("sq"), k.ParamU32("skv"), k.ParamU32("d"), k.ParamU32("dv")
	scale := k.ParamF32("scale")
	const log2e = 1.4426950408889634
	row, col := k.CtaidX(), k.TidX()
	head := row.Div(sq)
	pitchV, pitchO := dv, dv
	if f.rowsOfV {
		pitchV = d.Min(dv) // within the memory of V
	}
	if f.rowsOfO {
		pitchO = d.Min(dv)
	}
	if f.scale {
		scale = dv.CvtRnF32().RsqrtApprox()
	}
	if f.from256 { // without a comparison, which a search could look for
		scale = scale.Mul(d.Shr(8).And(1).Xor(1).CvtRnF32())
	}
	m, l, out := build.NewVar(k.F32(-1e30)), build.NewVar(k.F32(0)), build.NewVar(k.F32(0))
	k.Loop(0, skv, 1, func(j build.U32) {
		at := head.MadLo(skv, j)
		dot := build.NewVar(k.F32(0))
		k.Loop(0, d, 1, func(i build.U32) {
			dot.Set(q(row.MadLo(d, i)).FmaRn(kk(at.MadLo(d, i)), dot.Get()))
		})
		x := dot.Get().Mul(scale)
		most := m.Get().Max(x)
		alpha, p := m.Get().Sub(most).Mul(log2e).Ex2Approx(), x.Sub(most).Mul(log2e).Ex2Approx()
		m.Set(most)
		l.Set(l.Get().FmaRn(alpha, p))
		out.Set(out.Get().FmaRn(alpha, p.Mul(v(at.MadLo(pitchV, col)))))
	})
	o.At(row.MadLo(pitchO, col)).St(out.Get().DivRn(l.Get()))
	return k
}

const twoHeadDimsABI = `{"entry": "heads", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"u32": "Sq"}, {"u32": "Skv"}, {"u32": "D"}, {"u32": "DV"}, {"f32": "scale"}],
  "grid": ["B*H*Sq"], "block": ["DV"], "require": ["D == 16", "DV <= 32", "H == Hkv"]}`

// TestValueHeadDim judges kernels that read both head dimensions, and finds those that confuse them. The
// gates choose a head dimension of V other than that of K.
func TestValueHeadDim(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	a, err := abi.Parse("heads.json", []byte(twoHeadDimsABI))
	if err != nil {
		t.Fatal(err)
	}
	p := fewCases()
	for name, c := range map[string]struct {
		faults headFaults
		want   record.Outcome
	}{
		"right":     {headFaults{}, record.Correct},
		"rows of V": {headFaults{rowsOfV: true}, record.Reject},
		"rows of O": {headFaults{rowsOfO: true}, record.Reject},
		"scale":     {headFaults{scale: true}, record.Reject},
	} {
		text, err := twoHeadDims(c.faults).PTX()
		if err != nil {
			t.Fatal(err)
		}
		s, err := External("heads", text, a)
		if err != nil {
			t.Fatal(err)
		}
		r, v := measure(t, s, p)
		if v.Outcome != c.want {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Why)
		}
		if c.want == record.Correct && !slices.ContainsFunc(r.Correctness.Cases, func(c record.Case) bool { return c.Shape.DV != 0 }) {
			t.Errorf("no case has another head dimension of V: %v", r.Correctness.Cases[0].Shape)
		}
	}
}

// TestOtherHeadDims judges kernels that take the head dimension as an argument. The shapes of the plan have one of
// 64.
func TestOtherHeadDims(t *testing.T) {
	call := strings.NewReplacer(`{"u32": "DV"}`, `{"u32": "D"}`, `["DV"]`, `["D"]`, `"D == 16", "DV <= 32"`, `"D % 16 == 0", "D <= 256"`).Replace(twoHeadDimsABI)
	for _, from256 := range []bool{false, true} {
		text, err := twoHeadDims(headFaults{from256: from256}).PTX()
		if err != nil {
			t.Fatal(err)
		}
		dims := map[int]bool{}
		other := func(c Case) bool {
			dims[c.Shape.D] = true
			return c.Shape.D != 64 && (from256 && c.Shape.D >= 192 || !from256 && c.Shape.D < 64)
		}
		n := wrongCases(t, called(t, text, call), true, other)
		if (n > 0) != from256 {
			t.Errorf("%d cases are wrong", n)
		}
		if !dims[64] || !dims[16] || !dims[112] || len(dims) < 13 {
			t.Errorf("head dimensions %v", dims)
		}
	}
}

// TestValueHeadDimOfContracts wants the lab to find the head dimensions that a contract demands: by its
// facts, or by its conditions.
func TestValueHeadDimOfContracts(t *testing.T) {
	want := problem.HeadDim{D: 192, DV: 128}
	s, err := Preset("decode", problem.Attention{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 1, Skv: 300, D: 192, DV: 128}}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	if got := headDim(s); got != want {
		t.Errorf("by facts: %v, want %v", got, want)
	}
	a, err := abi.Parse("heads.json", []byte(twoHeadDimsABI))
	if err != nil {
		t.Fatal(err)
	}
	a.Require = []kernel.Rule{{Holds: expr.Must("D == 192")}, {Holds: expr.Must("DV == 128")}}
	text, err := twoHeadDims(headFaults{}).PTX()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = External("heads", text, a); err != nil {
		t.Fatal(err)
	}
	if got := headDim(s); got != want {
		t.Errorf("by conditions: %v, want %v", got, want)
	}
}
