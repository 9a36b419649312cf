package hopper

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

var timesFlag = flag.String("times", "", "what TestCardTimes wrote, several files with commas between: TestChooseFit makes testdata/times.json of it, and the costs in choose.go")

const timesFile = "testdata/times.json"

// timed is a problem and the medians of configurations, in microseconds, by their names.
type timed struct {
	p      problem.Attention
	micros map[string]float64
}

// fastest returns the time of the fastest configuration.
func (x timed) fastest() float64 { return slices.Min(slices.Collect(maps.Values(x.micros))) }

// readTimes reads a table, which has one line per problem.
func readTimes(t *testing.T, file string) (all []timed) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []struct {
		B, H, Hkv, S, D int
		Causal          bool
		Micros          map[string]float64
	}
	if err := json.Unmarshal(text, &lines); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, l := range lines {
		p := square(l.B, l.H, l.S, l.D, problem.E4M3)
		p.Causal = l.Causal
		if l.Hkv != 0 {
			p.Hkv = l.Hkv
		}
		all = append(all, timed{p, l.Micros})
	}
	return all
}

func writeTimes(t *testing.T, file string, all []timed) {
	t.Helper()
	var lines []string
	for _, x := range all {
		micros, err := json.Marshal(x.micros)
		if err != nil {
			t.Fatal(err)
		}
		causal, grouped := "", ""
		if x.p.Causal {
			causal = `"causal": true, `
		}
		if x.p.Hkv != x.p.Hq {
			grouped = fmt.Sprintf(`"hkv": %d, `, x.p.Hkv)
		}
		lines = append(lines, fmt.Sprintf(`{"b": %d, "h": %d, %s"s": %d, "d": %d, %s"micros": %s}`, x.p.B, x.p.Hq, grouped, x.p.Sq, x.p.D, causal, micros))
	}
	if err := os.WriteFile(file, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readRuns reads what timeAll wrote to several files, separated by commas.
func readRuns(t *testing.T, paths string) (runs []map[string]*timing.Run) {
	t.Helper()
	for path := range strings.SplitSeq(paths, ",") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var one map[string]*timing.Run
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		runs = append(runs, one)
	}
	return runs
}

// fromRuns returns the times of the configurations that Choose may return. If several runs
// have timed one, the last run counts. What no run has timed keeps its time in the table.
func fromRuns(table []timed, problems []candidate, runs []map[string]*timing.Run) (all []timed) {
	for _, x := range problems {
		row := timed{x.p, map[string]float64{}}
		if i := slices.IndexFunc(table, func(old timed) bool { return old.p == x.p }); i >= 0 {
			row.micros = table[i].micros
		}
		for _, c := range choices(x.p.HeadDim()) {
			c := c.adapted(x.p)
			for _, r := range runs {
				if r[x.name] == nil {
					continue
				}
				is := func(s timing.Subject) bool { return s.Name == c.String() }
				if i := slices.IndexFunc(r[x.name].Candidates, is); i >= 0 {
					row.micros[c.Division()] = math.Round(r[x.name].Summary(i).P50*100) / 100
				}
			}
		}
		if len(row.micros) > 0 {
			all = append(all, row)
		}
	}
	return all
}

// refit returns the costs of the choices that fit the times, and the largest relative errors. Under a causal mask, the costs
// decide which place ends last, and so the loads. It fits again, with the loads of the new costs, until the costs stay the same.
func refit(t *testing.T, list []choice, all []timed) (fitted []choice, worst []float64) {
	t.Helper()
	fitted, worst = slices.Clone(list), make([]float64, len(list))
	for i := range fitted {
		if fitted[i].costs == (terms{}) { // of a new design
			fitted[i].costs = terms{perItem: 1, perTile: 1}
		}
	}
	for range 100 {
		before := slices.Clone(fitted)
		for i, o := range before {
			fixed := map[int]float64{}
			if o.Balanced { // its blocks compute a tile as others do, so it costs them the same
				plain := o.Config
				plain.Balanced = false
				fixed[perTile] = before[slices.IndexFunc(before, func(o choice) bool { return o.Config == plain })].costs[perTile]
			}
			fitted[i].costs, worst[i] = fit(t, o, fixed, all)
		}
		if slices.Equal(before, fitted) {
			return fitted, worst
		}
	}
	t.Log("the costs of the last two fits differ: see which places end last")
	return fitted, worst
}

// load returns how often a launch has each term of its estimate, on the place that ends last.
func load(o choice, p problem.Attention, sms int) terms {
	c := o.Config
	if c.Balanced {
		return c.balancedLoad(p, sms)
	}
	const many = 1 << 20 // more than the items of a place
	w := c.work(p, sms)
	item, tile := w.nanos(o.costs.of(c, p.Causal))
	busy := w.busy(many*item+1, many*tile) // the remainder counts the items
	items := busy % many
	tiles := float64((busy/many - items*item) / tile)
	load := terms{perLaunch: 1, perItem: float64(items) * float64(w.items) / float64(w.rounds), perTile: tiles, perBeside: tiles * float64(w.crowded) / float64(w.rounds)}
	if p.Causal {
		load[perCausal] = tiles
	}
	return load
}

// fit returns the costs of a configuration that minimise the squared relative error, and the
// largest relative error. Problems on which the configuration is twice as slow as the fastest one count for a
// sixteenth, because Choose does not take it there anyhow. A cost that would be below zero is left out, except perCausal: it also corrects
// the number of tiles of the busiest place, which is an estimate under a causal mask. The loads are those of the costs of o.
// The costs in fixed are known.
func fit(t *testing.T, o choice, fixed map[int]float64, all []timed) (costs terms, worst float64) {
	var loads []terms     // of a launch, over its time: what costs are to make 1
	var weights []float64 // of the squared errors
	for i, cost := range fixed {
		costs[i] = cost
	}
	for _, x := range all {
		c := o.adapted(x.p)
		if micros, ok := x.micros[c.Division()]; ok && c.pays(x.p) {
			launch := load(choice{c, o.costs}, x.p, 132)
			var load terms // what each cost adds to the estimate of the launch, as Choose computes it
			for i := range load {
				var one terms
				one[i] = 1
				load[i] = one.of(c, x.p.Causal).dot(launch) / micros
			}
			loads = append(loads, load)
			weights = append(weights, math.Pow(x.fastest()/micros, 4))
		}
	}
	if len(loads) < len(costs) {
		t.Fatalf("%v is timed on %d problems: its costs take %d at least", o.Config, len(loads), len(costs))
	}
	var use []int
	for i := range costs {
		if _, known := fixed[i]; !known && slices.ContainsFunc(loads, func(l terms) bool { return l[i] != 0 }) {
			use = append(use, i)
		}
	}
	for {
		xs := leastSquares(loads, weights, use, costs)
		least := -1 // the index of the lowest cost below zero
		for i, x := range xs {
			if x <= 0 && use[i] != perCausal && (least < 0 || x < xs[least]) {
				least = i
			}
		}
		if least >= 0 {
			use = slices.Delete(use, least, least+1)
			continue
		}
		for i, x := range xs {
			costs[use[i]] = math.Round(x*1000)/1000 + 0 // no -0
		}
		break
	}
	for _, load := range loads {
		worst = max(worst, math.Abs(costs.dot(load)-1))
	}
	return costs, worst
}

// dot returns the time of a load at these costs.
func (t terms) dot(load terms) (micros float64) {
	for i, cost := range t {
		micros += cost * load[i]
	}
	return micros
}

// leastSquares returns the costs of the terms in use which, with the known costs of others, bring
// the loads nearest to 1. It solves the normal equations by Gauss-Jordan elimination.
func leastSquares(loads []terms, weights []float64, use []int, known terms) []float64 {
	n := len(use)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n+1)
		for l, r := range loads {
			for j, u := range use {
				m[i][j] += weights[l] * r[use[i]] * r[u]
			}
			m[i][n] += weights[l] * r[use[i]] * (1 - known.dot(r))
		}
	}
	for i := range n {
		for j := range n {
			f := m[j][i] / m[i][i]
			for k := i; j != i && k <= n; k++ {
				m[j][k] -= f * m[i][k]
			}
		}
	}
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = m[i][n] / m[i][i]
	}
	return xs
}

