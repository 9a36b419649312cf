package report

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/targets"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/record"
)

// climbSection shows how the times fell from stage to stage.
var climbSection = section{
	id: "ladder", title: "From stage to stage",
	show: func(p *Page) bool { return len(p.All.Climbs()) > 0 },
	body: `{{range .All.Climbs}}<h3>{{.Title}}</h3>{{template "table" .Table}}{{end}}
<p class="note">{{.All.ClimbKey}}</p>`,
}

// Step is one rung of the ladder on a shape.
type Step struct {
	Kernel      string         `json:"kernel"`
	Format      string         `json:"format"`
	Micros      float64        `json:"us"`          // the median
	First       *float64       `json:"over_first"`  // the speedup over the first stage, nil if that was not timed
	Predecessor string         `json:"predecessor"` // the kernel that it builds on, or ""
	Over        *float64       `json:"over_predecessor"`
	SameRun     bool           `json:"same_run"` // whether both were timed interleaved in one run
	Outcome     record.Outcome `json:"outcome"`
	Record      string         `json:"record"`

	row  *Row
	over string // Over with its interval
}

// Climb is the ladder on one shape of one device, in its order.
type Climb struct {
	Device string `json:"device"`
	Shape  string `json:"shape"`
	First  string `json:"first"` // the stage that the speedups are relative to
	Steps  []Step `json:"steps"`
}

// Climbs returns the ladder for each device and shape on which at least two of its kernels were
// timed. All times are medians of replayed graphs with a warm cache.
func (v *View) Climbs() (list []Climb) {
	for _, s := range v.Shapes {
		c := Climb{Device: s.Device, Shape: s.Title(), First: targets.FirstStage}
		for _, name := range kernels.Ladder() {
			for _, r := range s.Rows {
				if r.counts() && r.Item.Kernel.Name == name {
					c.Steps = append(c.Steps, s.step(r))
				}
			}
		}
		if len(c.Steps) > 1 {
			list = append(list, c)
		}
	}
	return list
}

// rung returns the row of a kernel on the shape, of a format if there is one, or nil.
func (s *Shape) rung(name, format string) (found *Row) {
	for _, r := range s.Rows {
		if r.counts() && r.Item.Kernel.Name == name && (found == nil || r.Item.Kernel.Format == format) {
			found = r
		}
	}
	return found
}

// step returns the speedups of a row over the first stage and over its predecessor.
func (s *Shape) step(r *Row) Step {
	m := r.Main()
	x := Step{Kernel: r.Label, Format: r.Item.Kernel.Format, Micros: m.Summary.P50, Predecessor: kernels.Base(r.Item.Kernel.Name), Record: r.Item.Hash, row: r, over: none}
	if j := r.Item.Verdict(); j != nil {
		x.Outcome = j.Outcome
	}
	ratio := func(to *Row) *float64 {
		if to == nil {
			return nil
		}
		f := to.Main().Summary.P50 / x.Micros
		return &f
	}
	x.First = ratio(s.rung(targets.FirstStage, x.Format))
	if b, c := r.Item.Baseline, m.Times.Baseline; b != nil && c != nil && b.Name == x.Predecessor && c.Ratio > 0 {
		f := 1 / c.Ratio
		x.Over, x.SameRun, x.over = &f, true, speedup(c)+" "+b.Name
	} else if x.Over = ratio(s.rung(x.Predecessor, x.Format)); x.Over != nil {
		x.over = fmt.Sprintf("%s %s, two runs", times(*x.Over), x.Predecessor)
	}
	return x
}

// Title returns the shape and the device.
func (c *Climb) Title() string { return c.Shape + " on " + c.Device }

// Table returns the rungs.
func (c *Climb) Table() *Table {
	t := &Table{Head: []string{"kernel", "format", "p50 µs", "over " + c.First, "over its predecessor", "verdict", "record"}, Right: "llrrlll"}
	for _, x := range c.Steps {
		first := mute(none)
		if x.First != nil {
			first = text(times(*x.First))
		}
		t.Rows = append(t.Rows, []Cell{text(x.Kernel), text(orNone(x.Format)), text(figures(x.Micros)), first, text(x.over), outcome(x.Outcome), source(x.row.Item)})
	}
	return t
}

// ClimbKey explains the tables of the ladder.
func (v *View) ClimbKey() string {
	key := "Medians of replayed graphs with a warm cache; above 1 is faster. Speedups over the predecessor have their 95 % interval where both kernels took turns in one run."
	mixed := func(c Climb) bool {
		return slices.ContainsFunc(c.Steps, func(x Step) bool { return x.Format != c.Steps[0].Format })
	}
	if slices.ContainsFunc(v.Climbs(), mixed) {
		key += " The formats differ: a factor between two formats compares kernels and not formats of the same kernel."
	}
	return key
}
