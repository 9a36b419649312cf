package hopper

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	sweep "github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/timing"
)

var (
	sampleSize    = flag.Int("number", 100, "how many random problems TestCardChoice draws")
	sampleSeed    = flag.Uint64("seed", 1, "the seed from which TestCardChoice draws its problems")
	sampleLimit   = flag.Duration("limit", 0, "how long TestCardChoice times problems; 0 is no limit. The problem that is timed when the time is over is finished")
	sampleLongest = flag.Duration("longest", 10*time.Millisecond, "TestCardChoice leaves out problems for which Choose estimates a longer time per launch")
)

// TestCardChoice times random problems with every configuration that Choose compares, and logs how much
// slower than the fastest one Choose's is. It writes every sample to the file HOPPER_OUT, if set:
// TestChooseSample makes testdata/sample.json of it.
func TestCardChoice(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	start := time.Now()
	all := selected(t, sampled(t, *sampleSize, *sampleSeed))
	compileAll(card, all)
	t.Logf("%d problems, compiled within %.0f s", len(all), time.Since(start).Seconds())
	limit := *sampleLimit
	if limit > 0 {
		limit = max(limit-time.Since(start), 1)
	}
	plan := timing.Plan{WarmUp: 5 * time.Millisecond, Stop: timing.Stop{Least: 10, Most: 20, Time: 600 * time.Millisecond}}
	runs := timeAll(t, card, all, plan, limit)
	picks := pick(t, fromRuns(nil, all, []map[string]*timing.Run{runs}))
	logPicks(t, picks)
	t.Log(summary(picks))
}

// sampled draws n problems as a sweep does, every other one causal, and returns those whose times are not
// in testdata/times.json, each with the configurations that can be its fastest: those of [choices] that
// compute it without register spills. Problems of long launches are left out: see the flag -longest.
func sampled(t *testing.T, n int, seed uint64) (all []candidate) {
	t.Helper()
	fitted := readTimes(t, timesFile)
	left := 0
	for i, drawn := range sweep.Draw(n, seed, problem.HeadDim{}) {
		p := problem.Attention{Shape: drawn.Shape, Format: problem.E4M3, Causal: i%2 == 1}.Filled()
		if slices.ContainsFunc(fitted, func(x timed) bool { return x.p == p }) {
			left++
			continue
		}
		x := candidate{name: p.String(), p: p}
		least := int64(-1)
		for _, o := range choices(p.HeadDim()) {
			c := o.adapted(p)
			if c.Check(p) != nil || c.short(p) {
				continue
			}
			x.configs = append(x.configs, c)
			if nanos := o.costs.estimate(c, p, 132); least < 0 || nanos < least {
				least = nanos
			}
		}
		if least > sampleLongest.Nanoseconds() {
			left++
			continue
		}
		all = append(all, x)
	}
	t.Logf("%d of %d problems are left out: the costs are fitted to them, or a launch takes more than %v", left, n, *sampleLongest)
	return all
}