// TestChooseFit: the costs in choose.go fit the times. With -times it brings the table up to
// date from runs and prints the costs for choose.go.
func TestChooseFit(t *testing.T) {
	all := readTimes(t, timesFile)
	if *timesFlag != "" {
		all = fromRuns(all, candidates(), readRuns(t, *timesFlag))
	}
	for _, d := range []int{64, 128, 256} {
		some := slices.DeleteFunc(slices.Clone(all), func(x timed) bool { return x.p.D != d })
		list := choices(problem.HeadDim{D: d})
		fitted, worst := refit(t, list, some)
		for i, c := range list {
			costs := fitted[i].costs
			t.Logf("D = %d, %v, off by at most %.1f %%:\n%s", d, c, 100*worst[i], source(costs))
			for j, has := range c.costs {
				if math.Abs(costs[j]-has) > 0.0011 && *timesFlag == "" { // a digit more or less by who fuses what
					t.Errorf("D = %d, %v costs %v, and by %s %v", d, c, c.costs, timesFile, costs)
					break
				}
			}
		}
	}
	if *timesFlag != "" {
		writeTimes(t, timesFile, all)
	}
}

// source returns the costs as Go source.
func source(costs terms) string {
	return strings.ReplaceAll(fmt.Sprintf("%#v", costs), "hopper.", "")
}

// TestChooseTimes: on every problem that was timed, the configuration that Choose returns is
// within 5 % of the fastest one.
func TestChooseTimes(t *testing.T) {
	for _, x := range readTimes(t, timesFile) {
		got := Choose(x.p, 132)
		micros, ok := x.micros[got.Division()]
		if !ok {
			t.Errorf("%v: Choose takes %v, which was not timed: choices says how", x.p, got)
			continue
		}
		for _, c := range choices(x.p.HeadDim()) {
			other, ok := x.micros[c.adapted(x.p).Division()]
			switch miss := micros/other - 1; {
			case c.adapted(x.p).short(x.p), !c.adapted(x.p).pays(x.p):
			case ok && miss > 0.05:
				t.Errorf("%v: Choose takes %v at %.2f µs, and %v takes %.2f", x.p, got, micros, c, other)
			case ok && miss > 0:
				t.Logf("%v: Choose takes %v at %.2f µs, and %v takes %.2f: %.1f %% more", x.p, got, micros, c, other, 100*miss)
			}
		}
	}
}
