package stats

import (
	"math"
	"slices"
	"sort"
)

// Summary describes a sample.
type Summary struct {
	N      int      `json:"n"`
	P50    float64  `json:"p50"`
	P90    float64  `json:"p90"`
	Mean   float64  `json:"mean"`
	Std    float64  `json:"std"` // the standard deviation of the sample, n-1 in the denominator; 0 for one value
	Min    float64  `json:"min"`
	Max    float64  `json:"max"`
	CV     float64  `json:"cv"`    // Std / Mean
	Drift  float64  `json:"drift"` // median of the last third divided by the median of the first third, minus 1
	Median Interval `json:"median_interval"`
}

// Interval is a confidence interval.
type Interval struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // achieved; for a small sample it may be less than requested
}

// Contains reports whether x is in the interval.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// Confidence is the default level of intervals.
const Confidence = 0.95

// Summarise describes the sample xs, whose values are in the order of measurement. An empty
// sample has the zero Summary.
func Summarise(xs []float64) Summary {
	if len(xs) == 0 {
		return Summary{}
	}
	sorted := ascending(xs)
	s := Summary{
		N: len(xs), P50: Quantile(sorted, 0.5), P90: Quantile(sorted, 0.9),
		Min: sorted[0], Max: sorted[len(sorted)-1],
		Drift: drift(xs), Median: medianInterval(sorted, Confidence),
	}
	s.Mean, s.Std = moments(xs)
	if s.Mean != 0 {
		s.CV = s.Std / s.Mean
	}
	return s
}

// ascending returns a sorted copy of xs.
func ascending(xs []float64) []float64 {
	xs = slices.Clone(xs)
	sort.Float64s(xs)
	return xs
}

// Quantile returns the q-quantile of sorted values, with linear interpolation between
// neighbours (Hyndman and Fan's type 7, the default of R and NumPy).
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := min(max(int(at), 0), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[j]-sorted[i])
}

// Median returns the median of xs, which need not be sorted.
func Median(xs []float64) float64 {
	return Quantile(ascending(xs), 0.5)
}

// MedianInterval returns a confidence interval for the median of the distribution from
// which xs was drawn. It makes no assumption about the distribution: the interval is the
// narrowest pair of order statistics around the middle that reaches the confidence. With
// five values or fewer no pair reaches 0.95. Then the interval is from the smallest to the
// largest value, and its Confidence is less.
func MedianInterval(xs []float64, confidence float64) Interval {
	return medianInterval(ascending(xs), confidence)
}

// medianInterval uses that the number of values below the median is binomial with
// probability one half: [x(k), x(n-1-k)] misses the median with twice the probability of k
// or fewer.
func medianInterval(sorted []float64, confidence float64) Interval {
	n := len(sorted)
	if n == 0 {
		return Interval{Low: math.NaN(), High: math.NaN()}
	}
	best := Interval{Low: sorted[0], High: sorted[n-1], Confidence: 1 - 2*binomial(n, 0)}
	for k, tail := 1, binomial(n, 0); k < n/2; k++ {
		tail += binomial(n, k)
		if 1-2*tail < confidence {
			break
		}
		best = Interval{Low: sorted[k], High: sorted[n-1-k], Confidence: 1 - 2*tail}
	}
	return best
}

// binomial returns the probability of k heads in n tosses.
func binomial(n, k int) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(lg(n) - lg(k) - lg(n-k) - float64(n)*math.Ln2)
}

func moments(xs []float64) (mean, std float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	if len(xs) < 2 {
		return mean, 0
	}
	for _, x := range xs {
		d := x - mean
		std += d * d
	}
	return mean, math.Sqrt(std / float64(len(xs)-1))
}

// drift compares the start and the end of a run. Clocks that fall during the run show in no
// other field of a summary.
func drift(xs []float64) float64 {
	third := len(xs) / 3
	if third == 0 {
		return 0
	}
	first := Median(xs[:third])
	if first == 0 {
		return 0
	}
	return Median(xs[len(xs)-third:])/first - 1
}
