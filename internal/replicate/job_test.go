package replicate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	_ "github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

// roundTrip sends a job through JSON, as another process gets it.
func roundTrip(t *testing.T, j Job) *Job {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var got Job
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	return &got
}

// TestKernels wants another process to get the same kernel, with the same parameters, grid
// and memory.
func TestKernels(t *testing.T) {
	mission := problem.Square(1, 8, 512, 64)
	for _, name := range []string{"stage5", "hopper", "hopper-throughput"} {
		s, err := lab.Preset(name, problem.Attention{Shape: mission}, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		j := roundTrip(t, Job{Device: "cuda:0", Kernel: Contract(s), Shapes: []problem.Named{{Shape: mission}}})
		got, err := j.subject(j.Kernel)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.PTX != s.PTX || !reflect.DeepEqual(got.Kernel, s.Kernel) || got.Target != s.Target || j.Shapes[0].Shape != mission {
			t.Errorf("%s: %+v, want %+v", name, got.Kernel, s.Kernel)
		}
	}
}

// TestRun does a job that came through JSON. Without a GPU nothing is timed, and the result
// says so.
func TestRun(t *testing.T) {
	s, err := lab.Preset("stage5-persistent", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	j := roundTrip(t, Job{
		Device: "emu", Kernel: Contract(s), Baseline: Contract(s), Shapes: []problem.Named{{Name: "mission", Shape: problem.Square(1, 8, 512, 64)}},
		Methods: []timing.Method{{Mode: timing.Graph, Cache: timing.Warm}},
	})
	if j.Shapes[0].Name != "mission" || j.Methods[0].Mode != timing.Graph {
		t.Errorf("the job arrived as %+v", j)
	}
	p, err := j.Run(t.Context(), nil)
	if err != nil || !strings.Contains(p.Skipped, "no GPU") {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestLaunches wants a kernel that is launched for a profiler not to be timed.
func TestLaunches(t *testing.T) {
	small := problem.Square(1, 1, 64, 64)
	s, err := lab.Preset("stage3b", problem.Attention{Shape: small}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	j := Job{Device: "emu", Kernel: Contract(s), Shapes: []problem.Named{{Shape: small}}, Launches: 2}
	if p, err := j.Run(t.Context(), nil); p != nil || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	j.Shapes[0].Shape.D = 128
	if _, err := j.Run(t.Context(), nil); err == nil {
		t.Error("a shape that the kernel does not support is launched")
	}
}

// TestServe wants one answer per job, and an error for text that is no job.
func TestServe(t *testing.T) {
	s, err := lab.Preset("stage3b", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(Job{Device: "emu", Kernel: Contract(s), Shapes: []problem.Named{{Shape: problem.Square(1, 1, 64, 64)}}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Serve(t.Context(), strings.NewReader(string(text)+"\n"+string(text)), "the test", &out); err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(&out)
	for range 2 {
		var m message
		if err := answers.Decode(&m); err != nil || m.Performance == nil || !strings.Contains(m.Performance.Skipped, "no GPU") {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if err := Serve(t.Context(), strings.NewReader("nonsense"), "standard input", &out); err == nil || !strings.Contains(err.Error(), "standard input does not hold a job") {
		t.Error(err)
	}
}
