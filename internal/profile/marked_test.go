package profile

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestRecord records kernels of several families on the emulator. It wants every warp of every block to have a track with
// slices that follow each other, and names of waits that the kernel has.
func TestRecord(t *testing.T) {
	small := problem.Square(1, 1, 130, 64)
	decode := problem.Shape{B: 1, Hq: 4, Hkv: 1, Sq: 1, Skv: 130, D: 64}
	for _, c := range []struct {
		kernel string
		shape  problem.Shape
		wait   string
	}{
		{"hopper-throughput", small, "products consumer.go"}, {"hopper-split-kv-cluster", small, "cluster consumer.go"},
		{"stage3b", small, "copies kv.go"}, {"ada", small, "mbarrier feed.go"}, {"decode", decode, "barrier"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			s, err := lab.Preset(c.kernel, problem.Attention{Shape: c.shape, Format: problem.E4M3}, kernel.Chip{SMs: 4})
			if err != nil {
				t.Fatal(err)
			}
			text := s.PTX
			var out bytes.Buffer
			if err := Record(t.Context(), nil, s, c.shape, &out); err != nil {
				t.Fatal(err)
			}
			if s.PTX != text {
				t.Error("the kernel itself has changed")
			}
			checkTrace(t, out.Bytes(), c.wait)
		})
	}
}

// checkTrace checks the tracks of a trace.
func checkTrace(t *testing.T, text []byte, wait string) {
	t.Helper()
	var trace struct {
		Events []struct {
			Name     string
			Ph       string
			Pid, Tid int
			Ts, Dur  float64
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	type track struct{ pid, tid int }
	ends, last, waited := map[track]float64{}, map[track]string{}, false
	for _, e := range trace.Events {
		at := track{e.Pid, e.Tid}
		switch {
		case e.Name == "thread_name":
			ends[at] = 0
		case e.Ph == "X":
			if e.Ts < ends[at]-1e-9 || e.Dur < 0 {
				t.Errorf("%s of warp %v begins at %v, and the slice before ends at %v", e.Name, at, e.Ts, ends[at])
			}
			ends[at], last[at] = e.Ts+e.Dur, e.Name
			waited = waited || strings.HasPrefix(e.Name, wait)
		}
	}
	if len(ends) < 4 || !waited {
		t.Errorf("%d warps have tracks; a wait %q: %v", len(ends), wait, waited)
	}
	for at := range ends {
		if last[at] != "end" {
			t.Errorf("the last mark of warp %v is %q", at, last[at])
		}
	}
}

// TestRecordRefuses wants an error for launches whose buffer could not be read.
func TestRecordRefuses(t *testing.T) {
	s, err := lab.Preset("stage0", problem.Attention{Shape: problem.Square(1, 1, 64, 64), Format: problem.E4M3}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	twice, skipped := *s.Kernel, *s.Kernel
	twice.Launches = []kernel.Launch{s.Launches[0], s.Launches[0]}
	skipped.Launches = []kernel.Launch{s.Launches[0]}
	skipped.Launches[0].When = expr.Must("Sq > 1")
	for _, k := range []*kernel.Kernel{&twice, &skipped} {
		if _, _, err := withMarks(k); err == nil || !strings.Contains(err.Error(), "whose entry is launched once") {
			t.Errorf("%v", err)
		}
	}
}
