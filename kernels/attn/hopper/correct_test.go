package hopper

import (
	"encoding/binary"
	"flag"
	"math"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

var (
	full    = flag.Bool("full", false, "the whole matrix of problems and configurations, which takes minutes")
	headDim = flag.Int("dim", 0, "the only head dimension of tests over many configurations; 0 tests several")
)

// variants returns the configurations under test: those that Choose may return, and one for
// each other way to compute.
func variants(d int) []Config {
	two := Config{Sharing: Sharing{Split: 1}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, BlocksPerSM: 1}}
	with := func(c Config, change func(*Config)) Config {
		change(&c)
		return c
	}
	summed := func(c *Config) { c.SumsInV = !c.SumsInV } // the other way
	maxima := func(c *Config) { c.TileMaxima = !c.TileMaxima }
	codes := func(every int) func(*Config) {
		return func(c *Config) { c.Codes, c.Polynomial = every, 0 }
	}
	if d > 128 {
		return wideVariants(d)
	}
	all := []Config{
		Throughput(d, 3), with(Throughput(d, 3), summed), two, Pair(), with(Pair(), summed), Latency(d), with(Latency(d), summed), with(Latency(d), func(c *Config) { c.Split = 2 }),
		with(Latency(d), func(c *Config) { c.TileN, c.Split, c.SumsInV = 64, 2, false }),
		with(two, func(c *Config) { c.TileN, c.Persistent, c.Stages, c.SumsInV = 192, true, 1, true }),
		with(two, func(c *Config) { c.Persistent, c.PingPong, c.TileMaxima, c.Polynomial, c.Stages = true, 64, true, 4, 3 }),
		with(Throughput(d, 3), maxima), with(Latency(d), maxima), with(SplitKeys(2), maxima),
		ManyItems(), with(ManyItems(), summed), with(Throughput(d, 3), func(c *Config) { c.Descriptors = true }),
		with(Latency(d), func(c *Config) { c.TileN, c.Persistent, c.Descriptors = 64, true, true }),
		SplitKeys(1), with(SplitKeys(1), summed), SplitKeys(2), with(SplitKeys(2), summed),
		balanced(Throughput(d, 3)), with(balanced(Throughput(d, 3)), summed), balanced(ManyItems()),
		with(Throughput(d, 3), codes(2)), with(Pair(), codes(4)), with(SplitKeys(1), codes(3)), with(Latency(d), codes(4)), with(balanced(Throughput(d, 3)), codes(2)),
	}
	if d == 64 { // Heads of 128 have no registers for these.
		all = append(all, Throughput(d, 4), with(Throughput(d, 4), summed), balanced(Throughput(d, 4)), TwoPairs(), with(TwoPairs(), summed), with(Throughput(d, 4), codes(3)), with(balanced(Throughput(d, 4)), codes(3)), with(TwoPairs(), codes(4)))
	}
	p := square(1, 1, leastCodesKeys, d, problem.E4M3)
	return slices.DeleteFunc(all, func(c Config) bool { return c.Check(p) != nil })
}

// testedDims returns the head dimensions of tests over many configurations: with -full all,
// with -dim that one, and otherwise one of each kind. [TestHeadDims] runs the others.
func testedDims() []int {
	switch {
	case *headDim > 0:
		return []int{*headDim}
	case *full:
		return headDims()
	}
	return []int{64, 128, 256}
}

// wideVariants returns the configurations under test for wide heads: those that Choose may
// return, and one for each other way to compute.
func wideVariants(d int) (all []Config) {
	with := func(c Config, change func(*Config)) {
		change(&c)
		all = append(all, c)
	}
	p := square(1, 1, 1, d, problem.E4M3)
	for _, c := range choices(problem.HeadDim{D: d}) {
		all = append(all, c.adapted(p))
	}
	for columns := 32; columns <= 128; columns *= 2 {
		with(WideHeads(), func(c *Config) { c.ProductColumns = columns })
	}
	for keys := 0; keys <= 96; keys += 32 {
		with(WideHeads(), func(c *Config) { c.PingPong = keys })
	}
	for keys := 0; keys <= 96; keys += 32 {
		with(WideHeads(), func(c *Config) { c.TileMaxima, c.PingPong = !c.TileMaxima, keys })
	}
	for codes := 2; codes <= 4; codes++ {
		with(WideHeads(), func(c *Config) { c.Codes, c.PingPong = codes, 64 })
	}
	with(balanced(WideHeads()), func(c *Config) { c.Codes = 2 })
	with(Pair(), func(c *Config) { c.SumsInV, c.ProductColumns, c.Codes = false, 64, 4 })
	return all
}

