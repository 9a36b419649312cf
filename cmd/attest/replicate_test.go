package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestReplicaKernels wants another process to be asked for the very kernel, with the same
// parameters, grid and memory.
func TestReplicaKernels(t *testing.T) {
	mission, err := problem.ParseShape("1,8,512,64")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stage5", "hopper", "hopper-throughput"} {
		s, err := lab.Preset(name, lab.Choice{Shape: mission})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(replica{Device: "cuda:0", Kernel: *newReplicaKernel(s), Shapes: []problem.Named{{Shape: mission}}})
		if err != nil {
			t.Fatal(err)
		}
		var r replica
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := r.Kernel.subject()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.PTX != s.PTX || !reflect.DeepEqual(got.ABI, s.ABI) || got.Target != s.Target || r.Shapes[0].Shape != mission {
			t.Errorf("%s: %+v, want %+v", name, got.ABI, s.ABI)
		}
	}
}

// TestReplicaLaunches wants a kernel that is launched for a profiler to be timed by nobody.
func TestReplicaLaunches(t *testing.T) {
	small, err := problem.ParseShape("1,1,64,64")
	if err != nil {
		t.Fatal(err)
	}
	s, err := lab.Preset("stage3b", lab.Choice{Shape: small})
	if err != nil {
		t.Fatal(err)
	}
	r := replica{Device: "emu", Kernel: *newReplicaKernel(s), Shapes: []problem.Named{{Shape: small}}, Launches: 2}
	if p, err := r.measure(t.Context()); p != nil || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if r.Shapes[0].Shape, err = problem.ParseShape("1,1,64,128"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.measure(t.Context()); err == nil {
		t.Error("a shape that the kernel does not serve is launched")
	}
}
