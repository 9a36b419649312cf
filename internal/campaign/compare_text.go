package campaign

import (
	"fmt"
	"maps"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

// Show writes the result.
func (r *CompareResult) Show(env *cli.Env) {
	if env.JSON {
		env.Encode(r)
		return
	}
	s := env.OutStyle()
	r.Difference.WriteText(env, s)
	if r.B.Performance != nil && len(r.B.Performance.Shapes) > 0 && r.B.Baseline != nil && r.B.Baseline.Same(&r.A.Kernel) {
		fmt.Fprintf(env, "\n%s in turns with %s\n", s.Bold(term.Clean(r.B.Kernel.Name)), term.Clean(r.A.Kernel.Name))
		printTimes(env, r.B.Performance)
	}
	printCounters(env, r.B.Counters)
	r.printPredicted(env)
}

// printCounters prints the counters that differ.
func printCounters(env *cli.Env, c *record.Counters) {
	if c == nil || len(c.Baseline) == 0 {
		return
	}
	t := term.Table{Right: "lrrr", Style: env.OutStyle()}
	t.Head("counters on "+c.Shape.String(), "A", "B", "B / A")
	all := maps.Clone(c.Kernel)
	maps.Copy(all, c.Baseline)
	n := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a, b := c.Baseline[name], c.Kernel[name]; a != b {
			n++
			t.Row(name, fmt.Sprintf("%.6g", a), fmt.Sprintf("%.6g", b), over(b, a))
		}
	}
	if n > 0 {
		fmt.Fprintln(env)
		t.WriteTo(env)
	}
}

// over writes b divided by a, "" where a is 0.
func over(b, a float64) string {
	if a <= 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", b/a)
}

func (r *CompareResult) printPredicted(env *cli.Env) {
	if r.Predicted == nil {
		return
	}
	a, b := r.Predicted.A, r.Predicted.B
	t := term.Table{Right: "lrrr", Style: env.OutStyle()}
	t.Head("PREDICTED µs on "+a.Chip, "A", "B", "B / A")
	row := func(name string, a, b float64) { t.Row(name, term.Micros(a), term.Micros(b), over(b, a)) }
	for u := range a.Units {
		row(a.Units[u].Unit.String(), a.Units[u].Micros, b.Units[u].Micros)
	}
	row("the busiest unit alone", a.Low, b.Low)
	row("phase by phase", a.High, b.High)
	fmt.Fprintln(env)
	t.WriteTo(env)
}
