package decode

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestCardBits compares every bit of GPU and emulator, and runs each kernel many times: a merge
// in another order would change bits.
func TestCardBits(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM89)
	target := ptx.SM90
	if card.Info().Target.SM == 89 {
		target = ptx.SM89
	}
	for i, p := range []problem.Attention{
		attends(1, 4, 1, 1, 300, 128), attends(2, 8, 2, 1, 1000, 128), attends(1, 32, 8, 1, 777, 64), attends(1, 2, 1, 3, 500, 256),
		attends(1, 8, 1, 4, 700, 128), attends(1, 8, 1, 8, 600, 64), attends(3, 6, 3, 5, 90, 256), attends(1, 1, 1, 1, 1, 128),
	} {
		p.LSE, p.Causal = true, i%2 == 0
		in := generate(t, "normal", p, uint64(i))
		onCard, onEmu := newBench(t, card, in), newBench(t, emulator(t, target, 0, nil), in)
		for _, c := range configs(p) {
			onCard.SMs, onEmu.SMs = 9, 9
			want := onEmu.run(c)
			for range 20 {
				if !onCard.run(c).Same(want) {
					t.Errorf("%v, %v: the bits of the card differ from those of the emulator", p, c)
					judge(t, "on the card", in, onCard.Read())
					break
				}
			}
		}
	}
}

// TestCardServing compares every bit of GPU and emulator on random problems of servers.
func TestCardServing(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM89)
	target := ptx.SM90
	if card.Info().Target.SM == 89 {
		target = ptx.SM89
	}
	for seed := range uint64(60) {
		p := drawServing(rand.New(rand.NewPCG(seed, 4)))
		in := generate(t, "normal", p, seed)
		for i, c := range configs(p) {
			if i != int(seed)%3 {
				continue
			}
			onCard, onEmu := newBench(t, card, in), newBench(t, emulator(t, target, 0, nil), in)
			onCard.SMs, onEmu.SMs = 20, 20
			if !onCard.run(c).Same(onEmu.run(c)) {
				t.Errorf("seed %d, %v, %v: the bits of the card differ from those of the emulator", seed, p, c)
				judge(t, "on the card", in, onCard.Read())
			}
		}
	}
}

// meaningless makes inputs for timing: bytes of small numbers, without a reference.
func meaningless(p problem.Attention) inputs {
	tensor := func(d fp8.Dims, heads int) *fp8.Tensor {
		x := &fp8.Tensor{Format: fp8.E4M3, Scaling: fp8.PerHead, Shape: d, Data: make([]byte, d.Len()), Scales: make([]float32, heads)}
		state := uint64(d.Len())
		for i := range x.Data {
			state = state*6364136223846793005 + 1442695040888963407
			x.Data[i] = byte(state>>56) & 0xb7 // below 2 in magnitude
		}
		for i := range x.Scales {
			x.Scales[i] = 1
		}
		return x
	}
	return inputs{P: p, Quantised: &ref.Quantised{Q: tensor(p.Q(), p.Hq), K: tensor(p.KV(), p.Hkv), V: tensor(p.KV(), p.Hkv)}}
}

// timed are the configurations that TestCardTimes compares.
func timed(p problem.Attention) []Config {
	with := func(change func(*Config)) Config {
		c := Default(p, h200)
		change(&c)
		return c
	}
	return []Config{
		Default(p, h200), Invariant(p, h200),
		with(func(c *Config) { c.Chunk = 1024 }),
		with(func(c *Config) { c.Chunk = 2048 }),
		with(func(c *Config) { c.Stages = 3 }),
		with(func(c *Config) { c.TileN *= 2 }),
		with(func(c *Config) { c.TileN /= 2; c.Stages = 3 }),
		with(func(c *Config) { c.TileN /= 2; c.Stages, c.BlocksPerSM = 3, 3 }),
		with(func(c *Config) { c.Warps, c.BlocksPerSM = 8, 1 }),
		with(func(c *Config) { c.Warps, c.Stages, c.BlocksPerSM = 8, 3, 1 }),
	}
}

// TestCardTimes times configurations on shapes of decoding, in a replayed graph with warm
// caches.
func TestCardTimes(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	timer, err := timing.New(card)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	for _, p := range []problem.Attention{
		attends(16, 32, 8, 1, 8192, 128), attends(64, 32, 8, 1, 2048, 128), attends(1, 32, 8, 1, 8192, 128),
		attends(1, 32, 8, 1, 512, 128), attends(4, 32, 8, 1, 32768, 128), attends(256, 16, 1, 1, 4096, 128),
		attends(8, 64, 8, 4, 8192, 128), attends(16, 8, 8, 1, 4096, 64), attends(32, 16, 2, 1, 4096, 256),
	} {
		b := newBench(t, card, meaningless(p))
		var candidates []timing.Candidate
		var names []string
		traffic := 2 * p.KV().Len()
		for _, c := range timed(p) {
			if c.Check(p, ptx.SM90a) != nil {
				continue
			}
			k, err := New(p, c, ptx.SM90a)
			if err != nil {
				t.Fatal(err)
			}
			entry, launch := b.Only(k)
			one, err := timer.GraphReplay(t.Context(), timing.Launches(c.String(), entry, int64(traffic), launch), timing.Warm, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer one.Close()
			candidates, names = append(candidates, one), append(names, fmt.Sprintf("%v, grid %d,%d", c, launch.Grid.X, launch.Grid.Y))
		}
		run, err := timing.Interleave(t.Context(), timing.Plan{WarmUp: 20 * time.Millisecond, Stop: timing.Stop{Least: 30, Most: 100, Time: 5 * time.Second}}, candidates...)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v, graph, warm, time per launch:", p)
		for i, name := range names {
			s := run.Summary(i)
			t.Logf("  %-60s p50 %8.2f µs  p90 %8.2f µs  %7.0f GB/s", name, s.P50, s.P90, float64(traffic)/s.P50/1e3)
		}
	}
}
