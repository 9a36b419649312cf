package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSummarise(t *testing.T) {
	got := Summarise([]float64{4, 1, 3, 2, 10})
	want := Summary{N: 5, P50: 3, P90: 7.6, Mean: 4, Std: math.Sqrt(12.5), Min: 1, Max: 10}
	want.CV = want.Std / 4
	want.Drift = 10.0/4 - 1
	want.Median = Interval{1, 10, 1 - 2.0/32}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"p50", got.P50, want.P50}, {"p90", got.P90, want.P90}, {"mean", got.Mean, want.Mean}, {"std", got.Std, want.Std},
		{"min", got.Min, want.Min}, {"max", got.Max, want.Max}, {"cv", got.CV, want.CV}, {"drift", got.Drift, want.Drift},
		{"low", got.Median.Low, want.Median.Low}, {"high", got.Median.High, want.Median.High},
		{"confidence", got.Median.Confidence, want.Median.Confidence}, {"n", float64(got.N), 5},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-12) {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestSummariseFew(t *testing.T) {
	if got := Summarise(nil); got != (Summary{}) {
		t.Errorf("of nothing: %+v", got)
	}
	got := Summarise([]float64{7})
	if got.P50 != 7 || got.P90 != 7 || got.Std != 0 || got.Drift != 0 || got.Median.Confidence != 0 {
		t.Errorf("of one value: %+v", got)
	}
}

// TestCVAndDrift: both are ratios, and 0 where they would divide by 0.
func TestCVAndDrift(t *testing.T) {
	for _, c := range []struct {
		xs        []float64
		cv, drift float64
	}{
		{[]float64{0, 2}, math.Sqrt2, 0}, // mean 1
		{[]float64{-1, 1}, 0, 0},         // mean 0
		{[]float64{1, 1, 9, 9, 3, 5}, 0.7863634, 3},
		{[]float64{0, 1, 2}, 1, 0}, // the first third has the median 0
	} {
		if got := Summarise(c.xs); !near(got.CV, c.cv) || !near(got.Drift, c.drift) {
			t.Errorf("%v: CV %.7f and drift %g, want %.7f and %g", c.xs, got.CV, got.Drift, c.cv, c.drift)
		}
	}
}

// TestMedianInterval wants the table of order statistics: with 10 values the
// second and the ninth give 97.9 %, the third and the eighth 89.1 %.
func TestMedianInterval(t *testing.T) {
	xs := []float64{9, 0, 8, 1, 7, 2, 6, 3, 5, 4}
	if got := MedianInterval(xs, 0.95); got.Low != 1 || got.High != 8 || !(math.Abs(got.Confidence-0.978515625) <= 1e-9) {
		t.Errorf("95 %%: %+v", got)
	}
	if got := MedianInterval(xs, 0.85); got.Low != 2 || got.High != 7 {
		t.Errorf("85 %%: %+v", got)
	}
	exact := MedianInterval(xs, 0.95)
	if got := MedianInterval(xs, exact.Confidence); got != exact {
		t.Errorf("an interval that reaches exactly the confidence: %+v, want %+v", got, exact)
	}
	if got := MedianInterval(nil, 0.95); !math.IsNaN(got.Low) || !math.IsNaN(got.High) || got.Confidence != 0 {
		t.Errorf("no values: %+v", got)
	}
}

// TestStudent compares with published quantiles.
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		p    float64
		df   int
		want float64
	}{
		{0.975, 1, 12.7062}, {0.975, 2, 4.3027}, {0.975, 3, 3.1824}, {0.975, 4, 2.7764},
		{0.95, 10, 1.8125}, {0.995, 9, 3.2498}, {0.975, 120, 1.9799}, {0.025, 5, -2.5706},
	} {
		if got := student(c.p, c.df); !(math.Abs(got-c.want) <= 1e-4) {
			t.Errorf("t(%g, %d) = %.5f, want %.4f", c.p, c.df, got, c.want)
		}
	}
	if got := quantileNormal(0.975); !(math.Abs(got-1.959964) <= 1e-6) {
		t.Errorf("z(0.975) = %v", got)
	}
}

// process is a replicate of a true ratio: each process has its own luck, each
// sample its noise, with a tail that only goes up.
func process(r *rand.Rand, ratio, between float64, n int) Replicate {
	luck := math.Exp(between * r.NormFloat64())
	var rep Replicate
	for range n {
		rep.Old = append(rep.Old, 10*(1+0.02*r.ExpFloat64()))
		rep.New = append(rep.New, 10*ratio*luck*(1+0.02*r.ExpFloat64()))
	}
	return rep
}

func processes(r *rand.Rand, k int, ratio, between float64) (reps []Replicate) {
	for range k {
		reps = append(reps, process(r, ratio, between, 60))
	}
	return reps
}

func TestCompareFindsAnEffect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c, err := Compare(processes(r, 6, 0.9, 0.005), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Interval.Contains(0.9) || !c.Differs(0.05) {
		t.Errorf("a tenth faster: %+v", c)
	}
	if c.Differs(0.15) {
		t.Errorf("a tenth counts as 15 %%: %+v", c)
	}
	again, _ := Compare(processes(rand.New(rand.NewPCG(1, 2)), 6, 0.9, 0.005), Options{})
	if again.Interval != c.Interval {
		t.Error("the same samples and seed give another interval")
	}
}

// TestCoverage repeats experiments of no effect: the interval must hold 1 about as
// often as it says, and changes of the detectable size be found about as often as
// the power says.
func TestCoverage(t *testing.T) {
	const trials = 100
	for _, k := range []int{3, 5, 10} {
		r := rand.New(rand.NewPCG(uint64(k), 7))
		held, found, size := 0, 0, 0.0
		for range trials {
			c, err := Compare(processes(r, k, 1, 0.01), Options{Resamples: 300})
			if err != nil {
				t.Fatal(err)
			}
			if c.Interval.Contains(1) {
				held++
			}
			size += c.Detectable / trials
		}
		for range trials {
			c, _ := Compare(processes(r, k, 1+size, 0.01), Options{Resamples: 300})
			if !c.Interval.Contains(1) {
				found++
			}
		}
		t.Logf("%d processes: 1 held %d of %d times, a change of %.2f %% found %d times", k, held, trials, 100*size, found)
		if held < trials*88/100 {
			t.Errorf("%d processes: the interval held 1 only %d of %d times", k, held, trials)
		}
		if found < trials*60/100 {
			t.Errorf("%d processes: a change of %.2f %% was found only %d of %d times", k, 100*size, found, trials)
		}
	}
}

func TestCompareOneProcess(t *testing.T) {
	c, err := Compare([]Replicate{process(rand.New(rand.NewPCG(3, 3)), 1.2, 0, 100)}, Options{})
	if err != nil || !c.Interval.Contains(1.2) || c.Replicates != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCompareRefuses(t *testing.T) {
	good := Replicate{Old: []float64{1, 2}, New: []float64{1, 2}}
	for _, reps := range [][]Replicate{
		nil,
		{{Old: []float64{1, 2}}},
		{{New: []float64{1, 2}}},
		{good, {Old: []float64{1, 0}, New: []float64{1, 1}}},
		{{Old: []float64{1}, New: []float64{math.NaN()}}},
		{{Old: []float64{1}, New: []float64{math.Inf(1)}}},
	} {
		if c, err := Compare(reps, Options{}); err == nil {
			t.Errorf("%v: accepted as %+v", reps, c)
		}
	}
	if _, err := Compare([]Replicate{good}, Options{Confidence: 95}); err == nil {
		t.Error("a confidence of 95 is accepted")
	}
}
