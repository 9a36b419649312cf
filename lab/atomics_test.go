package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// addingWarps is the number of warps of addingKernel.
const addingWarps = 4

// addingKernel computes a row per block. Each warp adds its share of the keys to O, so the last bits
// of O depend on the order of the warps.
func addingKernel(f fault) *build.Kernel {
	k := build.New("add", ptx.SM80)
	q, kk, v := loadF16(k, "q"), loadF16(k, "k"), loadF16(k, "v")
	_, sq, skv := k.ParamU32("heads"), k.ParamU32("sq"), k.ParamU32("skv")
	o, arrived, scale := build.ParamGlobal[build.F32](k, "o"), build.ParamGlobal[build.U32](k, "arrived"), k.ParamF32("scale")
	warp, col, row := k.TidX().Shr(5), k.TidX().And(31), k.CtaidX()
	at := func(j build.U32) build.U32 { return row.Div(sq).MadLo(skv, j).Shl(5) }
	logit := func(j build.U32) build.F32 {
		sum := build.WarpReduce(q(row.Shl(5).Add(col)).Mul(kk(at(j).Add(col))), func(a, b build.F32) build.F32 { return a.Add(b) })
		return sum.Mul(scale)
	}
	m, l, out := build.NewVar(k.F32(-1e30)), build.NewVar(k.F32(0)), build.NewVar(k.F32(0))
	k.Loop(0, skv, 1, func(j build.U32) { m.Set(m.Get().Max(logit(j))) })
	k.Loop(0, skv, 1, func(j build.U32) { l.Set(l.Get().Add(logit(j).Sub(m.Get()).Ex2Approx())) })
	k.Loop(warp, skv, addingWarps, func(j build.U32) {
		out.Set(logit(j).Sub(m.Get()).Ex2Approx().FmaRn(v(at(j).Add(col)), out.Get()))
	})
	sum := out.Get().DivRn(l.Get())
	add := func() { o.At(row.Shl(5).Add(col)).Red(build.AtomicAdd, sum) }
	switch f {
	case "the last warp adds nothing if it is the first":
		turn := arrived.At(row.Shl(5).Add(col)).Atom(build.AtomicAdd, k.U32(1))
		late := k.U32(1).Selp(0, turn.SetpEq(addingWarps-1))
		k.If(late.Add(warp.Min(1).Xor(1)).SetpNe(2), add)
	case "the first warp adds nothing":
		k.If(warp.SetpNe(0), add)
	default:
		add()
	}
	return k
}

const addingABI = `{"entry": "add", "format": "f16", "output": "f32", "p": "f32", DECLARED
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"u32": "H"}, {"u32": "Sq"}, {"u32": "Skv"}, {"pointer": "o", "zero": true},
    {"pointer": "workspace", "bytes": "4*B*H*Sq*D", "zero": true}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*H*Sq"], "block": [128], "require": ["D == 32", "H == Hkv"]}`

// declaredVarying is the field of an ABI file by which a kernel declares that its bits vary.
const declaredVarying = `"deterministic": false,`

