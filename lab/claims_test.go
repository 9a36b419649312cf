package lab

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// direct computes attention in [B,H,S,D] with one block per row and one thread per column. load
// widens an element, and sum rounds a partial sum.
func direct(load func(k *build.Kernel, name string) func(at build.U32) build.F32, sum func(build.F32) build.F32) *build.Kernel {
	k := build.New("direct", ptx.SM80)
	q, kk, v, o := load(k, "q"), load(k, "k"), load(k, "v"), build.ParamGlobal[build.F32](k, "o")
	sq, skv, c := k.ParamU32("sq"), k.ParamU32("skv"), k.ParamF32("c") // c is scale·log2(e)
	const d = 32
	row, col := k.CtaidX(), k.TidX()
	head := row.Div(sq)
	m, l, out := build.NewVar(k.F32(-1e30)), build.NewVar(k.F32(0)), build.NewVar(k.F32(0))
	k.Loop(0, skv, 1, func(j build.U32) {
		at := head.MadLo(skv, j).MulLo(d)
		logit := build.NewVar(k.F32(0))
		k.Loop(0, d, 1, func(i build.U32) {
			logit.Set(sum(q(row.MadLo(d, i)).FmaRn(kk(at.Add(i)), logit.Get())))
		})
		x := logit.Get().Mul(c)
		most := m.Get().Max(x)
		alpha, p := m.Get().Sub(most).Ex2Approx(), x.Sub(most).Ex2Approx()
		m.Set(most)
		l.Set(l.Get().FmaRn(alpha, p))
		out.Set(sum(out.Get().FmaRn(alpha, p.Mul(v(at.Add(col))))))
	})
	o.At(row.MadLo(d, col)).St(out.Get().DivRn(l.Get()))
	return k
}

func loadF32(k *build.Kernel, name string) func(build.U32) build.F32 {
	p := build.ParamGlobal[build.F32](k, name)
	return func(at build.U32) build.F32 { return p.At(at).Ld() }
}

func loadF16(k *build.Kernel, name string) func(build.U32) build.F32 {
	p := build.ParamGlobal[build.F16](k, name)
	return func(at build.U32) build.F32 { return p.At(at).Ld().CvtF32() }
}

func exact(x build.F32) build.F32    { return x }
func roundF16(x build.F32) build.F32 { return x.CvtRnF16().CvtF32() }

// threeBits keeps three bits of a number, by Veltkamp's splitting.
func threeBits(x build.F32) build.F32 {
	t := x.Mul(1<<21+1, build.Rn) // without the modifier, ptxas fuses product and differences
	return t.Sub(t.Sub(x))
}

func directABI(claims string) string {
	return `{"entry": "direct", "output": "f32", ` + claims + `,
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"u32": "Sq"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*H*Sq"], "block": ["D"], "require": ["D == 32", "H == Hkv"]}`
}

// TestClaims judges kernels with f32 inputs and with sums in f16 by what they claim.
func TestClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := quickly()
	p.Cases = []Case{
		{Shape: problem.Square(2, 2, 20, 0), Seed: 1, Distribution: "normal"},
		{Shape: problem.Square(1, 2, 33, 0), Seed: 2, Distribution: "one-hot"},
	}
	p.Defects.Shapes, p.Counters = []problem.Shape{problem.Square(1, 2, 5, 0)}, problem.Shape{}
	for name, c := range map[string]struct {
		k      *build.Kernel
		claims string
		want   record.Outcome
	}{
		"f32 inputs":               {direct(loadF32, exact), `"format": "f32", "p": "f32"`, record.Correct},
		"f32 inputs, sums in f16":  {direct(loadF32, roundF16), `"format": "f32", "p": "f32"`, record.Reject},
		"sums in f16":              {direct(loadF16, roundF16), `"format": "f16", "p": "f32", "accumulator": "f16"`, record.Correct},
		"sums in f16, not claimed": {direct(loadF16, roundF16), `"format": "f16", "p": "f32"`, record.Reject},
		"sums with three bits":     {direct(loadF16, threeBits), `"format": "f16", "p": "f16", "accumulator": "f16"`, record.Reject},
	} {
		text, err := c.k.PTX()
		if err != nil {
			t.Fatal(err)
		}
		a, err := abi.Parse("direct.json", []byte(directABI(c.claims)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := External("direct", text, a)
		if err != nil {
			t.Fatal(err)
		}
		if _, v := measure(t, s, p); v.Outcome != c.want {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Why)
		}
	}
}

// TestChecklist29Claims refuses a claim of less precision than the inputs have, so that a kernel
// cannot choose its own yardstick.
func TestChecklist29Claims(t *testing.T) {
	k := preset(t, "stage0").Kernel
	for format, c := range map[problem.Format]map[string]string{
		problem.F16:  {"p": "e5m2"},
		problem.BF16: {"p": "e4m3"},
		problem.E4M3: {"p": "e5m2"},
		problem.U8:   {"p": "e4m3"},
		problem.F32:  {"p": "bf16"},
		problem.E5M2: {"accumulator": "bf16"},
		"":           {"sum": "f16"},
	} {
		if err := checkClaims(&kernel.Kernel{Claims: c}, problem.Attention{Format: format}); err == nil || !strings.Contains(err.Error(), "claims ") {
			t.Errorf("%s inputs may claim %v: %v", format, c, err)
		}
	}
	for format, c := range map[problem.Format]map[string]string{
		problem.F16: nil, problem.BF16: {"p": "bf16"}, problem.E4M3: {"p": "e4m3", "accumulator": "f16"}, problem.E5M2: {"p": "e5m2"}, problem.F32: {"p": "f16"},
	} {
		if err := checkClaims(&kernel.Kernel{Claims: c}, problem.Attention{Format: format}); err != nil {
			t.Errorf("%s inputs may not claim %v: %v", format, c, err)
		}
	}
	unknown := *k
	unknown.Supports = []string{"windows"}
	if _, err := NewSubject(&unknown); err == nil || !strings.Contains(err.Error(), `feature "windows" is not known`) {
		t.Error(err)
	}
}
