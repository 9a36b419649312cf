package campaign

import (
	"fmt"
	"maps"
	"math"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
)

// Show writes the result.
func (r *CompareResult) Show(env *cli.Env) {
	if env.JSON {
		env.Encode(r)
		return
	}
	s := env.OutStyle()
	r.Difference.WriteText(env, s)
	if r.B.Performance != nil && len(r.B.Performance.Shapes) > 0 && r.timedTogether() {
		fmt.Fprintf(env, "\n%s in turns with %s\n", s.Bold(term.Clean(r.B.Kernel.Name)), term.Clean(r.A.Kernel.Name))
		printTimes(env, r.B.Performance)
	}
	r.printCounters(env)
	r.printPredicted(env)
}

// counters are those of A and of B on the same shape, nil where there are none.
func (r *CompareResult) counters() (shape problem.Shape, a, b map[string]float64) {
	ca, cb := r.A.Counters, r.B.Counters
	switch {
	case cb == nil:
		return shape, nil, nil
	case ca != nil && ca.Shape == cb.Shape:
		return cb.Shape, ca.Kernel, cb.Kernel
	case r.timedTogether(): // B's record also has those of its baseline, which is A
		return cb.Shape, cb.Baseline, cb.Kernel
	}
	return shape, nil, nil
}

// timedTogether reports whether A was the baseline that B was measured beside.
func (r *CompareResult) timedTogether() bool {
	return r.B.Baseline != nil && r.B.Baseline.Same(&r.A.Kernel)
}

// printCounters prints the counters that differ.
func (r *CompareResult) printCounters(env *cli.Env) {
	shape, a, b := r.counters()
	if len(a) == 0 || len(b) == 0 {
		return
	}
	t := term.Table{Right: "lrrr", Style: env.OutStyle()}
	t.Head("counters on "+shape.String(), "A", "B", "B / A")
	all := maps.Clone(a)
	maps.Copy(all, b)
	n := 0
	for _, name := range sorted.Keys(all) {
		if report.Counter(a[name]) != report.Counter(b[name]) {
			n++
			t.Row(name, report.Counter(a[name]), report.Counter(b[name]), over(b[name], a[name]))
		}
	}
	if n > 0 {
		fmt.Fprintln(env)
		t.WriteTo(env)
	}
}

// over returns b / a as a text, or "" if a is 0.
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
	row("the busiest unit alone", a.Floor, b.Floor)
	row("the kernel", a.Micros, b.Micros)
	fmt.Fprintln(env)
	t.WriteTo(env)
	printDeltas(env, "difference by reason", "", r.Predicted.Difference.Reasons)
	printDeltas(env, "difference by phase", "mostly", r.Predicted.Difference.Phases)
}

// mostDeltas is the number of rows of a table of differences.
const mostDeltas = 8

// leastDelta is the smallest difference that is printed, in microseconds.
const leastDelta = 0.01

// printDeltas shows where a predicted difference in time arises, the largest part first.
func printDeltas(env *cli.Env, title, last string, list []predict.Delta) {
	t := term.Table{Right: "lrrrl", Style: env.OutStyle()}
	t.Head(title, "A µs", "B µs", "B - A", last)
	n := 0
	for _, d := range list {
		if n == mostDeltas || math.Abs(d.Difference) < leastDelta {
			break
		}
		n++
		t.Row(term.Clean(d.Name), term.Micros(d.A), term.Micros(d.B), fmt.Sprintf("%+.2f", d.Difference), d.Mostly)
	}
	if n > 0 {
		fmt.Fprintln(env)
		t.WriteTo(env)
	}
}
