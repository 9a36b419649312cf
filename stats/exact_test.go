package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// near reports whether two numbers are equal to a relative 1e-6. NaN is near nothing.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-6*max(1, math.Abs(want)) }

// TestNormal compares with published values.
func TestNormal(t *testing.T) {
	for _, c := range []struct{ x, p float64 }{{0, 0.5}, {1, 0.8413447}, {-1.9599640, 0.025}, {-3, 0.0013499}} {
		if got := normal(c.x); !near(got, c.p) {
			t.Errorf("the probability of at most %g is %.7f, want %.7f", c.x, got, c.p)
		}
		if got := quantileNormal(c.p); !(math.Abs(got-c.x) <= 1e-4) {
			t.Errorf("the %.7f-quantile is %.5f, want %.5f", c.p, got, c.x)
		}
	}
	if got := student(0.5, 3); !near(got, 0) {
		t.Errorf("the median of Student's t is %g", got)
	}
}

// TestCompareInterval: the interval of five replicates is between the quantiles of the bootstrap
// that a t of four degrees of freedom gives, and one replicate has the plain quantiles.
func TestCompareInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		replicates int
		tail       float64
	}{
		{1, 0.025},
		{2, 0},           // normal(-sqrt(2)·12.7062047) is below 1e-70
		{5, 0.000954105}, // normal(-sqrt(5/4)·2.7764451)
	} {
		reps := processes(r, c.replicates, 1.1, 0.01)
		opt := Options{}.orDefaults()
		got, err := Compare(reps, Options{})
		if err != nil {
			t.Fatal(err)
		}
		boot := bootstrap(reps, opt)
		low, high := math.Exp(Quantile(boot, c.tail)), math.Exp(Quantile(boot, 1-c.tail))
		if !near(got.Interval.Low, low) || !near(got.Interval.High, high) {
			t.Errorf("%d replicates: %.6f to %.6f, want %.6f to %.6f", c.replicates, got.Interval.Low, got.Interval.High, low, high)
		}
		if !near(got.Detectable, detectable(boot, c.replicates, opt)) {
			t.Errorf("%d replicates: %g is detectable", c.replicates, got.Detectable)
		}
	}
}

// TestDetectable: the smallest change is the sum of two quantiles times the spread, which is
// corrected for few replicates.
func TestDetectable(t *testing.T) {
	boot := []float64{-0.01, 0.01}
	spread := 0.01 * math.Sqrt2
	opt := Options{Confidence: 0.95, Power: 0.8}
	for n, want := range map[int]float64{
		1: (1.9599640 + 0.8416212) * spread,
		2: (12.7062047 + 1.3763819) * spread * math.Sqrt2,
		5: (2.7764451 + 0.9409646) * spread * math.Sqrt(1.25),
	} {
		if got := detectable(boot, n, opt); !near(got, math.Expm1(want)) {
			t.Errorf("%d replicates: %.8f, want %.8f", n, got, math.Expm1(want))
		}
	}
}

// TestDefaults wants the defaults that the fields of Options name.
func TestDefaults(t *testing.T) {
	if got, want := (Options{Seed: 7}).orDefaults(), (Options{Confidence: 0.95, Power: 0.8, Resamples: 2000, Seed: 7}); got != want {
		t.Errorf("the defaults are %+v, want %+v", got, want)
	}
}

