package lab

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestHopper judges kernels for Hopper: with and without a causal mask, and with heads that share
// K and V.
func TestHopper(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name   string
		choice problem.Attention
	}{
		{"hopper", problem.Attention{LSE: true}},
		{"hopper-throughput", problem.Attention{LSE: true, Causal: true}},
		{"hopper", problem.Attention{Shape: problem.Shape{B: 1, Hq: 8, Hkv: 2, Sq: 1000, Skv: 1000, D: 64}}},
	} {
		s, err := Preset(c.name, c.choice, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		p := smaller(quickly())
		p.Cases[3] = Case{Shape: length(1, 2, 129), Seed: 0, Distribution: "large-logits"}
		if c.choice.Shape.Hkv == 2 {
			p.Cases[2] = Case{Shape: problem.Shape{B: 2, Hq: 8, Hkv: 2, Sq: 33, Skv: 70, D: 64}, Seed: 1, Distribution: "normal"}
		}
		_, v := measure(t, s, p)
		wants(t, v, record.Correct, "no GPU")
	}
}

// TestHopperServes wants every design to support the shape that it is written for, and its
// contract to survive JSON.
func TestHopperServes(t *testing.T) {
	for _, design := range hopper.Designs() {
		for _, shape := range []problem.Shape{
			problem.Square(2, 3, 100, 64), problem.Square(2, 3, 700, 128), problem.Square(1, 8, 2048, 64), problem.Square(4, 16, 4096, 128),
			{B: 2, Hq: 8, Hkv: 1, Sq: 300, Skv: 1000, D: 128},
		} {
			s, err := Preset(design.Name, problem.Attention{Shape: shape}, kernel.Chip{})
			if err != nil && shape.D == 128 && strings.Contains(err.Error(), "head dimension 128") {
				continue // not all designs have registers for it
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.ServesShape(shape); err != nil {
				t.Errorf("%s for %v: %v", design.Name, shape, err)
			}
			text, err := json.Marshal(s.Kernel)
			if err != nil {
				t.Fatal(err)
			}
			var again kernel.Kernel
			if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(&again, s.Kernel) {
				t.Errorf("%s: written and read again: %v", design.Name, err)
			}
		}
	}
}

// TestHopperFor wants the kernel that attention.New chooses for a shape, without shared heads
// where the shape has none.
func TestHopperFor(t *testing.T) {
	for _, name := range []string{"mission", "mission256", "long", "big64", "big128"} {
		shape, err := problem.ParseShape(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Preset("hopper", problem.Attention{Shape: shape}, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		if want := hopper.Choose(problem.Attention{Shape: shape}.Filled(), 132).String(); s.Config["config"] != want {
			t.Errorf("%s: %s, want %s", name, s.Config["config"], want)
		}
		if s.ServesShape(problem.Shape{B: 1, Hq: 8, Hkv: 1, Sq: 64, Skv: 64, D: 64}) == nil {
			t.Errorf("%s: a text for heads of their own serves shared ones", name)
		}
	}
}

// TestHopperTimed times a kernel with clusters against a persistent one, causal, with warm and cold
// caches: each launch must have tensor maps of its own buffers. A rival gets the same problem.
func TestHopperTimed(t *testing.T) {
	python := beside(t)
	dev, err := emu.New(ptx.SM90a, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := newCard()
	c.Device = dev
	choice := problem.Attention{Causal: true, Shape: problem.Shape{B: 1, Hq: 4, Hkv: 2, Sq: 40, Skv: 100, D: 64}}
	s, err := Preset("hopper-split-kv-cluster", choice, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	p := timingPlan(c, timing.Method{Mode: timing.Graph, Cache: timing.Cold, Launches: 4}, timing.Method{Mode: timing.Event, Cache: timing.Warm})
	if p.Baseline, err = Preset("hopper-throughput", choice, kernel.Chip{}); err != nil {
		t.Fatal(err)
	}
	p.Times.Shapes = []problem.Named{{Shape: choice.Shape}}
	p.Times.Rivals = []RivalChoice{{Library: "values", Implementation: "right"}}
	p.Times.Stop = timing.Stop{Least: 4, Most: 4, Time: time.Minute}
	perf, err := Time(t.Context(), s, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(perf.Shapes) != 2 || perf.Skipped != "" {
		t.Fatalf("%+v", perf)
	}
	for _, one := range perf.Shapes {
		if !one.OutputsOK || one.Baseline == nil || one.Shape.String() != "1,4/2,40/100,64" {
			t.Errorf("%s, %+v: %s", one.Shape, one.Method, one.Wrong)
		}
		if python && (len(one.Rivals) != 1 || one.Rivals[0].RMSE > 1e-6) {
			t.Errorf("%+v: %+v, notes %q", one.Method, one.Rivals, perf.Notes)
		}
	}
}

// TestInitFences removes each of the four fence.mbarrier_init of a kernel with clusters in turn.
// Copies of the own block count on the mbarriers behind the first fence, and copies of the other
// block on those behind the last two. Only threads of the own block use the mbarriers behind the
// second fence, and a barrier orders them.
func TestInitFences(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const fence = "\tfence.mbarrier_init.release.cluster;\n"
	s, err := Preset("hopper-split-kv-cluster", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(s.PTX, fence)
	if len(parts) != 5 {
		t.Fatalf("the kernel has %d fences, want 4", len(parts)-1)
	}
	p := onlyDefects()
	p.Depth, p.Defects = Listed, Defects{Shapes: []problem.Shape{problem.Square(1, 2, 97, 64)}, Schedules: []uint64{0, 1}}
	for i, want := range []record.Status{record.Red, record.Green, record.Red, record.Red} {
		k := *s.Kernel
		k.PTX = strings.Join(parts[:i+1], fence) + strings.Join(parts[i+1:], fence)
		one := *s
		one.Kernel = &k
		if _, v := measure(t, &one, p); v.Gates[1].Status != want {
			t.Errorf("without fence %d the defects gate is %s: %s", i+1, v.Gates[1].Status, v.Gates[1].Summary)
		}
	}
}
