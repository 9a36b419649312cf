package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Replicate holds the times of two kernels that one process measured side by side.
type Replicate struct {
	Old, New []float64 // times in the order of measurement; if the lengths are equal, Old[i] and New[i] were neighbours
}

// Options are the settings of a comparison. The zero value selects the defaults.
type Options struct {
	Confidence float64 // 0 selects 0.95
	Power      float64 // the power of Detectable; 0 selects 0.8
	Resamples  int     // the resamples of the bootstrap; 0 selects 2000
	Seed       uint64
}

func (o Options) orDefaults() Options {
	if o.Confidence == 0 {
		o.Confidence = Confidence
	}
	if o.Power == 0 {
		o.Power = 0.8
	}
	if o.Resamples == 0 {
		o.Resamples = 2000
	}
	return o
}

// Comparison is the ratio of the times of New to the times of Old. Below 1, New is faster.
type Comparison struct {
	Ratio      float64   `json:"ratio"` // exp of the mean of Logs
	Interval   Interval  `json:"interval"`
	Detectable float64   `json:"detectable"` // the smallest relative change that a run like this one would have found
	Replicates int       `json:"replicates"`
	Logs       []float64 `json:"logs"` // log ratio of the medians, one per replicate
}

// Differs reports whether the ratio differs from 1 significantly, and by at least effect,
// the smallest relative change that matters.
func (c Comparison) Differs(effect float64) bool {
	return !c.Interval.Contains(1) && math.Abs(math.Log(c.Ratio)) >= math.Log1p(effect)
}

// Compare compares New with Old. Each replicate gives the log ratio of its two medians. The
// bootstrap draws replicates, and in each replicate it draws samples in runs of neighbours,
// because launches that follow each other are similar.
//
// Compare accepts one replicate, but its interval then does not cover the differences
// between processes. With several replicates, it widens the percentiles of the bootstrap
// with Student's t (Hesterberg 2015, the expanded percentile interval), because the
// bootstrap of few values is too narrow.
func Compare(reps []Replicate, opt Options) (Comparison, error) {
	opt = opt.orDefaults()
	if err := check(reps, opt); err != nil {
		return Comparison{}, err
	}
	c := Comparison{Replicates: len(reps)}
	for _, r := range reps {
		c.Logs = append(c.Logs, math.Log(Median(r.New)/Median(r.Old)))
	}
	mean, _ := moments(c.Logs)
	c.Ratio = math.Exp(mean)

	boot := bootstrap(reps, opt)
	tail := (1 - opt.Confidence) / 2
	if n := len(reps); n > 1 {
		tail = normal(-math.Sqrt(float64(n)/float64(n-1)) * student(1-tail, n-1))
	}
	c.Interval = Interval{Low: math.Exp(Quantile(boot, tail)), High: math.Exp(Quantile(boot, 1-tail)), Confidence: opt.Confidence}
	c.Detectable = detectable(boot, len(reps), opt)
	return c, nil
}

func check(reps []Replicate, opt Options) error {
	if len(reps) == 0 {
		return errors.New("no replicate to compare: measure at least one process")
	}
	probability := func(p float64) bool { return p > 0 && p < 1 } // false for NaN
	if !probability(opt.Confidence) || !probability(opt.Power) || opt.Resamples < 2 {
		return fmt.Errorf("confidence %g and power %g must be between 0 and 1, and resamples %d must be at least 2", opt.Confidence, opt.Power, opt.Resamples)
	}
	for i, r := range reps {
		for _, xs := range [][]float64{r.Old, r.New} {
			if len(xs) == 0 {
				return fmt.Errorf("replicate %d has no samples of one side", i)
			}
			if j := slices.IndexFunc(xs, func(x float64) bool { return !(x > 0) || math.IsInf(x, 1) }); j >= 0 {
				return fmt.Errorf("replicate %d: sample %d is %g: a time must be above 0", i, j, xs[j])
			}
		}
	}
	return nil
}

// bootstrap returns the means of the log ratios of resampled replicates, sorted.
func bootstrap(reps []Replicate, opt Options) []float64 {
	r := rand.New(rand.NewPCG(opt.Seed, 0x5eed))
	d := drawer{r: r}
	ranks := make([][2]ranked, len(reps))
	for i, rep := range reps {
		ranks[i] = [2]ranked{rank(rep.Old), rank(rep.New)}
	}
	means := make([]float64, opt.Resamples)
	for i := range means {
		var sum float64
		for range reps {
			sum += d.logRatio(ranks[r.IntN(len(reps))])
		}
		means[i] = sum / float64(len(reps))
	}
	sort.Float64s(means)
	return means
}

// ranked is a sorted sample with the rank of each of its values. With the ranks, the median
// of a resample can be found by counting, without sorting.
type ranked struct {
	sorted []float64
	at     []int
}

func rank(xs []float64) ranked {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	sorted.By(order, func(a, b int) int { return cmp.Compare(xs[a], xs[b]) })
	r := ranked{make([]float64, len(xs)), make([]int, len(xs))}
	for place, i := range order {
		r.sorted[place], r.at[i] = xs[i], place
	}
	return r
}

// drawer draws resamples. It reuses its memory.
type drawer struct {
	r       *rand.Rand
	indices []int
	counts  []int
}

// logRatio returns the log ratio of a resample. If both sides have the same length, it draws
// the same indices for both, so that neighbours stay neighbours.
func (d *drawer) logRatio(sides [2]ranked) float64 {
	d.draw(len(sides[0].at))
	old := d.median(sides[0])
	if len(sides[1].at) != len(sides[0].at) {
		d.draw(len(sides[1].at))
	}
	return math.Log(d.median(sides[1]) / old)
}

// draw chooses n indices with replacement, in runs of about the cube root of n.
func (d *drawer) draw(n int) {
	run := max(1, int(math.Cbrt(float64(n))))
	d.indices = d.indices[:0]
	for len(d.indices) < n {
		start := d.r.IntN(n)
		for i := 0; i < run && len(d.indices) < n; i++ {
			d.indices = append(d.indices, (start+i)%n)
		}
	}
}

// median returns the median of the values drawn.
func (d *drawer) median(s ranked) float64 {
	n := len(s.at)
	d.counts = append(d.counts[:0], make([]int, n)...)
	for _, i := range d.indices {
		d.counts[s.at[i]]++
	}
	nth := func(k int) float64 { // the k-th smallest, from 0
		i := 0
		for seen := d.counts[0]; seen <= k; seen += d.counts[i] {
			i++
		}
		return s.sorted[i]
	}
	if n%2 == 1 {
		return nth(n / 2)
	}
	return (nth(n/2-1) + nth(n/2)) / 2
}

// detectable returns the smallest relative change that a run with this spread finds with
// the given power and confidence.
func detectable(boot []float64, replicates int, opt Options) float64 {
	_, spread := moments(boot)
	look, find := -quantileNormal((1-opt.Confidence)/2), quantileNormal(opt.Power)
	if n := replicates; n > 1 {
		spread *= math.Sqrt(float64(n) / float64(n-1))
		look, find = student(1-(1-opt.Confidence)/2, n-1), student(opt.Power, n-1)
	}
	return math.Expm1((look + find) * spread)
}
