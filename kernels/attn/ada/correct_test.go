package ada

import (
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

var full = flag.Bool("full", false, "many more random problems, under every checker, which takes minutes")

// variants returns the configurations under test: the designs, the designs with products in f16,
// and one for each other way to compute.
func variants(d int) (list []Config) {
	p := square(1, 8, 512, d, problem.E4M3)
	for _, c := range []Config{
		Throughput(d, false), Throughput(d, true), Latency(p, l4SMs, false), Latency(p, l4SMs, true), Latency(square(1, 2, 300, d, problem.E4M3), l4SMs, false),
		{Rows: 32, TileN: 32, Shares: 1, Stages: 2, BlocksPerSM: 1}, {Rows: 48, TileN: 96, Shares: 1, Stages: 2, BlocksPerSM: 1},
		{Rows: 32, TileN: 32, Shares: 2, Stages: 4, BlocksPerSM: 1}, {Rows: 48, TileN: 32, Shares: 4, Stages: 2, BlocksPerSM: 1},
		{Rows: 32, TileN: 64, Shares: 1, Stages: 3, BlocksPerSM: 1, Ahead: true},
		{Rows: 80, TileN: 32, Shares: 4, Stages: 4, BlocksPerSM: 1, Whole: true}, {Rows: 32, TileN: 64, Shares: 2, Stages: 2, BlocksPerSM: 1, Whole: true},
		{Rows: 32, TileN: 32, Shares: 2, Stages: 3, BlocksPerSM: 1, Whole: true}, {Rows: 16, TileN: 64, Shares: 4, Stages: 1, BlocksPerSM: 1, Whole: true},
	} {
		p := c.fit(p)
		if c.Check(p) == nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
		if c.Widen = true; len(list) > 5 && c.Check(p) == nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// fit returns a problem that has no more keys than a configuration takes.
func (c Config) fit(p problem.Attention) problem.Attention {
	if c.Whole {
		p.Skv = min(p.Skv, c.Stages*c.roundKeys())
	}
	return p
}

// lengths are at the edges of tiles and next to them.
var lengths = []int{1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 79, 80, 81, 95, 96, 97, 127, 128, 129, 160, 191, 192, 193, 255, 256, 257, 300}

// randomProblem returns a problem with random features and lengths near the edges of tiles.
func randomProblem(r *rand.Rand, d int) problem.Attention {
	length := func() int { return lengths[r.IntN(len(lengths))] }
	hkv := 1 + r.IntN(2)
	p := problem.Attention{Shape: problem.Shape{B: 1 + r.IntN(2), Hq: hkv * []int{1, 1, 2, 3, 8}[r.IntN(5)], Hkv: hkv, Sq: length(), Skv: length(), D: d}}
	if r.IntN(2) == 0 {
		p.Skv = p.Sq
	}
	pick := func(n int) bool { return r.IntN(n) == 0 }
	p.Causal, p.LSE = pick(2), pick(2)
	if pick(3) {
		p.Format = problem.E5M2
	}
	if pick(3) {
		p.Output = problem.BF16
	}
	if pick(4) {
		p.Scaling = problem.PerTensor
	}
	if pick(5) {
		p.Scale = 0.3
	}
	return p.Filled()
}

// judge compares a result with float64 over the same quantised inputs. The remaining errors are
// the rounding of P and of O. Errors of single weights average out if there are many.
func judge(t testing.TB, c Config, in inputs, r result) {
	t.Helper()
	want, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.For(in.P))
	if err != nil {
		t.Fatal(err)
	}
	e, err := want.Compare(r.Tensor(t), ref.CompareOptions{Tol: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	most, rmse := 0.12, 0.016
	if c.Widen { // P is f16
		most, rmse = 0.02, 0.003
	}
	if e.Max > most || e.RMSE > rmse {
		t.Errorf("%v, %v: %v", c, in.P, e)
	}
	if r.LSE != nil {
		// Sums of FP8 products keep 14 bits, so a logit is off by up to a thousandth of the largest.
		largest := 0.0
		for _, x := range want.LSE {
			if !math.IsInf(x, 0) {
				largest = max(largest, math.Abs(x))
			}
		}
		e, err := want.CompareLSE(r.LSE, ref.CompareOptions{Tol: 2e-3 + largest/1024})
		if err != nil || e.Bad > 0 {
			t.Errorf("%v, %v: lse %v, %v", c, in.P, e, err)
		}
	}
}

// TestRandomProblems runs every variant on random problems. Some runs are under every checker;
// all of them with -full.
func TestRandomProblems(t *testing.T) {
	rounds := 1
	if *full {
		rounds = 40
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range headDims {
		for n, c := range variants(d) {
			if !*full && (n+d/32)%2 != 0 {
				continue
			}
			for range rounds {
				p := c.fit(randomProblem(r, d))
				if p.Hq*p.B*p.Sq*p.Skv*d > 1<<20 && !*full {
					p.B, p.Hq = 1, p.Hkv // keeps the test short
				}
				var checker *check.Checker
				var watch observe.Observer
				if n%4 == 0 || *full {
					checker = check.New()
					watch = checker
				}
				in := generate(t, "normal", p, r.Uint64())
				judge(t, c, in, newBench(t, emulator(t, c, r.Uint64N(4), watch), in).run(c))
				if checker == nil {
					continue
				}
				for _, defect := range checker.Findings() {
					t.Errorf("%v, %v: %v", c, p, defect)
				}
			}
		}
	}
}

// TestRandomChoices runs what Choose returns for random problems, on an emulated L4 with FP8 products and
// on sm_80 with products in f16.
func TestRandomChoices(t *testing.T) {
	rounds := 4
	if *full {
		rounds = 100
	}
	r := rand.New(rand.NewPCG(5, 6))
	for n := range rounds {
		for i, d := range headDims {
			p, widen := randomProblem(r, d), (n+i)%2 == 0
			if p.Hq*p.B*p.Sq*p.Skv*d > 1<<20 && !*full {
				p.B, p.Hq = 1, p.Hkv // keeps the test short
			}
			c := Choose(p, []int{l4SMs, 1, 8}[r.IntN(3)], widen)
			checker := check.New()
			in := generate(t, "normal", p, r.Uint64())
			judge(t, c, in, newBench(t, emulator(t, c, r.Uint64N(4), checker), in).run(c))
			for _, defect := range checker.Findings() {
				t.Errorf("%v, %v: %v", c, p, defect)
			}
		}
	}
}

// TestDistributions runs difficult inputs: weight on few keys, outliers, large and small logits. The
// error of O is at most what rounding P causes: a weight is wrong by at most a sixteenth.
func TestDistributions(t *testing.T) {
	for i, dist := range ref.Distributions() {
		for j, d := range headDims {
			if !*full && j != i%len(headDims) {
				continue
			}
			all := variants(d)
			for n, c := range all {
				if !*full && n != (i+j)%len(all) {
					continue
				}
				in := generate(t, dist.Name, c.fit(square(1, 1, 150, d, problem.E4M3)), 3)
				holdsWeights(t, dist.Name, c, in, compute(t, c, in))
			}
		}
	}
}

func holdsWeights(t *testing.T, dist string, c Config, in inputs, r result) {
	t.Helper()
	want, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.For(in.P))
	if err != nil {
		t.Fatal(err)
	}
	most := 0.0
	for _, x := range want.O {
		most = max(most, math.Abs(x))
	}
	e, err := want.Compare(r.Tensor(t), ref.CompareOptions{Tol: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if limit := 0.02 + most/16; !(e.Max <= limit) {
		t.Errorf("%s, %v, %v: %v, at most %g is right", dist, c, in.P, e, limit)
	}
}

// TestNaN: a NaN in a key gives NaN in every row that sees it, also if every lane of a row has
// one.
func TestNaN(t *testing.T) {
	for _, f := range []problem.Format{problem.E4M3, problem.E5M2} {
		for i, c := range variants(64) {
			if !*full && (i%2 == 0) == (f == problem.E5M2) {
				continue
			}
			p := square(1, 1, 40, 64, f)
			for _, keys := range [][2]int{{7 * i % 40, 7*i%40 + 1}, {8, 24}} {
				in := generate(t, "normal", p, 1)
				for key := keys[0]; key < keys[1]; key++ {
					in.K.Data[key*64+5] = 0x7f
				}
				r := compute(t, c, in)
				for i := 0; i < len(r.O); i += 2 {
					if h := binary.LittleEndian.Uint16(r.O[i:]); h&0x7fff <= 0x7c00 {
						t.Fatalf("%v, %s: keys %v are NaN, element %d of O is not", c, f, keys, i/2)
					}
				}
			}
		}
	}
}

// TestMinusInfinity has keys whose score is -∞ for every query. They count as little as masked
// keys. If all scores of a row are -∞, its output is 0 and its LSE -∞, as in the reference.
func TestMinusInfinity(t *testing.T) {
	for what, hidden := range map[string]func(key int) bool{
		"all keys":   func(int) bool { return true },
		"first keys": func(key int) bool { return key < 200 },
		"last keys":  func(key int) bool { return key >= 200 },
	} {
		for i, c := range variants(64) {
			if !*full && i%3 != len(what)%3 {
				continue
			}
			p := c.fit(square(1, 1, 300, 64, problem.E5M2))
			p.LSE, p.Causal = i%2 == 0, i%3 == 0
			p.Sq = c.Rows // whole tiles: the zeros after the last query would give NaN, 0·∞
			in := generate(t, "normal", p, 11)
			in.Hide(hidden)
			kerneltest.JudgeHidden(t, c.String()+", "+what, in, compute(t, c, in), what == "all keys", 0.1)
		}
	}
}

// TestScales: scales may have any sign, and 0 gives all keys the same weight.
func TestScales(t *testing.T) {
	for _, s := range []float32{-1, 0} {
		for i, c := range variants(64) {
			if !*full && i%2 != 0 {
				continue
			}
			in := generate(t, "normal", square(1, 1, 40, 64, problem.E4M3), 5)
			for _, x := range []*fp8.Tensor{in.Q, in.V} {
				for h := range x.Scales {
					x.Scales[h] *= s
				}
			}
			if s == 0 {
				in.V.Scales[0] = 1
			}
			holdsWeights(t, "scales", c, in, compute(t, c, in))
		}
	}
}

// TestFarApart has logits that rise and fall by hundreds from tile to tile. The reference of the
// sums changes, and no sum may overflow or vanish.
func TestFarApart(t *testing.T) {
	const n, d = 300, 64
	for name, logit := range map[string]func(key float64) float64{
		"rising":  func(key float64) float64 { return 960*key/n - 480 },
		"falling": func(key float64) float64 { return 480 - 960*key/n },
		"waves":   func(key float64) float64 { return key / n * 480 * math.Cos(key/64*math.Pi) },
	} {
		for i, c := range variants(d) {
			if !*full && i%3 != len(name)%3 {
				continue
			}
			p := c.fit(square(1, 1, n, d, problem.E4M3))
			p.Sq = 20
			in := generate(t, "normal", p, 1)
			for k := range p.Skv {
				x := logit(float64(k)) / math.Sqrt(d) // of a query of ones
				for e := range d {
					in.K.Data[k*d+e] = fp8.E4M3.EncodeSatfinite(x)
				}
			}
			for e := range in.Q.Data {
				in.Q.Data[e] = fp8.E4M3.EncodeSatfinite(1)
			}
			in.Q.Scales[0], in.K.Scales[0] = 1, 1
			holdsWeights(t, name, c, in, compute(t, c, in))
		}
	}
}

// TestOriginalInputs: on the mission shape, the root mean square error against float64 over the
// inputs before quantisation is as small as FlashAttention-3's in FP8.
func TestOriginalInputs(t *testing.T) {
	p := named(t, "mission")
	in := generate(t, "normal", p, 0)
	o := in.Original
	want, err := ref.Attention(t.Context(), o.Q, o.K, o.V, ref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{Throughput(64, false), Choose(p, l4SMs, false)} {
		e, err := want.Compare(compute(t, c, in).Tensor(t), ref.CompareOptions{Tol: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: rmse %.5f, max %.5f", c, e.RMSE, e.Max)
		if e.RMSE > 0.00385 {
			t.Errorf("%v: rmse %.5f, at most 0.00385 is right", c, e.RMSE)
		}
	}
}
