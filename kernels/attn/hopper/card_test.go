package hopper

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/nvml"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestCardBits compares every bit of GPU and emulator, and of repeated runs on the GPU.
func TestCardBits(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	turn := 0
	for _, d := range testedDims() {
		for _, c := range variants(d) {
			if !regexp.MustCompile(*configs).MatchString(c.String()) {
				continue
			}
			for _, n := range [][2]int{{1, 1}, {65, 200}, {100, 777}} {
				turn++
				p := c.able(mixed(d, n[0], n[1], turn))
				in := generate(t, "normal", p, uint64(turn))
				b := newBench(t, card, in)
				got, want := b.run(c), newBench(t, emulator(t, 0, nil), in).run(c)
				if !got.Same(want) {
					t.Errorf("%v, %v: the card's bits are not the emulator's", c, p)
					judge(t, in, got)
				}
				kernel, launch := b.load(c)
				for range 20 {
					if err := kernel.Launch(t.Context(), launch); err != nil {
						t.Fatal(err)
					}
					if again := b.Read(); !again.Same(got) {
						t.Errorf("%v, %v gives other bits when run again", c, p)
						break
					}
				}
			}
		}
	}
}

// TestCardLong compares long sequences with float64, a few rows of each head.
func TestCardLong(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	for _, dist := range []string{"normal", "outliers"} {
		for _, d := range testedDims() {
			for _, s := range []int{2048, 20000} {
				p := square(1, 2, s, d, problem.E4M3)
				in := generate(t, dist, p, 5)
				var rows []ref.Row
				for i := range 40 {
					rows = append(rows, ref.Row{H: i % 2, S: i * (s - 1) / 39})
				}
				want, err := ref.Attention(t.Context(), in.Original.Q, in.Original.K, in.Original.V, ref.Options{Rows: rows})
				if err != nil {
					t.Fatal(err)
				}
				c := Choose(p, card.Info().SMs)
				e, err := want.Compare(newBench(t, card, in).run(c).Tensor(t), ref.CompareOptions{Tol: 0.1})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s, %v: %v", dist, p, e)
			}
		}
	}
}

// random returns inputs whose bytes are quantised normal numbers. It is faster than generate.
func random(p problem.Attention) inputs {
	codec, _ := p.Format.FP8()
	values := make([]byte, 1<<16)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = codec.EncodeSatfinite(r.NormFloat64() * 448 / 4.8)
	}
	tensor := func(heads, seq int) *fp8.Tensor {
		x := &fp8.Tensor{Format: codec, Shape: fp8.Dims{B: p.B, H: heads, S: seq, D: p.D}}
		x.Data = make([]byte, x.Shape.Len())
		for i := 0; i < len(x.Data); i += 4 {
			w := r.Uint64()
			for e := range min(4, len(x.Data)-i) {
				x.Data[i+e] = values[uint16(w>>(16*e))]
			}
		}
		x.Scales = make([]float32, heads)
		for i := range x.Scales {
			x.Scales[i] = 4.8 / 448
		}
		return x
	}
	q := &ref.Quantised{Shape: p.Shape, Q: tensor(p.Hq, p.Sq), K: tensor(p.Hkv, p.Skv), V: tensor(p.Hkv, p.Skv)}
	return inputs{P: p, Quantised: q}
}

var (
	shapes  = flag.String("shapes", "", "a regular expression of the names of shapes that TestCardTimes times; all without it")
	configs = flag.String("configs", "", "a regular expression of the configurations that tests on the GPU run; all without it")
)

// TestCardTimes times configurations, interleaved, in a replayed graph with warm caches. It
// writes every sample to the file HOPPER_OUT, if set.
func TestCardTimes(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	all := selected(t, candidates())
	compileAll(card, all)
	timeAll(t, card, all, timing.Plan{WarmUp: 5 * time.Millisecond, Stop: timing.Stop{Least: 10, Most: 20, Time: 600 * time.Millisecond}}, 0)
}

