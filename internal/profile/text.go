package profile

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/listing"
	"github.com/GOATnote-Inc/attest/internal/ncu"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// Text says how much of a report is printed.
type Text struct {
	Lines    int  // how many source lines at most
	Counters bool // all counters too
}

// bars are the three resources that a kernel waits for, with the units of each.
var bars = []struct {
	name  string
	units []predict.Unit
}{
	{"tensor", []predict.Unit{predict.Tensor}},
	{"exp, ALU", []predict.Unit{predict.Exp, predict.Float, predict.Integer, predict.Issue}},
	{"memory", []predict.Unit{predict.Shared, predict.Global, predict.DRAM}},
}

// barColumns is the width of a bar.
const barColumns = 24

// WriteText prints the report on one screen.
func (r *Report) WriteText(w io.Writer, style term.Style, t Text) {
	p := r.Predicted
	fmt.Fprintf(w, "%s  %s\n", style.Bold(term.Clean(r.Kernel)), style.Dim(r.title()))
	fmt.Fprintf(w, "%s for %s: %s µs, most likely between %s and %s;\nthe busiest unit (%v) alone takes %s µs; simulated, not measured\n\n",
		style.Yellow("PREDICTED"), p.Chip, term.Micros(p.Micros), term.Micros(p.Low), term.Micros(p.High), p.Limit, term.Micros(p.Floor))
	for _, note := range p.Notes {
		fmt.Fprintf(w, "caution: %s\n\n", note)
	}
	writeLaunches(w, style, r.Launches)
	for _, b := range bars {
		writeBar(w, style, p, b.name, b.units)
	}
	writeReasons(w, style, p)
	writeOccupancy(w, style, r.resources)
	writePhases(w, style, p)
	writeLines(w, style, p, t.Lines)
	writeNCU(w, style, r.NCU, r.NCUNote)
	if r.NCU != nil && len(r.NCU.Stalls) > 0 {
		writeStalls(w, style, r.Stalls)
	}
	writeMetrics(w, style, r.NCU, r.asked)
	if t.Counters {
		for _, l := range r.Launches {
			fmt.Fprintln(w)
			if l.Counts != nil {
				listing.Counters(w, style, l.Counts)
			}
		}
	}
}

// title says what the kernel computes, and how it is configured.
func (r *Report) title() string {
	if r.subject == nil {
		return english.Count(len(r.Launches), "launch")
	}
	return Title(r.subject, r.shape)
}

// Title returns the format, the target and the configuration of a kernel, and the shape.
func Title(s *lab.Subject, shape problem.Named) string {
	title := fmt.Sprintf("%s, %s", s.Problem.Format, s.Target)
	if c := lab.Configuration(s.Describe()); c != "" {
		title += ", " + c
	}
	return title + ", " + shapes.Long(shape)
}

// writeLaunches shows each launch of a kernel that has several, and their sum.
func writeLaunches(w io.Writer, style term.Style, launches []Launch) {
	if len(launches) < 2 {
		return
	}
	t := term.Table{Indent: "  ", Right: "lrrrl", Style: style}
	t.Head("launch", "blocks", "µs", "floor µs", "busiest")
	var micros, floor float64
	for _, l := range launches {
		p := l.Predicted
		micros, floor = micros+p.Micros, floor+p.Floor
		t.Row(term.Clean(l.Entry), p.Blocks, term.Micros(p.Micros), term.Micros(p.Floor), p.Limit)
	}
	t.Row("sum", "", term.Micros(micros), term.Micros(floor), "")
	t.WriteTo(w)
	fmt.Fprintln(w)
}

// writeReasons shows what the sub-cores do or wait for.
func writeReasons(w io.Writer, style term.Style, p *predict.Profile) {
	t := term.Table{Indent: "  ", Right: "lrr", Style: style}
	t.Head("time goes to", "µs", "share")
	for _, r := range p.Reasons {
		if share := r.Micros / max(p.Micros, 1e-12); share >= smallest {
			t.Row(r.Reason, term.Micros(r.Micros), fmt.Sprintf("%.0f %%", 100*share))
		}
	}
	fmt.Fprintln(w)
	t.WriteTo(w)
}

