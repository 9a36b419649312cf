package rival

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
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

var tiny = problem.Square(1, 1, 2, 2)

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
	if a.Note != "seed 7, Q [1, 1, 2, 2], K [1, 1, 2, 2], V [1, 1, 2, 2], causal False" || a.Bytes != 4096 || a.Name() != "fake good f16" {
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
	if err := r.Close(); err != nil { // Close waits for the whole error output
		t.Error(err)
	}
	if !strings.Contains(said.String(), "greets") {
		t.Errorf("standard output did not go to standard error: %q", said.String())
	}
}

// TestSharedHeads wants the sizes of K and V and the mask to reach the script.
func TestSharedHeads(t *testing.T) {
	p, err := fake(t, Options{}).Prepare(t.Context(), Case{Shape: problem.Shape{B: 1, Hq: 4, Hkv: 2, Sq: 3, Skv: 5, D: 64, DV: 32}, Causal: true, Implementation: "good"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "seed 0, Q [1, 4, 3, 64], K [1, 2, 5, 64], V [1, 2, 5, 32], causal True"; p.Note != want {
		t.Errorf("%q, want %q", p.Note, want)
	}
}

// TestCheck compares the float64 attention of the script with ours: shared heads, different lengths,
// causal masks, rows that see no key.
func TestCheck(t *testing.T) {
	python, err := Python()
	if err != nil {
		t.Skip(err)
	}
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skip("no numpy: ", err)
	}
	for _, shape := range []problem.Shape{problem.Square(2, 3, 9, 16), {B: 1, Hq: 4, Hkv: 2, Sq: 5, Skv: 11, D: 8}, {B: 1, Hq: 2, Hkv: 1, Sq: 7, Skv: 3, D: 8}, {B: 2, Hq: 4, Hkv: 2, Sq: 5, Skv: 6, D: 8, DV: 12}} {
		for _, causal := range []bool{false, true} {
			in, err := ref.Generate("normal", 1, shape)
			if err != nil {
				t.Fatal(err)
			}
			want, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.Options{Causal: causal})
			if err != nil {
				t.Fatal(err)
			}
			off := errorsOf(t, python, map[string]any{
				"q": extents(shape.Q()), "k": extents(shape.K()), "v": extents(shape.V()), "causal": causal,
				"values": [][]float64{exactly(in.Q.Data), exactly(in.K.Data), exactly(in.V.Data)}, "out": want.O,
			})
			if off[0] > 1e-12 || off[1] < 1e-4 {
				t.Errorf("%v, causal %t: off by %v from what is right, and by %v from that plus 1e-3", shape, causal, off[0], off[1])
			}
		}
	}
}

// exactly are numbers that JSON must not round to 32 bits.
func exactly(list []float32) (out []float64) {
	for _, x := range list {
		out = append(out, float64(x))
	}
	return out
}

// errorsOf returns the largest errors that the script finds in a right and in a wrong output.
func errorsOf(t *testing.T, python string, given map[string]any) (off [2]float64) {
	t.Helper()
	const program = `
import json, math, sys
import numpy
sys.path.insert(0, "script")
import check
given = json.load(sys.stdin)
shapes = [given["q"], given["k"], given["v"]]
x = [numpy.array(v).reshape(s) for v, s in zip(given["values"], shapes)]
out = numpy.array(given["out"]).reshape([*given["q"][:3], given["v"][3]])
def worst(o):
    e = check.errors(given, 1 / math.sqrt(given["q"][3]), lambda i, b, h: x[i][b, h], lambda b, h, s: o[b, h, s])
    return e["max"]
print(json.dumps([worst(out), worst(out + 1e-3)]))
`
	line, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-B", "-c", program)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(line), os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &off)
	}
	if err != nil {
		t.Fatal(err)
	}
	return off
}

// TestRefusals wants the process to continue after a case that is not supported.
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
	for range 2 { // the process does not come back
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
		r.timeout = 100 * time.Millisecond // only after the start, which may take long
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
