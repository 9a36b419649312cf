package rivalrun

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
)

func TestReport(t *testing.T) {
	r := &Report{
		Library: "torch", Shape: problem.Square(1, 8, 512, 64), Causal: true, Hello: &rival.Hello{Python: "3.12", Device: "NVIDIA H200", Versions: map[string]string{"torch": "2.9", "cuda": "13"}},
		Results: []*Result{
			{Implementation: "flash", DType: "f16", Mode: "graph", Cache: "warm", Why: "no kernel", Unsupported: true, unprepared: true},
			{Implementation: "flash", DType: "f16", Mode: "event", Cache: "warm", Why: "no kernel", Unsupported: true, unprepared: true},
			{Implementation: "math", DType: "f16", Mode: "event", Cache: "cold", Note: "in float32", Why: "no room", Unsupported: true},
		},
	}
	var out bytes.Buffer
	r.Show(&cli.Env{Out: &out, Err: &out, Color: term.Never}, false)
	for _, want := range []string{"cuda 13, torch 2.9, Python 3.12, on NVIDIA H200\n", "seed 0, causal; µs", "math f16: in float32\n", "not timed, event cold: no room\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if n := strings.Count(out.String(), "not timed: no kernel\n"); n != 1 {
		t.Errorf("one reason is told %d times", n)
	}
	if r.failed() {
		t.Error("a case that is not supported counts as a failure")
	}
	r.Results[2].Unsupported = false
	if !r.failed() {
		t.Error("a case that failed does not count")
	}
	if got := r.teraflops(1000); got != r.Shape.FLOP()/2/1e9 {
		t.Errorf("%v TFLOP/s for causal", got)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"max_error":null`) || !strings.Contains(string(text), `"run":null`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestCheck(t *testing.T) {
	for want, x := range map[string]Runner{
		"--samples": {Time: time.Second, Timeout: time.Second},
		"--time":    {Samples: 1, Timeout: time.Second},
		"--timeout": {Samples: 1, Time: time.Second},
	} {
		if err := x.check(); err == nil || !strings.HasPrefix(err.Error(), want+" ") {
			t.Errorf("%v, want one about %s", err, want)
		}
	}
}
