package decode

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// cardAndTarget returns the GPU of the machine, and the target for which the emulator computes the same bits.
func cardAndTarget(t *testing.T) (device.Device, ptx.Target) {
	t.Helper()
	card := kerneltest.Card(t, ptx.SM89)
	if card.Info().Target.SM == 89 {
		return card, ptx.SM89
	}
	return card, ptx.SM90
}

// TestCardBits compares every bit of GPU and emulator, and runs each kernel many times: a merge
// in another order would change bits. The driver takes about a second to compile a kernel, so a problem
// has every other configuration unless all are asked for.
func TestCardBits(t *testing.T) {
	card, target := cardAndTarget(t)
	for i, p := range []problem.Attention{
		attends(1, 4, 1, 1, 300, 128), attends(2, 8, 2, 1, 1000, 128), attends(1, 32, 8, 1, 777, 64), attends(1, 2, 1, 3, 500, 256),
		attends(1, 8, 1, 4, 700, 128), attends(1, 8, 1, 8, 600, 64), attends(3, 6, 3, 5, 90, 256), attends(1, 1, 1, 1, 1, 128),
		attends(1, 16, 1, 1, 3000, 128), attends(2, 4, 1, 1, 3000, 64), // many parts
		withHeads(attends(1, 4, 2, 5, 700, 0), 192, 128), withHeads(attends(2, 8, 1, 1, 900, 0), 64, 256), withHeads(attends(1, 16, 1, 1, 800, 0), 128, 96),
	} {
		p.LSE, p.Causal = true, i%2 == 0
		in := generate(t, "normal", p, uint64(i))
		onCard, onEmu := newBench(t, card, in), newBench(t, emulator(t, target, 0, nil), in)
		for n, c := range configs(p) {
			if !*full && (i+n)%2 == 1 {
				continue
			}
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

// withHeads returns a problem with heads of K and V of other sizes.
func withHeads(p problem.Attention, d, dv int) problem.Attention {
	p.Shape = p.WithHeadDim(problem.HeadDim{D: d, DV: dv})
	return p
}

// TestCardServing compares every bit of GPU and emulator on random problems of servers.
func TestCardServing(t *testing.T) {
	card, target := cardAndTarget(t)
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
	p = p.Filled()
	q, kv := fp8.PerHead, fp8.PerHead
	if p.Scaling == problem.PerToken {
		q, kv = fp8.PerBlock(1), fp8.PerBlock(1)
	}
	tensor := func(d fp8.Dims, s fp8.Scaling) *fp8.Tensor {
		x := &fp8.Tensor{Format: fp8.E4M3, Scaling: s, Shape: d, Data: make([]byte, d.Len()), Scales: make([]float32, s.Count(d))}
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
	return inputs{
		P: p, Quantised: &ref.Quantised{Q: tensor(p.Q(), q), K: tensor(p.K(), kv), V: tensor(p.V(), kv)},
		Original: &ref.Inputs{Q: &ref.Floats{Shape: p.Q(), Data: make([]float32, p.Q().Len())}},
	}
}

// TestCardServingTimes times what servers have, in a replayed graph with warm caches: the same
// keys in pages, with scales of tokens, with Q in 16 bits; ragged batches; prefill.
func TestCardServingTimes(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	timer, err := timing.New(card)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	base := attends(16, 32, 8, 1, 8192, 128)
	with := func(p problem.Attention, change func(*problem.Attention)) problem.Attention {
		change(&p)
		return p.Filled()
	}
	paged := with(base, func(p *problem.Attention) { p.Keys, p.PageSize, p.Layout = problem.Paged, 16, problem.BSHD })
	long := with(attends(16, 32, 8, 1, 65536, 128), func(p *problem.Attention) {
		p.Keys, p.PageSize = problem.Paged, 64
		p.LengthsKV = "512,512,512,512,512,512,512,512,512,512,512,512,512,512,512,65536"
	})
	chunk := with(attends(1, 32, 8, 512, 8192, 128), func(p *problem.Attention) { p.Keys, p.PageSize, p.Causal = problem.Paged, 64, true })
	for _, c := range []struct {
		name string
		p    problem.Attention
	}{
		{"uniform", base}, {"padded, full lengths", with(base, func(p *problem.Attention) { p.Keys = problem.Padded })},
		{"pages of 16, BSHD", paged}, {"pages of 64", with(base, func(p *problem.Attention) { p.Keys, p.PageSize = problem.Paged, 64 })},
		{"q f16", with(base, func(p *problem.Attention) { p.FormatQ = problem.F16 })}, {"q bf16", with(base, func(p *problem.Attention) { p.FormatQ = problem.BF16 })},
		{"scales per token", with(base, func(p *problem.Attention) { p.Scaling = problem.PerToken })},
		{"scales per page", with(paged, func(p *problem.Attention) { p.Scaling, p.FormatQ = problem.PerPage, problem.BF16 })},
		{"window 1024", with(base, func(p *problem.Attention) { p.Window = problem.NewWindow(1023, 0) })},
		{"64 short and long sequences", with(attends(64, 32, 8, 1, 8192, 128), func(p *problem.Attention) {
			p.Keys, p.PageSize = problem.Paged, 64
			lengths := make([]int, p.B)
			for i := range lengths {
				lengths[i] = 128 + (i*i*37)%8064
			}
			p.LengthsKV = problem.NewLengths(lengths)
		})},
		{"one long sequence", long}, {"chunked prefill", chunk},
		{"chunked prefill of 8 sequences", with(attends(8, 32, 8, 512, 4096, 128), func(p *problem.Attention) { p.Keys, p.PageSize, p.Causal = problem.Paged, 64, true })},
		{"one sequence, paged", with(attends(1, 32, 8, 1, 8192, 128), func(p *problem.Attention) { p.Keys, p.PageSize = problem.Paged, 64 })},
	} {
		in := meaningless(c.p)
		if c.p.Scaling == problem.PerPage { // any scales
			in.K.Scales, in.V.Scales = make([]float32, c.p.B*c.p.Hkv*c.p.Skv), make([]float32, c.p.B*c.p.Hkv*c.p.Skv)
		}
		in.Places = ref.NewPlaces(c.p, 1)
		b := newBench(t, card, in)
		configs := servingDivisions(c.p)
		keys := 0
		for _, n := range c.p.KeyLengths() {
			keys += n
		}
		traffic := 2 * keys * c.p.Hkv * c.p.D
		var candidates []timing.Candidate
		for _, config := range configs {
			k, err := New(c.p, config, ptx.SM90a)
			if err != nil {
				t.Fatal(err)
			}
			entry, launch := b.Only(k)
			one, err := timer.GraphReplay(t.Context(), timing.Launches(c.name, entry, int64(traffic), launch), timing.Warm, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer one.Close()
			candidates = append(candidates, one)
		}
		run, err := timing.Interleave(t.Context(), timing.Plan{WarmUp: 10 * time.Millisecond, Stop: timing.Stop{Least: 20, Most: 50, Time: time.Second}}, candidates...)
		if err != nil {
			t.Fatal(err)
		}
		for i, config := range configs {
			p50 := run.Summary(i).P50
			t.Logf("%-30s %-45v p50 %8.2f µs %7.0f GB/s", c.name, config, p50, float64(traffic)/p50/1e3)
		}
	}
}

// servingDivisions are the configurations that TestCardServingTimes compares.
func servingDivisions(p problem.Attention) (list []Config) {
	c, invariant := Default(p, h200), Invariant(p, h200)
	if rows(p) > mostRows {
		c, invariant = Prefill(p, h200), PrefillInvariant(p, h200)
	}
	eight, deep := c, c
	eight.Warps, eight.BlocksPerSM = 8, 1
	deep.Stages = 3
	for _, c := range []Config{c, eight, deep, invariant} {
		if c.Check(p, ptx.SM90a) == nil {
			list = append(list, c)
		}
	}
	return list
}

// timed are the configurations that TestCardTimes compares.
func timed(p problem.Attention) []Config {
	with := func(change func(*Config)) Config {
		c := Default(p, h200)
		change(&c)
		return c
	}
	return []Config{
		Default(p, h200), Decode(p, kernel.Chip{SharedPerSM: h200.SharedPerSM, SMs: 132}), Invariant(p, h200),
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
		attends(4, 32, 2, 1, 32768, 128), attends(128, 16, 1, 1, 1024, 128), attends(1, 32, 2, 1, 8192, 128), attends(1, 16, 1, 1, 131072, 128), // tiles full of rows
	} {
		b := newBench(t, card, meaningless(p))
		var candidates []timing.Candidate
		var names []string
		traffic := p.K().Len() + p.V().Len()
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