// mixed returns a problem of the given lengths. Its other features depend on turn.
func mixed(d, sq, skv, turn int) problem.Attention {
	p := problem.Attention{Shape: problem.Shape{B: 1 + turn/2%2, Hq: 2, Hkv: 2 - turn%2, Sq: sq, Skv: skv, D: d}, Format: problem.E4M3, LSE: turn%3 != 0, Causal: turn/3%2 == 0}
	if turn%5 == 4 {
		p.Format = problem.E5M2
	}
	if turn%4 == 3 {
		p.Output = problem.BF16
	}
	return p
}

// able returns the problem without the features that the configuration does not compute.
func (c Config) able(p problem.Attention) problem.Attention {
	p.LSE = p.LSE && !c.SumsInV && c.Codes == 0
	p.Causal = p.Causal && (!c.Balanced || p.Skv >= p.Sq)
	if c.Codes > 0 && p.Skv < fewestCodesKeys {
		p.Skv += fewestCodesKeys
	}
	return p
}

// judge compares a result with float64 over the same quantised inputs. The remaining errors
// are the rounding of P to e4m3, at most a sixteenth, and of O. Errors of single weights
// average out if there are many.
func judge(t testing.TB, in inputs, r result) *ref.Errors {
	t.Helper()
	want, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.For(in.P))
	if err != nil {
		t.Fatal(err)
	}
	e, err := want.Compare(r.Tensor(t), ref.CompareOptions{Tol: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if e.Max > 0.12 || e.RMSE > 0.016 {
		t.Errorf("%v: %v", in.P, e)
	}
	if r.LSE != nil {
		e, err := want.CompareLSE(r.LSE, ref.CompareOptions{Tol: 2e-3})
		if err != nil || e.Bad > 0 {
			t.Errorf("%v: lse %v, %v", in.P, e, err)
		}
	}
	return e
}

// TestLengths runs every variant on lengths around the tile sizes, with a mix of heads,
// grouped heads and causal masks.
func TestLengths(t *testing.T) {
	lengths := [][2]int{{1, 1}, {17, 17}, {63, 63}, {64, 64}, {65, 65}, {100, 129}, {127, 127}, {129, 100}, {200, 200}}
	if *full {
		lengths = append(lengths, [2]int{777, 777}, [2]int{1, 1000}, [2]int{300, 20})
	}
	turn := 0
	for _, d := range testedDims() {
		for _, c := range variants(d) {
			for i, n := range lengths {
				turn++
				if !*full && (i+turn/len(lengths))%5 != 0 {
					continue
				}
				p := c.able(mixed(d, n[0], n[1], turn))
				t.Run(c.String()+"/"+p.String(), func(t *testing.T) {
					in := generate(t, "normal", p, uint64(turn))
					b := newBench(t, emulator(t, 0, nil), in)
					b.SMs = 3
					judge(t, in, b.run(c))
				})
			}
		}
	}
}

// TestChoose: Choose returns a configuration that computes the problem.
func TestChoose(t *testing.T) {
	for _, d := range testedDims() {
		for _, lse := range []bool{false, true} {
			for _, heads := range []int{1, 8, 300, 70000} {
				for _, seq := range []int{1, 64, 257, 2048, 20000} {
					p := square(1, heads, seq, d, problem.E4M3)
					p.LSE = lse
					if err := Choose(p, 132).Check(p); err != nil {
						t.Errorf("%v: %v", p, err)
					}
				}
			}
		}
	}
	for name, want := range map[string]Config{"mission": SplitKeys(2), "mission256": SplitKeys(2), "long": TwoPairs().adapted(named(t, "long"))} {
		if got := Choose(named(t, name), 132); got != want {
			t.Errorf("%s takes %v, want %v", name, got, want)
		}
	}
}

// TestGroups has eight heads share one of K and V.
func TestGroups(t *testing.T) {
	for i, c := range []Config{Throughput(64, 4), SplitKeys(2), Throughput(128, 3)} {
		p := problem.Attention{Shape: problem.Shape{B: 2, Hq: 8, Hkv: 1, Sq: 70, Skv: 150, D: 64 << (i / 2)}, Format: problem.E4M3, Causal: i != 1}
		in := generate(t, "normal", p, 7)
		b := newBench(t, emulator(t, 0, nil), in)
		b.SMs = 5
		judge(t, in, b.run(c))
	}
}

// TestDistributions runs difficult inputs: weight on few keys, outliers, large and small
// logits.
func TestDistributions(t *testing.T) {
	for _, dist := range ref.Distributions() {
		for _, c := range []Config{Throughput(64, 4), SplitKeys(1)} {
			in := generate(t, dist.Name, square(1, 2, 150, 64, problem.E4M3), 3)
			r := newBench(t, emulator(t, 0, nil), in).run(c)
			holdsWeights(t, dist.Name, c, in, r)
		}
	}
}

// holdsWeights checks that the error of O is at most what rounding P to e4m3 causes: a weight
// is wrong by at most a sixteenth, or a twelfth if it is computed as a code. It returns the reference.
func holdsWeights(t *testing.T, dist string, c Config, in inputs, r result) *ref.Result {
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
	share := 1.0 / 16
	if c.Codes > 0 {
		share = 1.0 / 12
	}
	if limit := 0.02 + most*share; !(e.Max <= limit) {
		t.Errorf("%s, %v, %v: %v, at most %g is right", dist, c, in.P, e, limit)
	}
	return want
}

// rootMeanSquare returns a function that computes the error of a configuration against float64 over the same quantised
// inputs.
func rootMeanSquare(t *testing.T, in inputs) func(Config) float64 {
	t.Helper()
	want, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return func(c Config) float64 {
		e, err := want.Compare(newBench(t, emulator(t, 0, nil), in).run(c).Tensor(t), ref.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return e.RMSE
	}
}

// TestOwnMaxima: rounding P causes smaller errors with TileMaxima than without, and much
// smaller ones if a few outliers have all the weight.
func TestOwnMaxima(t *testing.T) {
	running := Throughput(64, 3)
	running.PingPong, running.TileMaxima = 0, false
	for dist, most := range map[string]float64{"normal": 0.95, "outliers": 0.7} {
		rmse := rootMeanSquare(t, generate(t, dist, square(1, 1, 1024, 64, problem.E4M3), 1))
		own, so := rmse(Throughput(64, 3)), rmse(running)
		t.Logf("%s: %.6f, and %.6f with the largest so far", dist, own, so)
		if own > most*so {
			t.Errorf("%s: %.6f, and %.6f with the largest so far: at most %g of it is right", dist, own, so, most)
		}
	}
}

// TestCodesAccuracy wants the error of normal inputs with codes, as many as the number of keys allows, to be at
// most that of running maxima with row sums before rounding, with 1 % for chance.
func TestCodesAccuracy(t *testing.T) {
	for d, design := range map[int]Config{64: Throughput(64, 3), 128: Throughput(128, 3), 256: WideHeads()} {
		running := design
		running.PingPong, running.TileMaxima, running.SumsInV, running.Polynomial = 0, false, false, 0
		for _, keys := range []int{leastCodesKeys, manyCodesKeys} {
			p := square(1, 1, keys, d, problem.E4M3)
			coded := design.adapted(p)
			if coded.Codes == 0 {
				t.Errorf("%v: %v has no codes", p, coded)
			}
			p.Sq = 512
			rmse := rootMeanSquare(t, generate(t, "normal", p, 0))
			plain := coded
			plain.Codes = 0
			got, most, without := rmse(coded), rmse(running), rmse(plain)
			t.Logf("%v: %.6f, without codes %.6f, with running maxima %.6f", p, got, without, most)
			if got > 1.01*most || got > 1.12*without {
				t.Errorf("%v: %.6f, without codes %.6f, with running maxima %.6f", p, got, without, most)
			}
		}
	}
}

// TestNaN: a NaN in any key gives NaN in every row that sees it, with and without codes.
func TestNaN(t *testing.T) {
	for key := range 64 {
		c, p := Throughput(64, 4), square(1, 1, 40, 64, problem.E4M3)
		if key%2 == 1 {
			c.Codes, p.Skv = 2, fewestCodesKeys
		}
		in := generate(t, "normal", p, 1)
		in.K.Data[key/2*64+5] = 0x7f
		r := newBench(t, emulator(t, 0, nil), in).run(c)
		for i := 0; i < len(r.O); i += 2 {
			if h := binary.LittleEndian.Uint16(r.O[i:]); h&0x7fff <= 0x7c00 {
				t.Fatalf("%v: key %d is NaN, element %d of O is not", c, key/2, i/2)
			}
		}
	}
}

// TestManyNaN has NaN in so many keys of a tile that all lanes of a row have one: the row's
// maximum is then NaN, and the exponentials of its other keys are meaningless. The kernel
// must still end, and every row be NaN.
func TestManyNaN(t *testing.T) {
	for _, d := range Designs()[1:] {
		p := square(1, 1, 256, 64, problem.E4M3)
		in := generate(t, "normal", p, 1)
		for key := range 8 {
			in.K.Data[key*64+5] = 0x7f
		}
		r := newBench(t, emulator(t, 0, nil), in).run(d.Config(p, 132))
		for i := 0; i < len(r.O); i += 2 {
			if h := binary.LittleEndian.Uint16(r.O[i:]); h&0x7fff <= 0x7c00 {
				t.Fatalf("%s: element %d of O is not NaN", d.Name, i/2)
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
		for i, d := range Designs()[1:] {
			p := square(1, 1, 400, 64, problem.E5M2)
			p.LSE, p.Causal = i%2 == 0, i%3 == 0
			c := d.Config(p, 132)
			p.Sq = c.rows() // whole tiles: the zeros after the last query would give NaN, 0·∞
			in := generate(t, "normal", p, 11)
			in.Hide(hidden)
			r := newBench(t, emulator(t, 0, nil), in).run(c)
			kerneltest.JudgeHidden(t, d.Name+", "+what, in, r, what == "all keys", 0.1)
		}
	}
}

// TestOriginalInputs: on the named shapes, the root mean square error against float64 over
// the inputs before quantisation is as small as FlashAttention-3's in FP8: 0.0038 and 0.0020,
// to two digits.
func TestOriginalInputs(t *testing.T) {
	for _, c := range []struct {
		shape string
		rmse  float64
		long  bool
	}{{"mission", 0.00385, false}, {"long", 0.00205, true}} {
		if c.long && !*full {
			continue
		}
		for _, config := range []Config{Throughput(64, 4), Choose(named(t, c.shape), 132)} {
			p := named(t, c.shape)
			in := generate(t, "normal", p, 0)
			r := newBench(t, emulator(t, 0, nil), in).run(config)
			o := in.Original
			want, err := ref.Attention(t.Context(), o.Q, o.K, o.V, ref.Options{})
			if err != nil {
				t.Fatal(err)
			}
			e, err := want.Compare(r.Tensor(t), ref.CompareOptions{Tol: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %v: rmse %.5f, max %.5f", c.shape, config, e.RMSE, e.Max)
			if e.RMSE > c.rmse {
				t.Errorf("%s, %v: rmse %.5f, at most %.5f is right", c.shape, config, e.RMSE, c.rmse)
			}
		}
	}
}
