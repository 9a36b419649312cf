package lab

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// maskFaults are what is wrong with a kernel with a window, a softcap and sinks.
type maskFaults struct {
	noLeft, noRight bool // the window is open on that side
	oneMore         bool // the window has one key too many on the left
	noCap, noSink   bool
}

// masked computes attention with a window, a softcap and sinks, one block per row and one thread
// per column.
func masked(f maskFaults) *build.Kernel {
	k := build.New("masked", ptx.SM80)
	q, kk, v := loadF16(k, "q"), loadF16(k, "k"), loadF16(k, "v")
	sinks, o := build.ParamGlobal[build.F32](k, "sinks"), build.ParamGlobal[build.F32](k, "o")
	heads, sq, skv := k.ParamU32("heads"), k.ParamU32("sq"), k.ParamU32("skv")
	left, right := k.ParamS32("left"), k.ParamS32("right")
	scale, softcap := k.ParamF32("scale"), k.ParamF32("softcap")
	const d, log2e = 32, 1.4426950408889634
	row, col := k.CtaidX(), k.TidX()
	head := row.Div(sq)
	own := row.Rem(sq).Add(skv).Sub(sq).CvtS32() // the key where the query stands
	m, l := build.NewVar(sinks.At(head.Rem(heads)).Ld()), build.NewVar(k.F32(1))
	if f.noSink {
		m.Set(k.F32(-1e30))
		l.Set(k.F32(0))
	}
	out := build.NewVar(k.F32(0))
	k.Loop(0, skv, 1, func(j build.U32) {
		away := j.CvtS32().Sub(own)
		sees := left.SetpLt(0).Or(away.Neg().SetpLe(left))
		if f.oneMore {
			sees = left.SetpLt(0).Or(away.Neg().Sub(1).SetpLe(left))
		}
		if f.noLeft {
			sees = left.SetpLe(left)
		}
		if !f.noRight {
			sees = sees.And(right.SetpLt(0).Or(away.SetpLe(right)))
		}
		k.If(sees, func() {
			at := head.MadLo(skv, j).MulLo(d)
			dot := build.NewVar(k.F32(0))
			k.Loop(0, d, 1, func(i build.U32) { dot.Set(q(row.MadLo(d, i)).FmaRn(kk(at.Add(i)), dot.Get())) })
			x := build.NewVar(dot.Get().Mul(scale))
			if !f.noCap {
				k.If(softcap.SetpGt(0), func() { // tanh y = 1 - 2/(1+exp 2y)
					e := x.Get().DivRn(softcap).Mul(2 * log2e).Ex2Approx()
					x.Set(softcap.Mul(k.F32(1).Sub(k.F32(2).DivRn(e.Add(1)))))
				})
			}
			most := m.Get().Max(x.Get())
			alpha, p := m.Get().Sub(most).Mul(log2e).Ex2Approx(), x.Get().Sub(most).Mul(log2e).Ex2Approx()
			m.Set(most)
			l.Set(l.Get().FmaRn(alpha, p))
			out.Set(out.Get().FmaRn(alpha, p.Mul(v(at.Add(col)))))
		})
	})
	k.If(l.Get().SetpGt(0), func() { out.Set(out.Get().DivRn(l.Get())) })
	o.At(row.MadLo(d, col)).St(out.Get())
	return k
}

const maskedABI = `{"entry": "masked", "format": "f16", "output": "f32", "p": "f32",
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "sinks"}, {"pointer": "o"}, {"u32": "H"}, {"u32": "Sq"}, {"u32": "Skv"},
    {"i32": "window_left"}, {"i32": "window_right"}, {"f32": "scale"}, {"f32": "softcap"}],
  "grid": ["B*H*Sq"], "block": ["D"], "require": ["D == 32", "H == Hkv"]}`

// TestMasks judges a kernel with a window, a softcap and sinks, and catches each of them when it
// is missing.
func TestMasks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	a, err := abi.Parse("masked.json", []byte(maskedABI))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(a.Supports, " "); got != "grouped-heads cross-lengths scale window softcap sinks" {
		t.Errorf("it supports %s", got)
	}
	p := fewCases()
	for name, c := range map[string]struct {
		faults maskFaults
		want   record.Outcome
	}{
		"right":         {maskFaults{}, record.Correct},
		"open left":     {maskFaults{noLeft: true}, record.Reject},
		"open right":    {maskFaults{noRight: true}, record.Reject},
		"one key more":  {maskFaults{oneMore: true}, record.Reject},
		"no softcap":    {maskFaults{noCap: true}, record.Reject},
		"without sinks": {maskFaults{noSink: true}, record.Reject},
	} {
		text, err := masked(c.faults).PTX()
		if err != nil {
			t.Fatal(err)
		}
		s, err := External("masked", text, a)
		if err != nil {
			t.Fatal(err)
		}
		r, v := measure(t, s, p)
		if v.Outcome != c.want {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Why)
		}
		if one := r.Correctness.Cases[0]; !one.Window.Limited() || one.Softcap == 0 {
			t.Errorf("the record does not have the arguments: %+v", one)
		}
	}
}

// fewCases returns a plan with four small problems, for kernels that compute slowly.
func fewCases() Plan {
	p := quickly()
	p.Seed = 1
	p.Cases = []Case{
		{Shape: problem.Square(1, 2, 33, 0), Seed: 1, Distribution: "normal"},
		{Shape: problem.Shape{B: 2, Hq: 2, Hkv: 2, Sq: 9, Skv: 90}, Seed: 2, Distribution: "normal"},
		{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 20, Skv: 40}, Seed: 3, Distribution: "uniform"},
		{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 16, Skv: 80}, Seed: 4, Distribution: "one-hot"},
	}
	p.Defects.Shapes, p.Counters = []problem.Shape{problem.Square(1, 2, 5, 0)}, problem.Shape{}
	return p
}
