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

// speed judges the figures of a record and what they say.
type speed struct {
	Rules
	r *record.Record
	// compared are the comparisons with the baseline, made anew from the samples.
	compared []compared
}

// compared is the kernel against its baseline, one shape and method.
type compared struct {
	title   string
	decides bool // by replayed graph, with a warm cache
	stats.Comparison
}

// gain is how much faster the kernel is: 0.1 for +10 %.
func (c compared) gain() float64 { return 1/c.Ratio - 1 }

func (c compared) slower() bool { return c.Interval.Low > 1 }

// pays reports whether it is faster by the effect, and surely faster at all.
func (c compared) pays(effect float64) bool { return c.gain() >= effect && c.Interval.High < 1 }

// tooSmall reports whether the effect is outside of the interval.
func (c compared) tooSmall(effect float64) bool { return 1/c.Interval.Low-1 < effect }

func (c compared) String() string {
	return fmt.Sprintf("%s %+.1f %% [%+.1f %%, %+.1f %%]", c.title, 100*c.gain(), 100*(1/c.Interval.High-1), 100*(1/c.Interval.Low-1))
}

func (s *speed) judge() record.Gate {
	p := s.r.Performance
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
		for _, why := range s.falsified(t) {
			red = append(red, name+": "+why)
		}
		for _, why := range s.meaningless(t) {
			void = append(void, name+": "+why)
		}
	}
	switch {
	case len(red) > 0:
		return verdictOf(record.Red, red, "")
	case len(void) > 0:
		return verdictOf(record.Void, void, "")
	}
	if s.r.Baseline == nil {
		return record.Gate{Status: record.Green, Summary: s.alone()}
	}
	return s.judgeAgainst()
}

// judgeAgainst compares with the baseline.
func (s *speed) judgeAgainst() record.Gate {
	for i := range s.r.Performance.Shapes {
		t := &s.r.Performance.Shapes[i]
		var reps []stats.Replicate
		for j := range t.Runs {
			reps = append(reps, t.Runs[j].Replicate(1, 0))
		}
		c, err := stats.Compare(reps, stats.Options{})
		if err != nil {
			return verdictOf(record.Void, []string{fmt.Sprintf("%s: %v", t.Shape, err)}, "")
		}
		s.compared = append(s.compared, compared{
			fmt.Sprintf("%s %s/%s", t.Shape, t.Method.Mode, t.Method.Cache),
			t.Method.Mode == timing.Graph && t.Method.Cache == timing.Warm, c})
	}
	if i := slices.IndexFunc(s.compared, compared.slower); i >= 0 && s.r.Counters == nil {
		return verdictOf(record.Red, []string{fmt.Sprintf("slower than %s, and no counters say why: %v", s.r.Baseline.Name, s.compared[i])}, "")
	}
	g := record.Gate{Status: record.Green, Summary: "the figures hold: " + s.headline()}
	for _, c := range s.compared {
		g.Reasons = append(g.Reasons, c.String())
	}
	return g
}

// headline is the comparison that decides, the first of them.
func (s *speed) headline() string {
	i := max(slices.IndexFunc(s.compared, func(c compared) bool { return c.decides }), 0)
	return s.against(i)
}

// against is a comparison in words. The interval of one process says nothing of another,
// so that reads as what it is.
func (s *speed) against(i int) string {
	c := s.compared[i]
	text := fmt.Sprintf("%v against %s", c, s.r.Baseline.Name)
	if c.Replicates < 2 {
		text += " in 1 process"
	}
	return text
}

// alone is the first time, where there is nothing to compare with.
func (s *speed) alone() string {
	t := &s.r.Performance.Shapes[0]
	return fmt.Sprintf("the figures hold: %.4g µs on %s, %s, %s cache", stats.Median(samples(t, 0)), t.Shape, t.Method.Mode, t.Method.Cache)
}

