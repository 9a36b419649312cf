package campaign

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

// card is a device that says it is a GPU.
type card struct{ device.Device }

func (card) Info() device.Info { return device.Info{Driver: "cuda"} }

// TestGateMethods: the flags choose how launches are timed, and otherwise the plan does.
func TestGateMethods(t *testing.T) {
	s, err := lab.Preset("stage3b", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		modes, caches []string
		want          int
	}{{nil, nil, 4}, {[]string{"graph"}, []string{"warm"}, 1}, {[]string{"graph"}, nil, 2}, {nil, []string{"cold"}, 2}} {
		g := &Gate{Plan: "full", Modes: c.modes, Caches: c.caches}
		g.Device = card{}
		jobs, err := g.prepare([]string{"stage3b"})
		if err != nil {
			t.Fatal(err)
		}
		got := g.plan(job{Subject: s, shapes: jobs[0].shapes}, nil).Times.Methods
		if len(got) != c.want {
			t.Errorf("--mode %q --cache %q: %v", c.modes, c.caches, got)
		}
		if first := (timing.Method{Mode: timing.Graph, Cache: timing.Warm}); c.want == 1 && got[0] != first {
			t.Errorf("--mode graph --cache warm: %v", got)
		}
	}
}
