package rival

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"attest/timing"
)

// fake starts the library of testdata, with a real Python.
func fake(t *testing.T, o Options) *Rival {
	t.Helper()
	if _, err := Python(); err != nil {
		t.Skip(err)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", dir)
	r, err := Start(t.Context(), "fake", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind", r.dir)
		}
	})
	return r
}

var tiny = Shape{1, 1, 2, 2}

func TestRival(t *testing.T) {
	var said bytes.Buffer
	r := fake(t, Options{Stderr: &said})
	if h := r.Hello(); h.Versions["fake"] != "1.0" || h.Device != "no card" || !strings.HasPrefix(h.Python, "3.") || h.Implementations[0].Name != "good" {
		t.Errorf("%+v", h)
	}
	a, err := r.Prepare(t.Context(), Case{Shape: tiny, DType: "f16", Implementation: "good", Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if a.Note != "seed 7" || a.Bytes != 4096 || a.Name() != "fake good f16" {
		t.Errorf("%+v", a)
	}
	b, err := r.Prepare(t.Context(), Case{Shape: tiny, DType: "f16", Implementation: "subprocess", Seed: 8})
	if err != nil {
		t.Fatal(err)
	}
	warm, err := a.Candidate(t.Context(), timing.Graph, timing.Warm)
	if err != nil {
		t.Fatal(err)
	}
	cold, err := b.Candidate(t.Context(), timing.Graph, timing.Cold)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Candidate(t.Context(), timing.Event, timing.Warm); !errors.Is(err, ErrUnsupported) {
		t.Errorf("events that it does not have: %v", err)
	}
	run, err := timing.Interleave(t.Context(), timing.Plan{Stop: timing.Stop{Least: 10, Most: 10}}, warm, cold)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run.Times(0)[:5], []float64{10, 10.01, 10.02, 10.03, 10.04}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if run.Times(1)[0] != 20 || run.Candidates[0].Method != (timing.Method{Mode: timing.Graph, Cache: timing.Warm, Launches: 7, Sets: 1, Clock: "host"}) {
		t.Errorf("%v, %+v", run.Times(1), run.Candidates[0])
	}

	out, err := a.Output(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out.Values, []float32{0, 1, 2, 3}) || out.Checksum.Sum != 6 || out.Error.Max != nil || *out.Error.Mean != 0.5 {
		t.Errorf("%+v", out)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := warm.Sample(t.Context(), 1); err == nil {
		t.Error("a case that was dropped is timed")
	}
	if err := r.Close(); err != nil { // what it says is all there
		t.Error(err)
	}
	if !strings.Contains(said.String(), "greets") {
		t.Errorf("standard output did not go to standard error: %q", said.String())
	}
}

// TestRefusals: what a library cannot do does not end it.
func TestRefusals(t *testing.T) {
	r := fake(t, Options{})
	_, err := r.Prepare(t.Context(), Case{Shape: tiny, Implementation: "unsupported"})
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "fake has no such thing") {
		t.Error(err)
	}
	_, err = r.Prepare(t.Context(), Case{Shape: tiny, Implementation: "raises"})
	if err == nil || errors.Is(err, ErrUnsupported) || !strings.HasSuffix(err.Error(), "RuntimeError: CUDA error: everything is wrong") {
		t.Error(err)
	}
	if _, err := r.Prepare(t.Context(), Case{Shape: tiny, Implementation: "good"}); err != nil {
		t.Error(err)
	}
}

func TestDies(t *testing.T) {
	r := fake(t, Options{})
	for range 2 { // and stays dead
		_, err := r.Prepare(t.Context(), Case{Shape: tiny, Implementation: "dies"})
		var died *Died
		if !errors.As(err, &died) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "terminate called") {
			t.Error(err)
		}
	}
}

func TestHangs(t *testing.T) {
	t.Run("timeout", func(t *testing.T) {
		r := fake(t, Options{})
		r.timeout = 100 * time.Millisecond // once it has started, however long that took
		_, err := r.Prepare(t.Context(), Case{Shape: tiny, Implementation: "hangs"})
		var died *Died
		if !errors.As(err, &died) || !strings.Contains(err.Error(), "no answer in time") {
			t.Error(err)
		}
	})
	t.Run("interrupt", func(t *testing.T) {
		r := fake(t, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(100*time.Millisecond, cancel)
		if _, err := r.Prepare(ctx, Case{Shape: tiny, Implementation: "hangs"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		select {
		case <-r.p.ended:
		case <-time.After(10 * time.Second):
			t.Error("the Python is still there")
		}
	})
}

func TestMissing(t *testing.T) {
	t.Run("library", func(t *testing.T) {
		if _, err := Python(); err != nil {
			t.Skip(err)
		}
		_, err := Start(t.Context(), "nonsense", Options{})
		if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "on_nonsense") {
			t.Error(err)
		}
	})
	t.Run("python", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		t.Setenv("ATTEST_PYTHON", "")
		if _, err := Start(t.Context(), "torch", Options{}); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "ATTEST_PYTHON") {
			t.Error(err)
		}
		t.Setenv("ATTEST_PYTHON", "/nowhere/python")
		if _, err := Start(t.Context(), "torch", Options{}); !errors.Is(err, ErrMissing) {
			t.Error(err)
		}
	})
	t.Run("no python at all", func(t *testing.T) {
		echo := filepath.Join(t.TempDir(), "python")
		if err := os.WriteFile(echo, []byte("#!/bin/sh\nread -r line\necho hello\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(t.Context(), "torch", Options{Python: echo}); err == nil || !strings.Contains(err.Error(), "not JSON") {
			t.Error(err)
		}
	})
}

func TestParseShape(t *testing.T) {
	for text, want := range map[string]Shape{"1,8,512,64": {1, 8, 512, 64}, "mission256": {2, 8, 256, 64}, " 4, 16,4096, 128": {4, 16, 4096, 128}} {
		if got, err := ParseShape(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1,8,512", "1,8,512,64,2", "1,8,x,64", "1,8,0,64", "tiny"} {
		if got, err := ParseShape(text); err == nil || !strings.Contains(err.Error(), "mission") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	// The anchor of FlashAttention-3 at D = 128: 876 TFLOP/s are 628 µs.
	if got := Shapes["big128"].Teraflops(627.5); got < 875 || got > 877 {
		t.Errorf("%v TFLOP/s", got)
	}
}