// TestResample: runs of neighbours are drawn, as many values as there are, and the median counts
// values that were drawn twice.
func TestResample(t *testing.T) {
	d := drawer{r: rand.New(rand.NewPCG(1, 1))}
	for _, n := range []int{1, 2, 27, 28, 30} {
		d.draw(n)
		if len(d.indices) != n {
			t.Fatalf("%d indices of %d", len(d.indices), n)
		}
		run := max(1, int(math.Cbrt(float64(n))))
		for i, at := range d.indices {
			if i%run > 0 && at != (d.indices[i-1]+1)%n {
				t.Fatalf("%d values, runs of %d: %v", n, run, d.indices)
			}
		}
	}
	for _, c := range []struct {
		xs      []float64
		indices []int
		want    float64
	}{
		{[]float64{4, 1, 3, 2}, []int{0, 1, 2, 3}, 2.5},
		{[]float64{4, 1, 3, 2}, []int{0, 0, 1, 1}, 2.5},
		{[]float64{4, 1, 3, 2}, []int{0, 0, 0, 1}, 4},
		{[]float64{4, 1, 3, 2}, []int{3, 2, 1, 1}, 1.5},
		{[]float64{5, 1, 3}, []int{0, 1, 2}, 3},
		{[]float64{5, 1, 3}, []int{0, 0, 1}, 5},
		{[]float64{5, 1, 3, 2, 4}, []int{0, 1, 2, 3, 4}, 3},
	} {
		d.indices = c.indices
		if got := d.median(rank(c.xs)); got != c.want {
			t.Errorf("the median of %v of %v is %g, want %g", c.indices, c.xs, got, c.want)
		}
	}
	for _, sides := range [][2][]float64{{{1}, {2, 2, 2}}, {{1, 1, 1}, {2}}} {
		if got := d.logRatio([2]ranked{rank(sides[0]), rank(sides[1])}); got != math.Ln2 {
			t.Errorf("sides of different lengths: the log ratio of %v is %g, want %g", sides, got, math.Ln2)
		}
	}
}

// TestEdges: the ends of an interval belong to it, and the options have limits.
func TestEdges(t *testing.T) {
	i := Interval{Low: 1, High: 2}
	if !i.Contains(1) || !i.Contains(2) || i.Contains(0.999) || i.Contains(2.001) {
		t.Error("the ends of an interval belong to it, and nothing beyond")
	}
	sorted := []float64{1, 2, 4}
	if Quantile(sorted, 1) != 4 || Quantile(sorted, 2) != 4 || Quantile(sorted, 0) != 1 || Quantile(sorted, 0.75) != 3 || Quantile([]float64{0, 1, 3, 7}, 0.5) != 2 {
		t.Error("quantiles at the ends")
	}
	for n, want := range map[int]Interval{4: {Low: 1, High: 2}, 5: {Low: 1, High: 3}, 2: {Low: 0, High: 1}} {
		if got := MedianInterval([]float64{0, 1, 2, 3, 4}[:n], 0); got.Low != want.Low || got.High != want.High {
			t.Errorf("the narrowest pair of %d values is %g to %g, want %g to %g", n, got.Low, got.High, want.Low, want.High)
		}
	}
	good := []Replicate{{Old: []float64{1, 2}, New: []float64{1, 2}}}
	for _, c := range []struct {
		opt Options
		ok  bool
	}{
		{Options{Confidence: 0.5, Power: 0.5, Resamples: 2}, true},
		{Options{Confidence: 1}, false}, {Options{Power: 1}, false}, {Options{Confidence: -1}, false},
		{Options{Confidence: math.NaN()}, false}, {Options{Power: math.NaN()}, false}, {Options{Power: -1}, false}, {Options{Resamples: 1}, false}, {Options{Resamples: -3}, false},
	} {
		if _, err := Compare(good, c.opt); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.opt, err)
		}
	}
	if c := (Comparison{Ratio: 2, Interval: Interval{Low: 1.9, High: 2.1}}); !c.Differs(1) {
		t.Error("twice the time must differ by 1: the smallest change that matters does matter")
	}
	for _, ratio := range []float64{1.1, 1 / 1.1} {
		c := Comparison{Ratio: ratio, Interval: Interval{Low: ratio - 0.05, High: ratio + 0.05}}
		if !c.Differs(0.1) || !c.Differs(0.09) || c.Differs(0.11) {
			t.Errorf("a ratio of %g must differ by 0.1, and not by 0.11", ratio)
		}
		c.Interval.Low, c.Interval.High = min(c.Interval.Low, 1), max(c.Interval.High, 1)
		if c.Differs(0.01) {
			t.Errorf("a ratio whose interval holds 1 differs: %+v", c)
		}
	}
}