// writeBar shows how long the units of one kind are busy, relative to the whole time.
func writeBar(w io.Writer, style term.Style, p *predict.Profile, name string, units []predict.Unit) {
	most := 0.0
	order := slices.Clone(units)
	sorted.By(order, func(a, b predict.Unit) int { return cmp.Compare(p.Of(b), p.Of(a)) })
	var parts []string
	for _, u := range order {
		most = max(most, p.Of(u))
		parts = append(parts, fmt.Sprintf("%v %s", u, term.Micros(p.Of(u))))
	}
	text := ""
	if len(parts) > 1 {
		text = "  " + style.Dim(strings.Join(parts, ", "))
	}
	fmt.Fprintf(w, "  %-8s  %s  %6s µs%s\n", name, term.Bar(most/max(p.Micros, 1e-12), barColumns), term.Micros(most), text)
}

// smallest is the least share of the time that a phase or a line must have to be printed.
// Improving anything smaller does not pay.
const smallest = 0.005

func writePhases(w io.Writer, style term.Style, p *predict.Profile) {
	t := term.Table{Indent: "  ", Right: "lrrl", Style: style}
	t.Head("phase", "µs", "share", "mostly")
	for _, part := range p.Phases {
		if part.Share >= smallest {
			t.Row(term.Clean(part.Name), term.Micros(part.Micros), fmt.Sprintf("%.0f %%", 100*part.Share), part.Main())
		}
	}
	fmt.Fprintln(w)
	t.WriteTo(w)
}

func writeLines(w io.Writer, style term.Style, p *predict.Profile, most int) {
	t := term.Table{Indent: "  ", Right: "lrrlrrl", Style: style}
	t.Head("source", "µs", "share", "mostly", "PTX line", "copies", "instruction")
	n := 0
	for _, part := range p.Lines {
		if n == most || part.Share < smallest {
			break
		}
		n++
		t.Row(term.Clean(path.Base(part.Source)), term.Micros(part.Micros), fmt.Sprintf("%.0f %%", 100*part.Share), part.Main(), part.Line, part.Copies, term.Clean(part.Name))
	}
	if n > 0 {
		fmt.Fprintln(w)
		t.WriteTo(w)
	}
}

// writeNCU shows what Nsight Compute measured, or why it measured nothing.
func writeNCU(w io.Writer, style term.Style, n *ncu.Profile, note string) {
	fmt.Fprintln(w)
	if n == nil {
		fmt.Fprintf(w, "not measured: %s\n", term.Clean(note))
		return
	}
	fmt.Fprintf(w, "%s by Nsight Compute, which slows a kernel down: %s µs; per cent of the peak\n\n", style.Green("MEASURED"), term.Micros(n.Micros))
	for _, b := range []struct {
		name  string
		share float64
	}{{"tensor", n.Tensor}, {"exp, ALU", n.Arithmetic}, {"memory", n.Memory}} {
		fmt.Fprintf(w, "  %-8s  %s  %5.1f %%\n", b.name, term.Bar(b.share/100, barColumns), b.share)
	}
}

// writeMetrics shows the metrics that were asked for.
func writeMetrics(w io.Writer, style term.Style, n *ncu.Profile, asked []string) {
	if n == nil || len(asked) == 0 {
		return
	}
	t := term.Table{Indent: "  ", Right: "lrl", Style: style}
	t.Head("metric", "value", "unit")
	for _, name := range asked {
		for _, have := range n.Matching(name) {
			t.Row(have, strconv.FormatFloat(n.Metrics[have], 'g', 6, 64), term.Clean(n.Units[have]))
		}
	}
	fmt.Fprintln(w)
	t.WriteTo(w)
}