// decide is the outcome where all gates are green and there is a baseline.
func (s *speed) decide(v *record.Verdict) {
	deciding := slices.DeleteFunc(slices.Clone(s.compared), func(c compared) bool { return !c.decides })
	pays := slices.ContainsFunc(deciding, func(c compared) bool { return c.pays(s.MinEffect) })
	slower := slices.IndexFunc(s.compared, compared.slower)
	all := len(deciding) > 0
	detectable := 0.0
	for _, c := range deciding {
		all = all && c.tooSmall(s.MinEffect)
		detectable = max(detectable, c.Detectable)
	}
	switch {
	case len(deciding) == 0:
		v.Outcome, v.Why = record.Defer, "nothing was timed by replayed graph with a warm cache, which decides"
	case pays && slower < 0:
		v.Outcome, v.Why = record.Merge, s.headline()
	case s.r.Counters != nil && (slower >= 0 || all):
		v.Outcome = record.ValidNegative
		v.Why = fmt.Sprintf("does not pay: %s, +%.0f %% is wanted", s.headline(), 100*s.MinEffect)
		if slower >= 0 {
			v.Why = "slower: " + s.against(slower)
		}
		v.Counters = explain(s.r.Counters)
	default:
		v.Outcome = record.Defer
		v.Why = fmt.Sprintf("%s: the run could not tell; it would have seen %.1f %%, and +%.0f %% is wanted", s.headline(), 100*detectable, 100*s.MinEffect)
		if all {
			v.Why = fmt.Sprintf("does not pay: %s; no counters say why", s.headline())
		}
	}
}

// explain are the counters in which the kernel differs from its baseline.
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

// falsified says what shows that figures are not what they claim to be.
func (s *speed) falsified(t *record.Times) (why []string) {
	names := []string{s.r.Kernel.Name}
	if s.r.Baseline != nil {
		names = append(names, s.r.Baseline.Name)
	}
	if len(t.Names) < len(names) || !slices.Equal(t.Names[:len(names)], names) {
		why = append(why, fmt.Sprintf("the candidates are %s, they must begin with %s", strings.Join(t.Names, ", "), strings.Join(names, ", ")))
	}
	if !t.OutputsOK {
		why = append(why, "timed launches gave wrong outputs: "+t.Wrong)
	}
	floor := Floor(s.r, t)
	for i := range t.Runs {
		why = append(why, inconsistent(t, &t.Runs[i])...)
	}
	for i := range names {
		if all := samples(t, i); len(all) > 0 && slices.Min(all) < physical*floor {
			why = append(why, fmt.Sprintf("%s took %.4g µs once, and %.4g µs is the least that bytes, operations and a launch take", names[i], slices.Min(all), floor))
		}
	}
	return why
}

// physical is what of the floor a time must reach: clocks move between the probe of a
// ceiling and a measurement.
const physical = 0.9

// inconsistent says where a run does not fit what it is said to be.
func inconsistent(t *record.Times, run *timing.Run) (why []string) {
	for i, c := range run.Candidates {
		if i >= len(t.Names) || c.Name != t.Names[i] {
			why = append(why, fmt.Sprintf("a run has %s as candidate %d", c.Name, i))
		}
	}
	for _, b := range run.Batches {
		if b.Candidate < 0 || b.Candidate >= len(run.Candidates) {
			return append(why, fmt.Sprintf("samples of candidate %d, which there is not", b.Candidate))
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
		if took := time.Duration(sum * float64(max(m.Launches, 1)) * 1e3); m.Clock != "host" && wall > 0 && took > wall+wall/20 {
			return append(why, fmt.Sprintf("samples of %v were taken in %v", took, wall))
		}
	}
	return why
}

// meaningless says why figures show nothing.
func (s *speed) meaningless(t *record.Times) (why []string) {
	c := s.r.Performance.Ceiling
	if !(c.Bandwidth > 0 && c.FLOPs > 0 && c.Launch > 0) {
		why = append(why, "the ceilings of the device were not probed in this run")
	}
	if t.Predicted {
		why = append(why, "times of a model are no measurement")
	}
	switch t.Inputs {
	case "":
		why = append(why, "nobody says what was computed with")
	case "zeros", "tiny", "constant-v":
		why = append(why, t.Inputs+" as inputs: they draw less power, and a card runs faster")
	}
	if n := len(samples(t, 0)); n < leastSamples {
		why = append(why, fmt.Sprintf("%s, at least %d are needed", english.Count(n, "sample"), leastSamples))
	}
	if t.Method.Mode == "" || t.Method.Cache == "" {
		why = append(why, "the method is not named")
	}
	return why
}

const leastSamples = 10

// samples are those of a candidate, of all processes.
func samples(t *record.Times, candidate int) (all []float64) {
	for i := range t.Runs {
		all = append(all, t.Runs[i].Times(candidate)...)
	}
	return all
}

// Floor is the least time of one launch in microseconds: a launch, the operations of
// the two products, and with a cold cache the bytes of Q, K and V; what is written may
// stay in the cache.
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
		bytes := p.Format.Bytes() * (p.Q().Len() + 2*p.KV().Len())
		floor = max(floor, float64(bytes)/c.Bandwidth/1e3)
	}
	return floor
}
