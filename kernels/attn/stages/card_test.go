package stages

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/nvml"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// sameTensorCores returns the target of an emulator whose tensor cores add like the GPU's.
func sameTensorCores(t *testing.T, dev device.Device) ptx.Target {
	t.Helper()
	switch sm := dev.Info().Target.SM; {
	case sm == 90:
		return ptx.SM90
	case sm == 80 || sm == 86 || sm == 89:
		return ptx.Target{SM: sm}
	default:
		t.Skipf("no emulator of sm_%d", sm)
		return ptx.Target{}
	}
}

// named is the problem of a shape with a name.
func named(t testing.TB, name string, f problem.Format) problem.Attention {
	t.Helper()
	s, err := problem.ParseShape(name)
	if err != nil {
		t.Fatal(err)
	}
	return problem.Attention{Shape: problem.Square(s.B, s.Hq, s.Sq, s.D), Format: f}
}

// TestCardBits compares every bit of GPU and emulator.
func TestCardBits(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM80)
	target := sameTensorCores(t, card)
	problems := []problem.Attention{named(t, "small", problem.U8), named(t, "small", problem.E4M3), named(t, "mission", problem.U8)}
	for i, s := range []int{1, 17, 65, 129} {
		for _, d := range []int{64, 128} {
			problems = append(problems, variant(problem.Attention{Shape: problem.Square(2, 3, s, d)}, i+d/64))
		}
	}
	for _, p := range problems {
		in := normal(t, p, 1)
		onCard, onEmu := newBench(t, card, in), newBench(t, emulator(t, target, 0), in)
		for _, preset := range Presets(p.D) {
			t.Run(fmt.Sprintf("%s/s%d/d%d/%s/%s", preset.Name, p.Sq, p.D, p.Format, p.Output), func(t *testing.T) {
				onCard.T, onEmu.T = t, t
				if a, b := onCard.run(preset.Config, ptx.SM89), onEmu.run(preset.Config, ptx.SM89); !a.Same(b) {
					t.Error("the card's bits are not the emulator's")
					judge(t, a, in.Q, in.K, in.V, exact(p))
				}
			})
		}
	}
	p := named(t, "small", problem.U8)
	p.Sq, p.Skv = 150, 150
	in := normal(t, p, 2)
	onCard, onEmu := newBench(t, card, in), newBench(t, emulator(t, target, 0), in)
	for _, toggle := range toggles {
		preset, err := FindPreset(toggle.from, 64)
		if err != nil {
			t.Fatal(err)
		}
		toggle.change(&preset.Config)
		if !onCard.run(preset.Config, ptx.SM89).Same(onEmu.run(preset.Config, ptx.SM89)) {
			t.Errorf("%s with %s: the card's bits are not the emulator's", toggle.from, toggle.name)
		}
	}
}

// TestCardMatrix runs all presets on all shapes and seeds and compares with float64.
func TestCardMatrix(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM80)
	var problems []problem.Attention
	for _, name := range []string{"small", "mission", "mission256", "long"} {
		problems = append(problems, named(t, name, problem.U8), named(t, name, problem.E4M3))
	}
	for i, s := range []int{1, 17, 31, 33, 63, 65, 100, 127, 129, 1000} {
		for _, d := range []int{64, 128} {
			problems = append(problems, variant(problem.Attention{Shape: problem.Square(2, 3, s, d)}, i))
		}
	}
	for _, p := range problems {
		for seed := range uint64(3) {
			in := normal(t, p, seed)
			want, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, card, in)
			for _, preset := range Presets(p.D) {
				e, err := want.Compare(b.run(preset.Config, ptx.SM89).Tensor(t), ref.CompareOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if limit := exact(p); e.Max > limit.max || e.Mean > limit.mean {
					t.Errorf("%s, %+v, seed %d: %v", preset.Name, p, seed, e)
				}
			}
		}
	}
}

// TestCardParity compares the stages on the GPU many times, because a race shows only
// sometimes.
func TestCardParity(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM80)
	for seed := range uint64(3) {
		for _, d := range []int{64, 128} {
			for i := range 3 {
				p := variant(problem.Attention{Shape: problem.Square(1, 4, 500, d)}, i)
				p.LSE = true
				checkParity(t, card, p, seed)
			}
		}
	}
	in := normal(t, named(t, "mission", problem.E4M3), 3)
	b := newBench(t, card, in)
	for _, preset := range Presets(64) {
		first := b.run(preset.Config, ptx.SM89)
		for range 50 {
			if !b.run(preset.Config, ptx.SM89).Same(first) {
				t.Errorf("%s gives other bits when run again", preset.Name)
				break
			}
		}
	}
}

// TestCardTimes times all presets, interleaved, in a replayed graph with warm caches, and the
// effect of single toggles. It writes every sample to the file ATTN_OUT, if set.
func TestCardTimes(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM80)
	timer, err := timing.New(card)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	var sensor device.Sensor
	if gpu, err := nvml.Open(card.Info().UUID); err == nil {
		sensor = gpu
	}
	runs := map[string]*timing.Run{}
	for _, p := range []problem.Attention{named(t, "mission", problem.U8), named(t, "mission", problem.E4M3), named(t, "long", problem.E4M3),
		{Shape: problem.Square(4, 16, 2048, 128), Format: problem.E4M3}} {
		configs := map[string]Config{}
		var names []string
		add := func(name string, c Config) {
			if c.Check(p, ptx.SM89) == nil {
				names, configs[name] = append(names, name), c
			}
		}
		for _, preset := range Presets(p.D) {
			add(preset.Name, preset.Config)
		}
		for _, toggle := range toggles {
			if preset, err := FindPreset(toggle.from, p.D); err == nil && toggle.from != "stage0" {
				toggle.change(&preset.Config)
				add(toggle.from+" with "+toggle.name, preset.Config)
			}
		}
		b := newBench(t, card, normal(t, p, 0))
		var candidates []timing.Candidate
		for _, name := range names {
			timed, err := timer.GraphReplay(t.Context(), b.work(name, configs[name]), timing.Warm, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer timed.Close()
			candidates = append(candidates, timed)
		}
		plan := timing.Plan{WarmUp: 20 * time.Millisecond, Sensor: sensor, Stop: timing.Stop{Least: 30, Most: 100, Time: 20 * time.Second}}
		run, err := timing.Interleave(t.Context(), plan, candidates...)
		if err != nil {
			t.Fatal(err)
		}
		title := fmt.Sprintf("[%d,%d,%d,%d] %s", p.B, p.Hq, p.Sq, p.D, p.Format)
		runs[title] = run
		t.Logf("%s, µs a launch, graph, warm:", title)
		for i, name := range names {
			s := run.Summary(i)
			flop := 4 * float64(p.B*p.Hq) * float64(p.Sq) * float64(p.Sq) * float64(p.D)
			t.Logf("  %-32s p50 %8.2f  p90 %8.2f  %6.1f TFLOP/s", name, s.P50, s.P90, flop/s.P50/1e6)
		}
	}
	if path := os.Getenv("ATTN_OUT"); path != "" {
		text, err := json.Marshal(runs)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// work is a config's launch, to be timed.
func (b *bench) work(name string, c Config) timing.Work {
	b.T.Helper()
	b.SMs = 0 // those of the card
	kernel, launch := b.Only(b.kernel(c, ptx.SM89))
	p := b.In.P
	bytes := int64(5 * p.B * p.Hq * p.Sq * p.D)
	return timing.Launches(name, kernel, bytes, launch)
}
