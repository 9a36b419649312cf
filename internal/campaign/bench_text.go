package campaign

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
)

// BenchResult is the JSON of attest bench: one kernel, timed on a group of shapes.
type BenchResult struct {
	Kernel      record.Kernel       `json:"kernel"`
	Baseline    string              `json:"baseline"`
	Shapes      []string            `json:"shapes"`
	Skipped     string              `json:"skipped"` // why nothing was timed, or ""
	Wrong       []string            `json:"wrong"`   // what is wrong with the kernel; a wrong kernel is not timed
	Performance *record.Performance `json:"performance"`
	Accuracy    *record.Accuracy    `json:"accuracy,omitempty"` // instead of Performance, with --distribution
	Record      string              `json:"record"`             // hash, "" when it was not kept
}

// Show writes the result, after an empty line if it is not the first.
func (r *BenchResult) Show(env *cli.Env, another bool) {
	if env.JSON {
		env.Encode(r)
		return
	}
	if another {
		fmt.Fprintln(env)
	}
	s := env.OutStyle()
	name := s.Bold(term.Clean(r.Kernel.Name))
	switch {
	case r.Skipped != "" && r.Kernel.SHA256 != "":
		fmt.Fprintf(env, "skipped: %s\n", r.Skipped)
		return
	case r.Skipped != "":
		fmt.Fprintf(env, "%s  %s\n  left out: %s\n", name, s.Dim(strings.Join(r.Shapes, ", ")), term.Clean(r.Skipped))
		return
	}
	unit := "; µs of one launch"
	if r.Accuracy != nil {
		unit = " to " + string(r.Kernel.Computes().Output) + "; errors against float64: total on the inputs as they were, added on the quantised ones"
	}
	if r.Kernel.Computes().Causal && r.Accuracy != nil {
		unit = ", causal" + unit
	}
	fmt.Fprintf(env, "%s  %s\n", name, s.Dim(r.Kernel.Format+", "+r.Kernel.Target+unit))
	if c := lab.Configuration(r.Kernel); c != "" {
		fmt.Fprintf(env, "  %s\n", s.Dim(term.Clean(c)))
	}
	if p := r.Performance; p != nil {
		printTimes(env, p)
	}
	if r.Accuracy != nil {
		printAccuracy(env, r.Accuracy)
	}
	for _, why := range r.Wrong {
		fmt.Fprintf(env, "  %s: %s\n", s.Red("wrong"), term.Clean(why))
	}
	if r.Record != "" {
		fmt.Fprintf(env, "  record %s\n", r.Record[:12])
	}
}

// title returns the description beside the name of a kernel: format, target, and the
// configuration if the name does not imply it.
func title(k record.Kernel) string {
	text := k.Format + ", " + k.Target
	if c := lab.Configuration(k); c != "" {
		text += ", " + c
	}
	return text
}

// printTimes prints all candidates, shape by shape and method by method.
func printTimes(env *cli.Env, p *record.Performance) {
	s := env.OutStyle()
	if p.Skipped != "" {
		fmt.Fprintf(env, "  not timed: %s\n", term.Clean(p.Skipped))
		return
	}
	t := term.Table{Indent: "  ", Right: "lllrrrrrl", Style: s}
	t.Head("shape", "mode, cache", "candidate", "p50", "95 % interval", "p90", "CV %", "TFLOP/s", "kernel / candidate")
	for i := range p.Shapes {
		one := &p.Shapes[i]
		for j, sum := range one.Summaries {
			shape, method := "", ""
			if j == 0 {
				shape, method = one.Shape.String(), fmt.Sprintf("%s, %s", one.Method.Mode, one.Method.Cache)
			}
			t.Row(shape, method, candidate(one, j), term.Micros(sum.P50), term.Micros(sum.Median.Low)+" – "+term.Micros(sum.Median.High),
				term.Micros(sum.P90), fmt.Sprintf("%.1f", 100*sum.CV), fmt.Sprintf("%.3g", one.TFLOPs[j]), ratio(comparison(one, j)))
		}
	}
	t.WriteTo(env)
	printEnergy(env, p)
	fmt.Fprintf(env, "  this card: %.4g GB/s, %.4g TFLOP/s, %s µs for an empty launch, probed in the same run\n", p.Ceiling.Bandwidth, p.Ceiling.FLOPs, term.Micros(p.Ceiling.Launch))
	for _, n := range p.Notes {
		fmt.Fprintf(env, "  %s\n", term.Clean(n))
	}
}

// printEnergy prints what the candidates consumed, where it was measured.
func printEnergy(env *cli.Env, p *record.Performance) {
	t := term.Table{Indent: "  ", Right: "llrrr", Style: env.OutStyle()}
	t.Head("shape", "candidate", "mJ per launch", "W", "pJ per FLOP")
	found := false
	for i := range p.Shapes {
		one := &p.Shapes[i]
		for j, e := range one.Energy {
			shape := ""
			if j == 0 {
				shape = one.Shape.String()
			}
			micros, rate := one.Summaries[j].P50, float64(one.TFLOPs[j])
			t.Row(shape, candidate(one, j), fmt.Sprintf("%.3g", 1e3*e.PerLaunch()), fmt.Sprintf("%.0f", e.Watts()), fmt.Sprintf("%.3g", e.PerLaunch()/(micros*rate)*1e6))
			found = true
		}
	}
	if found {
		t.WriteTo(env)
	}
}

// candidate returns the name of a candidate, marked if the host's clock timed it.
func candidate(t *record.Times, i int) string {
	name := term.Clean(t.Names[i])
	if t.ByHost(t.Names[i]) {
		name += " (host clock)"
	}
	return name
}

// comparison returns the comparison of the kernel with a candidate, or nil for the kernel
// itself.
func comparison(t *record.Times, candidate int) *stats.Comparison {
	own := len(t.Names) - len(t.Rivals)
	switch {
	case candidate == 0:
		return nil
	case candidate < own:
		return t.Baseline
	}
	return &t.Rivals[candidate-own].Comparison
}

// ratio returns a comparison with its interval as a text. Below 1 the kernel is faster.
func ratio(c *stats.Comparison) string {
	if c == nil || c.Ratio == 0 {
		return ""
	}
	if c.Replicates < 2 { // one process says nothing about the next one
		return fmt.Sprintf("%.2f, 1 process", c.Ratio)
	}
	text := fmt.Sprintf("%.3f [%.3f, %.3f]", c.Ratio, c.Interval.Low, c.Interval.High)
	if c.Interval.Contains(1) {
		text += ", tie"
	}
	return text
}
