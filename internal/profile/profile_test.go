package profile

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/ncu"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

func TestReport(t *testing.T) {
	r := profiled(t, "stage3b", Options{Counters: true})
	if err := r.Measure(t.Context(), &machine.Machine{Name: "emu"}, nil); err != nil || r.NCUNote != "no GPU here" {
		t.Fatalf("%q, %v", r.NCUNote, err)
	}
	var short, long bytes.Buffer
	r.WriteText(&short, term.Style{}, Text{})
	r.WriteText(&long, term.Style{}, Text{Lines: 3, Counters: true})
	for _, want := range []string{"stage3b  ", ", sm_89, 1,1,64,64\n", "PREDICTED for L4", "\n  tensor    ", "not measured: no GPU here\n"} {
		if !strings.Contains(short.String(), want) {
			t.Errorf("no %q in\n%s", want, &short)
		}
	}
	if strings.Contains(short.String(), "PTX line") || !strings.Contains(long.String(), "PTX line") || long.Len() < 2*short.Len() {
		t.Errorf("lines and counters do not obey Text:\n%s", &long)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"kernel":"stage3b"`, `"shape":"1,1,64,64"`, `"predicted":{`, `"ncu":null`, `"ncu_note":"no GPU here"`, `"launches":[{"entry":"attn_e4m3_d64_f16","predicted":{`, `"counters":{`} {
		if !strings.Contains(string(text), key) {
			t.Errorf("no %s in the JSON", key)
		}
	}
}

// profiled returns the report of a preset on a small problem.
func profiled(t *testing.T, name string, o Options) *Report {
	t.Helper()
	shape := problem.Named{Shape: problem.Square(1, 1, 64, 64)}
	s, err := lab.Preset(name, problem.Attention{Shape: shape.Shape}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Of(t.Context(), s, shape, chips.For(s.Target, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// twoLaunches copies q to a workspace and the workspace to o.
var twoLaunches = ".version 8.0\n.target sm_80\n.address_size 64\n" + copyEntry("load") + copyEntry("store")

func copyEntry(name string) string {
	return strings.Replace(`
.visible .entry NAME(.param .u64 from, .param .u64 to)
{
	.reg .b32 %r<4>;
	.reg .f32 %f<2>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [from];
	ld.param.u64 %rd2, [to];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r1, 64, %r2;
	mul.wide.u32 %rd3, %r3, 4;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
	ld.global.f32 %f1, [%rd4];
	st.global.f32 [%rd5], %f1;
	ret;
}
`, "NAME", name, 1)
}

const twoCall = `{
  "op": "attention", "fixed": {"D": "64", "format": "f16", "output": "f32", "scaling": "none", "layout": "BHSD", "mask": "none", "lse": "false"},
  "let": [{"name": "rows", "value": "B*H*Sq"}],
  "operands": [
    {"name": "q", "type": "f16", "role": "input", "dims": ["B", "H", "Sq", "D"]},
    {"name": "k", "type": "f16", "role": "input", "dims": ["B", "Hkv", "Skv", "D"]},
    {"name": "v", "type": "f16", "role": "input", "dims": ["B", "Hkv", "Skv", "D"]},
    {"name": "part", "type": "f32", "role": "workspace", "dims": ["rows", "D"]},
    {"name": "o", "type": "f32", "role": "output", "dims": ["B", "H", "Sq", "D"]}
  ],
  "launches": [
    {"entry": "load", "grid": ["rows/2"], "block": ["D"], "args": [{"pointer": "q"}, {"pointer": "part"}]},
    {"entry": "store", "grid": ["rows"], "block": ["D"], "args": [{"pointer": "part"}, {"pointer": "o"}]}
  ]
}`

// TestLaunches profiles a kernel of two launches: each is a row, and their sum is the
// prediction.
func TestLaunches(t *testing.T) {
	k, err := abi.Parse("two.json", []byte(twoCall))
	if err != nil {
		t.Fatal(err)
	}
	s, err := lab.External("two", twoLaunches, k)
	if err != nil {
		t.Fatal(err)
	}
	shape := problem.Named{Shape: problem.Square(1, 2, 64, 64)}
	r, err := Of(t.Context(), s, shape, chips.For(s.Target, nil), Options{Counters: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Launches) != 2 {
		t.Fatalf("%d launches, want 2", len(r.Launches))
	}
	a, b := r.Launches[0].Predicted, r.Launches[1].Predicted
	if a.Micros <= 0 || b.Micros <= 0 || r.Predicted.Micros != a.Micros+b.Micros || r.Predicted.High != a.High+b.High {
		t.Errorf("%v and %v do not make %v", a.Micros, b.Micros, r.Predicted.Micros)
	}
	var out bytes.Buffer
	r.WriteText(&out, term.Style{}, Text{Lines: 2})
	for _, want := range []string{"\n  launch ", "\n  " + r.Launches[0].Entry + " ", "\n  " + r.Launches[1].Entry + " ", "\n  sum "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestWriteNCU(t *testing.T) {
	var out bytes.Buffer
	writeNCU(&out, term.Style{}, &ncu.Profile{Micros: 12.3, Tensor: 50, Arithmetic: 100, Memory: 3}, "")
	for _, want := range []string{"12.3 µs", "████████████░░░░░░░░░░░░   50.0 %", "████████████████████████  100.0 %"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
