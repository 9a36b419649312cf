package fuzzrun

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func valid(t *testing.T) *Runner {
	return &Runner{Device: "emu", Against: "emu", Target: "sm_90a", Version: "8.4", Out: t.TempDir(), Seed: 1, Kernels: 2, Batch: 2, Workers: 1, Duration: time.Minute}
}

// TestRun compares the emulator with itself: under another schedule nothing may differ.
func TestRun(t *testing.T) {
	var out, told bytes.Buffer
	if err := valid(t).Run(t.Context(), &cli.Env{Out: &out, Err: &told, Color: term.Never}); err != nil {
		t.Fatalf("%v\n%s", err, &told)
	}
	if want := "ok: 2 kernels for sm_90a on emulated sm_90a and emulated sm_90a under another schedule: 0 differences; the next seed is 3\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	if err := valid(t).Run(t.Context(), &cli.Env{Out: &out, Err: &told, JSON: true}); err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Kernels != 2 || r.Next != 3 || r.Finds == nil || r.Crashed == nil {
		t.Errorf("%s, %v", &out, err)
	}
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*Runner){
		"--target sm_70":               func(x *Runner) { x.Target = "sm_70" },
		"--ptx 8 is not a version":     func(x *Runner) { x.Version = "8" },
		"--ptx 7.8: kernels for sm_90": func(x *Runner) { x.Version = "7.8" },
		"--duration":                   func(x *Runner) { x.Duration = -1 },
		"--kernels":                    func(x *Runner) { x.Kernels = -1 },
		"--batch":                      func(x *Runner) { x.Batch = 0 },
		"--workers":                    func(x *Runner) { x.Workers = 0 },
	} {
		x := valid(t)
		change(x)
		if err := x.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
