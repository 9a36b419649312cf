package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// performanceGate checks that the times can be believed. Whether they are good enough is
// decided after all gates.
var performanceGate = spec{record.PerformanceGate, (*judgement).judgeTimes}

// compared is the comparison of the kernel with its baseline for one shape and method.
type compared struct {
	title   string
	decides bool // replayed graph, warm cache
	stats.Comparison
}

// gain returns the speedup over the baseline: 0.1 for +10 %.
func (c compared) gain() float64 { return 1/c.Ratio - 1 }

func (c compared) slower() bool { return c.Interval.Low > 1 }

// pays reports whether the kernel is faster by at least the effect, and its interval is
// clear of the baseline.
func (c compared) pays(effect float64) bool { return c.gain() >= effect && c.Interval.High < 1 }

// tooSmall reports whether the interval excludes the effect.
func (c compared) tooSmall(effect float64) bool { return 1/c.Interval.Low-1 < effect }

func (c compared) String() string {
	return fmt.Sprintf("%s %+.1f %% [%+.1f %%, %+.1f %%]", c.title, 100*c.gain(), 100*(1/c.Interval.High-1), 100*(1/c.Interval.Low-1))
}

func (j *judgement) judgeTimes() record.Gate {
	p := j.r.Performance
	switch {
	case p == nil:
		return skip("nothing was timed")
	case p.Skipped != "":
		return skip("%s", p.Skipped)
	case len(p.Shapes) == 0:
		return skip("no shape was timed")
	}
	var red, void []string
	for i := range p.Shapes {
		t := &p.Shapes[i]
		name := fmt.Sprintf("%s, %s, %s cache", t.Shape, t.Method.Mode, t.Method.Cache)
		for _, why := range j.falsified(t) {
			red = append(red, name+": "+why)
		}
		for _, why := range j.meaningless(t) {
			void = append(void, name+": "+why)
		}
	}
	switch {
	case len(red) > 0:
		return gateOf(record.Red, red, "")
	case len(void) > 0:
		return gateOf(record.Void, void, "")
	}
	if j.r.Baseline == nil {
		return record.Gate{Status: record.Green, Summary: j.alone()}
	}
	return j.judgeAgainst()
}

// judgeAgainst compares the kernel with its baseline.
func (j *judgement) judgeAgainst() record.Gate {
	for i := range j.r.Performance.Shapes {
		t := &j.r.Performance.Shapes[i]
		var reps []stats.Replicate
		for k := range t.Runs {
			reps = append(reps, t.Runs[k].Replicate(1, 0))
		}
		c, err := stats.Compare(reps, stats.Options{})
		if err != nil {
			return gateOf(record.Void, []string{fmt.Sprintf("%s: %v", t.Shape, err)}, "")
		}
		j.compared = append(j.compared, compared{
			fmt.Sprintf("%s %s/%s", t.Shape, t.Method.Mode, t.Method.Cache),
			t.Method.Mode == timing.Graph && t.Method.Cache == timing.Warm, c})
	}
	if i := slices.IndexFunc(j.compared, compared.slower); i >= 0 && j.r.Counters == nil {
		return gateOf(record.Red, []string{fmt.Sprintf("slower than %s, and there are no counters to explain it: %v", j.r.Baseline.Name, j.compared[i])}, "")
	}
	g := record.Gate{Status: record.Green, Summary: "the times are sound: " + j.headline()}
	for _, c := range j.compared {
		g.Reasons = append(g.Reasons, c.String())
	}
	return g
}

// headline returns the first comparison that decides.
func (j *judgement) headline() string {
	i := max(slices.IndexFunc(j.compared, func(c compared) bool { return c.decides }), 0)
	return j.against(i)
}

// against returns a comparison in words. It names a comparison of one process as such: its
// interval does not hold for other processes.
func (j *judgement) against(i int) string {
	c := j.compared[i]
	text := fmt.Sprintf("%v against %s", c, j.r.Baseline.Name)
	if c.Replicates < 2 {
		text += " in 1 process"
	}
	return text
}

// alone returns the first time, for a kernel without a baseline.
func (j *judgement) alone() string {
	t := &j.r.Performance.Shapes[0]
	return fmt.Sprintf("the times are sound: %.4g µs on %s, %s, %s cache", stats.Median(samples(t, 0)), t.Shape, t.Method.Mode, t.Method.Cache)
}

// decideByTimes sets the outcome where all gates are green and there is a baseline.
func (j *judgement) decideByTimes(v *record.Verdict) {
	needed := j.r.MinGain()
	deciding := slices.DeleteFunc(slices.Clone(j.compared), func(c compared) bool { return !c.decides })
	pays := slices.ContainsFunc(deciding, func(c compared) bool { return c.pays(needed) })
	slower := slices.IndexFunc(j.compared, compared.slower)
	all, detectable := true, 0.0
	for _, c := range deciding {
		all = all && c.tooSmall(needed)
		detectable = max(detectable, c.Detectable)
	}
	switch {
	case len(deciding) == 0:
		v.Outcome, v.Why = record.Defer, "nothing was timed in a replayed graph with a warm cache, which decides"
	case pays && slower < 0:
		v.Outcome, v.Why = record.Merge, j.headline()
	case j.r.Counters != nil && (slower >= 0 || all):
		v.Outcome = record.ValidNegative
		v.Why = fmt.Sprintf("not faster by enough: %s, +%.0f %% is needed", j.headline(), 100*needed)
		if slower >= 0 {
			v.Why = "slower: " + j.against(slower)
		}
		v.Counters = explain(j.r.Counters)
	default:
		v.Outcome = record.Defer
		v.Why = fmt.Sprintf("%s: the run could not decide: it can detect %.1f %%, and +%.0f %% is needed", j.headline(), 100*detectable, 100*needed)
		if all {
			v.Why = fmt.Sprintf("not faster by enough: %s; there are no counters to explain it", j.headline())
		}
	}
}

