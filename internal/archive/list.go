package archive

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// Filter selects records. An empty field selects all.
type Filter struct {
	Kernel  string // a part of the name
	Outcome string // the outcome, in upper or lower case
	Shape   problem.Shape
}

// Line is the JSON of one record in attest evidence list. Outcome, Why and Verdict belong to the
// newest verdict, or are "". The Why of a profile names its tool.
type Line struct {
	Hash    string          `json:"hash"`
	Seq     int             `json:"seq"`
	Time    time.Time       `json:"time"`
	Kernel  string          `json:"kernel"`
	PTX     string          `json:"ptx"`
	Format  string          `json:"format"`
	Target  string          `json:"target"`
	Device  string          `json:"device"`
	Shapes  []problem.Shape `json:"shapes"` // the shapes with errors, times or a profile
	Outcome record.Outcome  `json:"outcome"`
	Why     string          `json:"why"`
	Verdict string          `json:"verdict"`
}

// Outcomes returns the values of --outcome.
func Outcomes() (names []string) {
	for _, o := range record.Outcomes() {
		names = append(names, string(o))
	}
	return names
}

// List prints the records that a filter selects, the oldest first, with their newest verdicts.
func (a *Archive) List(f Filter) error {
	f.Outcome = strings.ToUpper(f.Outcome)
	if f.Outcome != "" && !slices.Contains(Outcomes(), f.Outcome) {
		return fmt.Errorf("--outcome %s: use one of %s", f.Outcome, strings.Join(Outcomes(), ", "))
	}
	s, err := a.open()
	if err != nil {
		return err
	}
	c := reading(a, s.Load)
	var lines []Line
	for _, item := range c.Items {
		if l := newLine(item); f.takes(&l) {
			lines = append(lines, l)
		}
	}
	if a.Env.JSON {
		for _, l := range lines {
			a.Env.Encode(l)
		}
	} else {
		a.printLines(lines, len(c.Items))
	}
	return a.damaged(c.Check.Problems)
}

func newLine(item *evidence.Item) Line {
	l := Line{
		Hash: item.Hash, Seq: item.Seq, Time: item.Build.Time, Kernel: item.Kernel.Name, PTX: item.Kernel.SHA256, Format: item.Kernel.Format,
		Target: item.Kernel.Target, Device: item.Build.Device.Name, Shapes: shapesOf(item.Record),
	}
	if j := item.Verdict(); j != nil {
		l.Outcome, l.Why, l.Verdict = j.Outcome, j.Why, j.Hash
	} else if item.Profile != nil {
		l.Why = "a profile by " + item.Profile.Tool
	}
	return l
}

func (a *Archive) printLines(lines []Line, of int) {
	switch {
	case of == 0:
		fmt.Fprintf(a.Env, "there is no evidence in %s\n", term.Clean(a.Dir))
		return
	case len(lines) == 0:
		fmt.Fprintf(a.Env, "none of %s matches\n", english.Count(of, "record"))
		return
	}
	t := term.Table{Right: "l", Style: a.Env.OutStyle()}
	t.Head("record", "date", "kernel", "format", "target", "device", "outcome", "why")
	for _, l := range lines {
		outcome := string(l.Outcome)
		if outcome == "" {
			outcome = "-"
		}
		t.Row(l.Hash[:10], l.Time.UTC().Format("2006-01-02 15:04"), term.Clean(l.Kernel), l.Format, l.Target, term.Clean(l.Device), outcome, term.Clean(l.Why))
	}
	t.WriteTo(a.Env)
}

func (f *Filter) takes(l *Line) bool {
	return strings.Contains(l.Kernel, f.Kernel) && (f.Outcome == "" || string(l.Outcome) == f.Outcome) &&
		(f.Shape == problem.Shape{} || slices.Contains(l.Shapes, f.Shape))
}

// shapesOf returns the shapes of a record that have errors, times or a profile.
func shapesOf(r *record.Record) []problem.Shape {
	shapes := []problem.Shape{}
	add := func(s problem.Shape) {
		if !slices.Contains(shapes, s) {
			shapes = append(shapes, s)
		}
	}
	if r.Correctness != nil {
		for i := range r.Correctness.Cases {
			add(r.Correctness.Cases[i].Shape)
		}
	}
	if r.Performance != nil {
		for i := range r.Performance.Shapes {
			add(r.Performance.Shapes[i].Shape)
		}
	}
	if r.Profile != nil {
		add(r.Profile.Shape)
	}
	return shapes
}