func adding(t testing.TB, f fault, declared string) *Subject {
	t.Helper()
	call, err := abi.Parse("add.json", []byte(strings.Replace(addingABI, "DECLARED", declared, 1)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := addingKernel(f).PTX()
	if err != nil {
		t.Fatal(err)
	}
	s, err := External("add", text, call)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAtomics wants a kernel that adds floats by atomics to pass if it declares that its bits vary,
// and only then. The declaration hides no wrong output, not even one that is wrong in one order of
// warps only.
func TestAtomics(t *testing.T) {
	p := quickly()
	p.Cases, p.Counters = []Case{
		{Shape: problem.Square(2, 2, 9, 0), Seed: 1, Distribution: "normal"}, {Shape: problem.Square(1, 2, 20, 0), Seed: 2, Distribution: "one-hot"},
		{Shape: problem.Square(1, 1, 17, 0), Seed: 3, Distribution: "normal"},
	}, problem.Shape{}
	p.Defects.Shapes, p.Defects.PerShape = []problem.Shape{problem.Square(1, 2, 9, 0)}, 4
	for _, c := range []struct {
		fault    fault
		declared string
		outcome  record.Outcome
		why      string
	}{
		{"", declaredVarying, record.Correct, "declares that it is not deterministic"},
		{"", "", record.Reject, "the output depends on the order in which warps run"},
		{"the first warp adds nothing", declaredVarying, record.Reject, "wrong in some order of warps"},
		{"the last warp adds nothing if it is the first", declaredVarying, record.Reject, "wrong in some order of warps"},
		{"the last warp adds nothing if it is the first", "", record.Reject, "the output depends on the order in which warps run"},
	} {
		r, v := measure(t, adding(t, c.fault, c.declared), p)
		wants(t, v, c.outcome, c.why)
		if !r.Defects.Depends && c.fault != "the first warp adds nothing" {
			t.Errorf("%q: the record does not say that the bits vary", c.fault)
		}
	}
}

// TestAtomicsCase wants the worse of two runs to be judged, whichever it is.
func TestAtomicsCase(t *testing.T) {
	for wrong := range 2 {
		gpu := newCard()
		gpu.launched = func(_ string, n int, took time.Duration) (bool, time.Duration) { return n%2 == wrong, took }
		p := timingPlan(gpu)
		p.Times, p.Defects.Shapes = nil, nil
		r, v := measure(t, adding(t, "", declaredVarying), p)
		wants(t, v, record.Reject, "correctness gate is red")
		if !r.Correctness.Cases[0].Varied {
			t.Error("the record does not say that the two runs differ")
		}
	}
}

// TestAtomicsTimed times a kernel whose last bits vary. Only the kernel that declares it passes, and
// not if timed launches do something else.
func TestAtomicsTimed(t *testing.T) {
	skip := func(_ string, n int, took time.Duration) (bool, time.Duration) { return n%7 != 0, took }
	for _, c := range []struct {
		name     string
		declared string
		cheat    func(*card)
		outcome  record.Outcome
		why      string
	}{
		{"declared", declaredVarying, func(*card) {}, record.Defer, "declares that it is not deterministic"},
		{"not declared", "", func(*card) {}, record.Reject, "a different output"},
		{"one of seven launches of a graph does nothing", declaredVarying, func(c *card) { c.inGraph = skip }, record.Reject, "gave another output than an untimed launch"},
		{"launches of graphs do nothing", declaredVarying, func(c *card) {
			c.inGraph = func(_ string, _ int, took time.Duration) (bool, time.Duration) { return false, took }
		}, record.Reject, "gave another output than an untimed launch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "launches of graphs do nothing" && !*full {
				t.Skip("the coarse form of the case before: use -full")
			}
			gpu := newCard()
			gpu.varies = true
			c.cheat(gpu)
			p := timingPlan(gpu)
			p.Defects.Shapes, p.Counters, p.Times.Stop.Most = nil, problem.Shape{}, 10
			p.Times.Shapes = []problem.Named{{Name: "few", Shape: length(1, 2, 9)}}
			r, v := measure(t, adding(t, "", c.declared), p)
			wants(t, v, c.outcome, c.why)
			if c.outcome == record.Defer && !r.Correctness.Cases[0].Varied {
				t.Error("the record does not say that two runs differ")
			}
		})
	}
}

// TestClaimVarying refuses the declaration of a kernel that has no atomic operation, and any other
// word than true or false.
func TestClaimVarying(t *testing.T) {
	k := *preset(t, "stage3b").Kernel
	for said, want := range map[string]string{"false": "has no atomic operation", "no": "use true or false", "true": ""} {
		k.Claims = map[string]string{"p": k.Claims["p"], "deterministic": said}
		if _, err := NewSubject(&k); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", said, err, want)
		}
	}
}