// explain returns the counters of the kernel and of its baseline.
func explain(c *record.Counters) map[string]float64 {
	out := map[string]float64{}
	for name, n := range c.Kernel {
		out[name] = n
		if b, ok := c.Baseline[name]; ok {
			out["baseline "+name] = b
		}
	}
	return out
}

// falsified returns the signs that times are not what they claim to be.
func (j *judgement) falsified(t *record.Times) (why []string) {
	names := []string{j.r.Kernel.Name}
	if j.r.Baseline != nil {
		names = append(names, j.r.Baseline.Name)
	}
	if len(t.Names) < len(names) || !slices.Equal(t.Names[:len(names)], names) {
		why = append(why, fmt.Sprintf("the candidates are %s, but they must start with %s", strings.Join(t.Names, ", "), strings.Join(names, ", ")))
	}
	if !t.OutputsOK {
		why = append(why, "timed launches gave wrong outputs: "+t.Wrong)
	}
	floor := Floor(j.r, t)
	for i := range t.Runs {
		why = append(why, inconsistent(t, &t.Runs[i])...)
	}
	for i := range names {
		if all := samples(t, i); len(all) > 0 && slices.Min(all) < physical*floor {
			why = append(why, fmt.Sprintf("%s took %.4g µs once, but its bytes, operations and launch take at least %.4g µs", names[i], slices.Min(all), floor))
		}
	}
	return why
}

// physical is the share of the floor that a time must reach. It is below 1 since clocks
// change between the probe of a ceiling and a measurement.
const physical = 0.9

// inconsistent returns where a run contradicts its description.
func inconsistent(t *record.Times, run *timing.Run) (why []string) {
	for i, c := range run.Candidates {
		if i >= len(t.Names) || c.Name != t.Names[i] {
			why = append(why, fmt.Sprintf("a run has %s as candidate %d", c.Name, i))
		}
	}
	for _, b := range run.Batches {
		if n := len(b.Controls); n > 0 && (n != len(b.Micros) || slices.Min(b.Controls) <= 0) {
			return append(why, fmt.Sprintf("%s for %s, or one that is not above 0", english.Count(n, "control"), english.Count(len(b.Micros), "sample")))
		}
		if b.Candidate < 0 || b.Candidate >= len(run.Candidates) {
			return append(why, fmt.Sprintf("a run has samples of candidate %d, but no such candidate", b.Candidate))
		}
		var sum float64
		for _, us := range b.Micros {
			if !(us > 0) || math.IsInf(us, 0) {
				return append(why, fmt.Sprintf("a time of %v µs", us))
			}
			sum += us
		}
		m := run.Candidates[b.Candidate].Method
		wall := b.End.Sub(b.Start)
		if took := time.Duration(sum * float64(max(m.Launches, 1)) * 1e3); !m.ByHost() && wall > 0 && took > wall+wall/20 {
			return append(why, fmt.Sprintf("samples that take %v were taken in %v", took, wall))
		}
	}
	return why
}

// meaningless returns the reasons why times prove nothing.
func (j *judgement) meaningless(t *record.Times) (why []string) {
	c := j.r.Performance.Ceiling
	if !(c.Bandwidth > 0 && c.FLOPs > 0 && c.Launch > 0) {
		why = append(why, "the ceilings of the device were not probed in this run")
	}
	if t.Predicted {
		why = append(why, "the times are predicted, not measured")
	}
	switch t.Inputs {
	case "":
		why = append(why, "the inputs are not named")
	case "zeros", "tiny", "constant-v":
		why = append(why, t.Inputs+" as inputs draw less power, so the GPU runs faster")
	}
	if c, s := stats.Median(controls(t)), stats.Median(samples(t, 0)); c > s {
		why = append(why, fmt.Sprintf("the spoiling between launches takes %.3g µs per launch, longer than the %.3g µs of a launch, so their difference is uncertain", c, s))
	}
	if n := len(samples(t, 0)); n < leastSamples {
		why = append(why, fmt.Sprintf("%s, but at least %d are needed", english.Count(n, "sample"), leastSamples))
	}
	if t.Method.Mode == "" || t.Method.Cache == "" {
		why = append(why, "the method is not named")
	}
	return why
}

const leastSamples = 10

// samples returns the times of a candidate in all processes.
func samples(t *record.Times, candidate int) (all []float64) {
	for i := range t.Runs {
		all = append(all, t.Runs[i].Times(candidate)...)
	}
	return all
}

// controls returns the times that were subtracted from the samples of the kernel.
func controls(t *record.Times) (all []float64) {
	for i := range t.Runs {
		for _, b := range t.Runs[i].Batches {
			if b.Candidate == 0 {
				all = append(all, b.Controls...)
			}
		}
	}
	return all
}

// Floor returns the least time of one launch in microseconds: the maximum of the time of an
// empty launch, of the operations of the two products, and, with a cold cache, of reading Q,
// K and V. Writes do not count, since they may stay in the cache.
func Floor(r *record.Record, t *record.Times) float64 {
	if r.Performance == nil {
		return 0
	}
	c := r.Performance.Ceiling
	p := r.Kernel.Problem.Attention
	p.Shape = t.Shape
	flop := p.FLOP()
	floor := c.Launch
	if c.FLOPs > 0 {
		floor = max(floor, flop/c.FLOPs/1e6)
	}
	if c.Bandwidth > 0 && t.Method.Cache == timing.Cold {
		floor = max(floor, float64(p.InputBytes())/c.Bandwidth/1e3)
	}
	return floor
}
