package profile

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/ncu"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

func TestReport(t *testing.T) {
	shape := problem.Named{Shape: problem.Square(1, 1, 64, 64)}
	s, err := lab.Preset("stage3b", problem.Attention{Shape: shape.Shape}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Of(t.Context(), s, shape, predict.For(s.Target, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Measure(t.Context(), &machine.Machine{Name: "emu"}); err != nil || r.NCUNote != "no GPU here" {
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
	for _, key := range []string{`"kernel":"stage3b"`, `"shape":"1,1,64,64"`, `"predicted":{`, `"ncu":null`, `"ncu_note":"no GPU here"`, `"counters":{`} {
		if !strings.Contains(string(text), key) {
			t.Errorf("no %s in the JSON", key)
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