// selected returns the candidates that -shapes and -configs name. Each configuration is as adapted to
// the problem, and is there once.
func selected(t *testing.T, all []candidate) (kept []candidate) {
	t.Helper()
	wanted, err := regexp.Compile(*shapes)
	if err != nil {
		t.Fatal(err)
	}
	named, err := regexp.Compile(*configs)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		var list []Config
		for _, c := range x.configs {
			c = c.adapted(x.p)
			if c.Check(x.p) == nil && !slices.Contains(list, c) && named.MatchString(c.String()) {
				list = append(list, c)
			}
		}
		if x.configs = list; len(list) > 0 && wanted.MatchString(x.name) {
			kept = append(kept, x)
		}
	}
	return kept
}

// timeAll times the configurations of each candidate, interleaved, and logs a table for each. It begins no
// candidate after the limit, if that is not 0. It writes every sample to the file HOPPER_OUT, if set, and
// returns the runs by the names of the candidates.
func timeAll(t *testing.T, card device.Device, all []candidate, plan timing.Plan, limit time.Duration) map[string]*timing.Run {
	t.Helper()
	start := time.Now()
	timer, err := timing.New(card)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	if gpu, err := nvml.Open(card.Info().UUID); err == nil {
		plan.Sensor = gpu
	}
	runs := map[string]*timing.Run{}
	for i, x := range all {
		if limit > 0 && time.Since(start) > limit {
			t.Logf("the time is over: %d of %d problems are not timed", len(all)-i, len(all))
			break
		}
		t.Run(x.name, func(t *testing.T) { // which frees the memory at its end
			if runs[x.name] = timeOne(t, card, timer, x, plan); t.Failed() {
				delete(runs, x.name)
			}
		})
	}
	if path := os.Getenv("HOPPER_OUT"); path != "" {
		text, err := json.Marshal(runs)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return runs
}

// timeOne times the configurations of one candidate.
func timeOne(t *testing.T, card device.Device, timer *timing.Timer, x candidate, plan timing.Plan) *timing.Run {
	t.Helper()
	b := newBench(t, card, random(x.p))
	var timed []timing.Candidate
	for _, c := range x.configs {
		kernel, launch := b.load(c)
		w, err := timer.GraphReplay(t.Context(), timing.Launches(c.String(), kernel, 0, launch), timing.Warm, 0)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		defer w.Close()
		timed = append(timed, w)
	}
	run, err := timing.Interleave(t.Context(), plan, timed...)
	if err != nil {
		t.Fatal(err)
	}
	p := x.p
	flop := 4 * float64(p.B*p.Hq) * float64(p.Sq) * float64(p.Skv) * float64(p.D)
	if p.Causal {
		flop /= 2
	}
	low, high := run.Clocks()
	t.Logf("%s %v, graph, warm, %d to %d MHz:", x.name, p, low, high)
	for i, w := range timed {
		s := run.Summary(i)
		t.Logf("  %-88s p50 %9.2f µs  p90 %9.2f  %7.1f TFLOP/s", w.Name(), s.P50, s.P90, flop/s.P50/1e6)
	}
	return run
}

// compileAll compiles the kernels of all candidates.
func compileAll(card device.Device, all []candidate) {
	texts := map[string]bool{}
	for _, x := range all {
		for _, c := range x.configs {
			if k, err := New(x.p, c.adapted(x.p)); err == nil {
				texts[k.PTX] = true
			}
		}
	}
	kerneltest.CompileAll(card, slices.Collect(maps.Keys(texts)))
}

// TestCardProfile launches the configurations that -shapes and -configs name once each,
// for a profiler.
func TestCardProfile(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	wanted, configs := regexp.MustCompile(*shapes), regexp.MustCompile(*configs)
	for _, x := range candidates() {
		if !wanted.MatchString(x.name) {
			continue
		}
		b := newBench(t, card, random(x.p))
		for _, c := range x.configs {
			if !configs.MatchString(c.String()) || c.Check(x.p) != nil {
				continue
			}
			t.Logf("%s: %v", x.name, c)
			kernel, launch := b.load(c)
			if err := kernel.Launch(t.Context(), launch); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// candidate is a problem and the configurations to time on it.
type candidate struct {
	name    string
	p       problem.Attention
	configs []Config
}

// candidates returns the shapes of the published results and many between them. Each has the
// configuration that Choose returns, and then the ones that Choose compared it with.
func candidates() (all []candidate) {
	const sms = 132
	for _, d := range []int{64, 128, 256} {
		configs := configurations(d)
		add := func(name string, p problem.Attention) {
			all = append(all, candidate{fmt.Sprintf("%s, D = %d", name, d), p, append([]Config{Choose(p, sms)}, configs...)})
		}
		add("mission", square(1, 8, 512, d, problem.E4M3))
		add("mission256", square(2, 8, 256, d, problem.E4M3))
		add("long", square(1, 8, 2048, d, problem.E4M3))
		for _, s := range [][3]int{
			{1, 8, 128}, {1, 8, 384}, {1, 8, 777}, {1, 8, 1024}, {1, 8, 1536}, {1, 8, 3000}, {1, 8, 4096},
			{1, 1, 1024}, {1, 1, 4096}, {1, 1, 16384}, {1, 2, 3000}, {1, 3, 2048}, {1, 4, 512},
			{2, 8, 512}, {2, 16, 384}, {2, 16, 1024}, {4, 16, 512}, {4, 32, 777}, {8, 32, 1536},
			{32, 16, 128}, {16, 32, 256}, {8, 32, 512}, {64, 8, 64}, {4, 32, 300}, {2, 32, 200}, {128, 4, 96}, {4, 16, 1000},
			{1, 13, 4371}, {1, 2, 13824}, {1, 4, 16384}, {1, 24, 4250}, {3, 7, 2500}, {1, 5, 9000}, {2, 20, 3333},
		} {
			add(fmt.Sprintf("%d,%d,%d", s[0], s[1], s[2]), square(s[0], s[1], s[2], d, problem.E4M3))
		}
		big := square(4, 2048/d, 4096, d, problem.E4M3)
		add("big", big)
		for name, p := range map[string]problem.Attention{"big": big, "1,8,1024": square(1, 8, 1024, d, problem.E4M3), "1,8,4096": square(1, 8, 4096, d, problem.E4M3), "2,16,2048": square(2, 16, 2048, d, problem.E4M3), "16,32,256": square(16, 32, 256, d, problem.E4M3), "4,32,300": square(4, 32, 300, d, problem.E4M3),
			"1,1,16384": square(1, 1, 16384, d, problem.E4M3), "1,2,9000": square(1, 2, 9000, d, problem.E4M3), "1,5,4371": square(1, 5, 4371, d, problem.E4M3), "1,3,20000": square(1, 3, 20000, d, problem.E4M3)} {
			p.Causal = true
			add(name+" causal", p)
		}
		huge := square(2, 2048/d, 16384, d, problem.E4M3)
		add("huge", huge)
		huge.Causal = true
		add("huge causal", huge)
	}
	return all
}

// configurations returns the configuration that [Choose] returns, and its neighbours.
func configurations(d int) []Config {
	with := func(c Config, change func(*Config)) Config {
		change(&c)
		return c
	}
	var all []Config
	if d <= 128 {
		all = append(all, with(SplitKeys(1), func(c *Config) { c.TileN = 64 }), balanced(ManyItems()))
	}
	for _, c := range choices(problem.HeadDim{D: d}) {
		all = append(all, c.Config)
	}
	if d == 64 {
		soon := func(c *Config) { c.PingPong = 32 }
		all = append(all, with(TwoPairs(), func(c *Config) { c.Polynomial = 0 }), with(TwoPairs(), soon), with(Throughput(d, 4), soon))
	}
	return all
}
