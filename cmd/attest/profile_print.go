package main

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/listing"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// bars are the three things that a kernel waits for, and the units of each.
var bars = []struct {
	name  string
	units []predict.Unit
}{
	{"tensor", []predict.Unit{predict.Tensor}},
	{"exp, ALU", []predict.Unit{predict.Exp, predict.Float, predict.Integer, predict.Issue}},
	{"memory", []predict.Unit{predict.Shared, predict.Global, predict.DRAM}},
}

func (x *profiler) print(s *lab.Subject, shape problem.Named, r *profileReport) {
	style := x.env.OutStyle()
	p := r.Predicted
	fmt.Fprintf(x.env, "%s  %s\n", style.Bold(term.Clean(s.Name)), style.Dim(fmt.Sprintf("%s, %s%s, %s", s.ABI.Format, s.Target, configured(s.Kernel()), profileShape(shape))))
	fmt.Fprintf(x.env, "%s for %s: %s µs if the busiest unit hides the others,\n%s µs if nothing is hidden; from throughputs, not measured\n\n",
		style.Yellow("PREDICTED"), p.Chip, micros(p.Low), micros(p.High))
	for _, b := range bars {
		x.printBar(p, b.name, b.units)
	}
	x.printPhases(p)
	x.printLines(p)
	x.printNCU(r)
	if x.counters {
		fmt.Fprintln(x.env)
		listing.Counters(x.env, style, r.Counters.Counts)
	}
}

func profileShape(n problem.Named) string {
	if n.Name != "" {
		return fmt.Sprintf("%s (%v)", n.Name, n.Shape)
	}
	return n.Shape.String()
}

// printBar is how long a kind of unit is busy, of the time of the busiest.
func (x *profiler) printBar(p *predict.Profile, name string, units []predict.Unit) {
	most := 0.0
	order := slices.Clone(units)
	slices.SortStableFunc(order, func(a, b predict.Unit) int {
		switch {
		case p.Of(a) > p.Of(b):
			return -1
		case p.Of(a) < p.Of(b):
			return 1
		}
		return 0
	})
	var parts []string
	for _, u := range order {
		most = max(most, p.Of(u))
		parts = append(parts, fmt.Sprintf("%v %s", u, micros(p.Of(u))))
	}
	text := ""
	if len(parts) > 1 {
		text = "  " + x.env.OutStyle().Dim(strings.Join(parts, ", "))
	}
	fmt.Fprintf(x.env, "  %-8s  %s  %6s µs%s\n", name, bar(most/max(p.Low, 1e-12), 24), micros(most), text)
}

// bar is a share from 0 to 1 as a bar of so many columns.
func bar(share float64, columns int) string {
	full := int(math.Round(min(max(share, 0), 1) * float64(columns)))
	return strings.Repeat("█", full) + strings.Repeat("░", columns-full)
}

// micros writes a time with three digits that say something.
func micros(us float64) string {
	switch {
	case us >= 99.95:
		return fmt.Sprintf("%.0f", us)
	case us >= 9.995:
		return fmt.Sprintf("%.1f", us)
	}
	return fmt.Sprintf("%.2f", us)
}

// smallest is the share of a phase or a line that is shown: what is below cannot pay.
const smallest = 0.005

func (x *profiler) printPhases(p *predict.Profile) {
	t := term.Table{Indent: "  ", Right: "lrrl", Style: x.env.OutStyle()}
	t.Head("phase", "µs", "share", "busiest")
	for _, part := range p.Phases {
		if part.Share >= smallest {
			t.Row(term.Clean(part.Name), micros(part.Micros), fmt.Sprintf("%.0f %%", 100*part.Share), part.Limit)
		}
	}
	fmt.Fprintln(x.env)
	t.WriteTo(x.env)
}

func (x *profiler) printLines(p *predict.Profile) {
	t := term.Table{Indent: "  ", Right: "lrrlrrl", Style: x.env.OutStyle()}
	t.Head("source", "µs", "share", "busiest", "PTX line", "copies", "instruction")
	n := 0
	for _, part := range p.Lines {
		if n == x.lines || part.Share < smallest {
			break
		}
		n++
		t.Row(term.Clean(path.Base(part.Source)), micros(part.Micros), fmt.Sprintf("%.0f %%", 100*part.Share), part.Limit, part.Line, part.Copies, term.Clean(part.Name))
	}
	if n > 0 {
		fmt.Fprintln(x.env)
		t.WriteTo(x.env)
	}
}

// printNCU is what was measured, if anything was.
func (x *profiler) printNCU(r *profileReport) {
	fmt.Fprintln(x.env)
	if r.NCU == nil {
		fmt.Fprintf(x.env, "not measured: %s\n", term.Clean(r.NCUNote))
		return
	}
	n := r.NCU
	fmt.Fprintf(x.env, "%s by Nsight Compute, which slows a kernel down: %s µs; per cent of the peak\n\n", x.env.OutStyle().Green("MEASURED"), micros(n.Micros))
	for _, b := range []struct {
		name  string
		share float64
	}{{"tensor", n.Tensor}, {"exp, ALU", n.Arithmetic}, {"memory", n.Memory}} {
		fmt.Fprintf(x.env, "  %-8s  %s  %5.1f %%\n", b.name, bar(b.share/100, 24), b.share)
	}
}
