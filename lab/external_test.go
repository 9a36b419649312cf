package lab

import (
	"context"
	"os"
	"reflect"
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

func readABI(t testing.TB, file string) *kernel.Kernel {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a, err := abi.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTriton judges a kernel that Triton compiled. It accepts only whole tiles of 128 rows, so
// the lengths of the plan are rounded up, and the record lists the refusals.
func TestTriton(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text, err := os.ReadFile("../ptx/parse/testdata/triton36/attn_fp8e5_90.ptx")
	if err != nil {
		t.Fatal(err)
	}
	s, err := External("triton", string(text), readABI(t, "../kernel/abi/testdata/triton_e5m2.json"))
	if err != nil {
		t.Fatal(err)
	}
	p := smaller(quickly())
	r, v := measure(t, s, p)
	wants(t, v, record.Correct, "no GPU")
	if len(r.Correctness.Refused) != 4 || len(r.Correctness.Cases) != 4 {
		t.Errorf("%d refused, %d cases", len(r.Correctness.Refused), len(r.Correctness.Cases))
	}
}

// TestPresetAsExternal judges the text of a preset with an ABI file, and wants the same result as
// for the preset.
func TestPresetAsExternal(t *testing.T) {
	p, err := Preset("stage5-persistent", problem.Attention{Format: "u8"}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	a := readABI(t, "../kernel/abi/testdata/stage5-persistent.json")
	a.Launches[0].Entry = p.Launches[0].Entry
	s, err := External("mine.ptx", p.PTX, a)
	if err != nil {
		t.Fatal(err)
	}
	plan := smaller(quickly())
	_, v := measure(t, s, plan)
	wants(t, v, record.Correct, "no GPU")
	shape := problem.Square(2, 3, 500, 64)
	for _, sms := range []int{1, 132} {
		extents := func(s *Subject) kernel.Step {
			plan, err := s.Bind(s.At(shape), kernel.Chip{SMs: sms}, kernel.Options{Resident: func(kernel.Step) int { return 2 }})
			if err != nil {
				t.Fatal(err)
			}
			return kernel.Step{Grid: plan.Steps[0].Grid, Block: plan.Steps[0].Block, Shared: plan.Steps[0].Shared}
		}
		if x, y := extents(s), extents(p); !reflect.DeepEqual(x, y) {
			t.Errorf("%+v, want %+v", x, y)
		}
	}
}

// naive computes attention unlike the presets: f16 in [B,S,H,D] without scales, causal, one
// thread per row and column.
func naive() *build.Kernel {
	k := build.New("naive", ptx.SM80)
	q, kk, v, o := build.ParamGlobal[build.F16](k, "q"), build.ParamGlobal[build.F16](k, "k"), build.ParamGlobal[build.F16](k, "v"), build.ParamGlobal[build.F32](k, "o")
	batch, heads, hkv, sq, skv := k.ParamU32("batch"), k.ParamU32("heads"), k.ParamU32("hkv"), k.ParamU32("sq"), k.ParamU32("skv")
	c := k.ParamF32("c") // scale·log2(e)
	const d = 64
	row, col := k.CtaidX(), k.TidX() // row of [B,S,H]
	b, rest := row.Div(sq.MulLo(heads)), row.Rem(sq.MulLo(heads))
	s, h := rest.Div(heads), rest.Rem(heads)
	hk := h.Div(heads.Div(hkv))
	qs := build.SharedArray[build.F32](k, "qs", d)
	qs.At(col).St(q.At(row.MadLo(d, col)).Ld().CvtF32())
	k.SyncThreads()
	m, l, sum := build.NewVar(k.F32(-1e30)), build.NewVar(k.F32(0)), build.NewVar(k.F32(0))
	k.Loop(0, s.Add(skv).Sub(sq).Add(1), 1, func(j build.U32) {
		at := b.MadLo(skv, j).MadLo(hkv, hk).MulLo(d)
		logit := build.NewVar(k.F32(0))
		k.Loop(0, d, 1, func(i build.U32) {
			logit.Set(qs.At(i).Ld().FmaRn(kk.At(at.Add(i)).Ld().CvtF32(), logit.Get()))
		})
		x := logit.Get().Mul(c)
		most := m.Get().Max(x)
		alpha, p := m.Get().Sub(most).Ex2Approx(), x.Sub(most).Ex2Approx()
		m.Set(most)
		l.Set(l.Get().FmaRn(alpha, p))
		sum.Set(sum.Get().FmaRn(alpha, p.Mul(v.At(at.Add(col)).Ld().CvtF32())))
	})
	k.If(b.SetpLt(batch), func() { o.At(row.MadLo(d, col)).St(sum.Get().DivRn(l.Get())) })
	return k
}

const naiveABI = `{
  "entry": "naive", "format": "f16", "output": "f32", "p": "f32", "layout": "BSHD", "causal": true,
  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"},
    {"u32": "B"}, {"u32": "H"}, {"u32": "Hkv"}, {"u32": "Sq"}, {"u32": "Skv"}, {"f32": "scale*1.4426950408889634"}],
  "grid": ["B*Sq*H"], "block": ["D"], "require": ["D == 64", "H % Hkv == 0", "Sq <= Skv"]
}`

// TestCausalGrouped judges an f16 kernel: causal, with shared heads, fewer queries than keys and
// another layout.
func TestCausalGrouped(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	text, err := naive().PTX()
	if err != nil {
		t.Fatal(err)
	}
	a, err := abi.Parse("naive.json", []byte(naiveABI))
	if err != nil {
		t.Fatal(err)
	}
	s, err := External("naive", text, a)
	if err != nil {
		t.Fatal(err)
	}
	p := quickly()
	p.Cases = []Case{
		{Shape: problem.Shape{B: 2, Hq: 2, Hkv: 1, Sq: 9, Skv: 37}, Seed: 1, Distribution: "normal"},
		{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 1, Sq: 20, Skv: 20}, Seed: 2, Distribution: "one-hot"},
		{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 1, Sq: 5, Skv: 40}, Seed: 2, Distribution: "uniform"},
	}
	p.Defects.Shapes, p.Counters = []problem.Shape{{B: 1, Hq: 2, Hkv: 1, Sq: 5, Skv: 7}}, problem.Shape{}
	_, v := measure(t, s, p)
	wants(t, v, record.Correct, "no GPU")
	wrong := strings.Replace(naiveABI, "1.4426950408889634", "1.0", 1)
	if a, err = abi.Parse("naive.json", []byte(wrong)); err != nil {
		t.Fatal(err)
	}
	if s, err = External("naive", text, a); err != nil {
		t.Fatal(err)
	}
	_, v = measure(t, s, p)
	wants(t, v, record.Reject, "0.69 times as large as they must be: the exponential has base 2")
}

func TestExternalErrors(t *testing.T) {
	p := preset(t, "stage0")
	a := copyOf(p.Kernel)
	a.Launches[0].Entry = "nothing"
	if _, err := External("x.ptx", p.PTX, a); err == nil || !strings.Contains(err.Error(), `no entry "nothing": it has attn_`) {
		t.Error(err)
	}
	a = copyOf(p.Kernel)
	a.Launches[0].Args = a.Launches[0].Args[1:]
	if _, err := External("x.ptx", p.PTX, a); err == nil || !strings.Contains(err.Error(), "11 parameters, the call describes 10") {
		t.Error(err)
	}
	if _, err := External("x.ptx", "nonsense", p.Kernel); err == nil {
		t.Error("nonsense was parsed")
	}
	a = copyOf(p.Kernel)
	a.Require = []kernel.Rule{{Holds: expr.Must("1 == 2")}}
	s := *p
	s.Kernel = a
	if _, err := Measure(context.Background(), &s, quickly(), nil); err == nil || !strings.Contains(err.Error(), "no head dimension is supported") {
		t.Error(err)
	}
}
