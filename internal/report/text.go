package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

// Nothing is the text for a store without records.
const Nothing = "no evidence yet: attest gate writes it"

// WriteText writes the verdicts and the times for a terminal.
func (v *View) WriteText(w io.Writer, style term.Style) {
	if len(v.Items) == 0 {
		if len(v.Scores) > 0 {
			v.writeScores(w, style)
		} else {
			fmt.Fprintln(w, Nothing)
		}
		if !v.Check.OK() {
			fmt.Fprintln(w, chainLine(v.Check))
		}
		return
	}
	v.Overview().WriteText(w, "", style)
	v.writeConfigs(w, style)
	fmt.Fprintf(w, "\n%s\n%s\n", style.Dim(v.GatesKey()), style.Dim(v.ErrorsKey()))
	v.writeElsewhere(w, style)
	v.writeTargets(w, style)
	for _, s := range v.Shapes {
		fmt.Fprintf(w, "\n%s\n", style.Bold(term.Clean(s.Title()+" on "+s.Device)))
		s.Table().WriteText(w, "  ", style)
	}
	if len(v.Shapes) == 0 {
		fmt.Fprintf(w, "\nnothing was timed: %s\n", term.Clean(orElse(strings.Join(v.Skipped(), "; "), "no record has times")))
	}
	v.writeScores(w, style)
	fmt.Fprintf(w, "\n%s\n", chainLine(v.Check))
}

// writeScores writes the mutation scores, if there are any.
func (v *View) writeScores(w io.Writer, style term.Style) {
	if len(v.Scores) > 0 {
		fmt.Fprintf(w, "\n%s\n", style.Bold("mutation scores"))
		v.ScoreTable().WriteText(w, "  ", style)
	}
}

// writeConfigs writes the configurations that the short names of kernels leave out.
func (v *View) writeConfigs(w io.Writer, style term.Style) {
	t := term.Table{Style: style}
	t.Head("kernel", "configuration")
	n := 0
	for _, k := range v.Kernels {
		if k.Config != "" {
			t.Row(term.Clean(k.Label), term.Clean(k.Config))
			n++
		}
	}
	if n > 0 {
		fmt.Fprintln(w)
		t.WriteTo(w)
	}
}

// writeTargets writes the targets, the milestones and the ladder.
func (v *View) writeTargets(w io.Writer, style term.Style) {
	write := func(title string, t *Table) {
		if len(t.Rows) > 0 {
			fmt.Fprintf(w, "\n%s\n", style.Bold(term.Clean(title)))
			t.WriteText(w, "  ", style)
		}
	}
	write("Targets", v.TargetTable())
	write("Milestones", v.MilestoneTable())
	for _, c := range v.Climbs() {
		write("From stage to stage: "+c.Title(), c.Table())
	}
}

// writeElsewhere writes the verdicts that may not hold on other chips.
func (v *View) writeElsewhere(w io.Writer, style term.Style) {
	list := v.Elsewhere()
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", style.Bold(elsewhereTitle))
	t := term.Table{Indent: "  "}
	for _, e := range list {
		t.Row(term.Clean(e.Kernel), string(e.Outcome), term.Clean(e.Text))
	}
	t.WriteTo(w)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// chainLine returns the result of the check of the store.
func chainLine(c *evidence.Check) string {
	if !c.OK() {
		return fmt.Sprintf("the evidence is damaged (%s): attest evidence verify lists the files", english.Count(len(c.Problems), "problem"))
	}
	return fmt.Sprintf("%s, the chain is whole, its head is %s", c.Counts.Text(), short(orElse(c.Head, none)))
}

// WriteRecord writes a whole record for a terminal.
func WriteRecord(w io.Writer, item *evidence.Item, style term.Style) {
	r := item.Record
	head := term.Table{}
	head.Row("record", item.Hash)
	for _, f := range facts(r) {
		head.Row(f[0], term.Clean(f[1]))
	}
	head.WriteTo(w)
	for _, j := range item.Verdicts {
		fmt.Fprintln(w)
		WriteVerdict(w, j, style)
	}
	for _, n := range item.Notes {
		fmt.Fprintln(w)
		WriteNote(w, n, style)
	}
	section := func(title string) { fmt.Fprintf(w, "\n%s\n", style.Bold(title)) }
	if r.Resources != nil {
		section("Resources")
		Budget(r.Resources).WriteText(w, "  ", style)
		if t := Occupancy(r.Resources); len(t.Rows) > 0 {
			section("Blocks per SM")
			t.WriteText(w, "  ", style)
		}
		for _, a := range r.Resources.Ptxas {
			section("ptxas -v for " + a.Target)
			writeRaw(w, a.Output)
		}
	}
	if r.Defects != nil {
		section("Defects")
		for _, line := range defects(r) {
			fmt.Fprintf(w, "  %s\n", term.Clean(line.Text))
			for _, more := range []struct{ name, text string }{{"why", line.Why}, {"fix", line.Fix}} {
				if more.text != "" {
					fmt.Fprintf(w, "    %s: %s\n", more.name, term.Clean(more.text))
				}
			}
		}
	}
	if c := r.Correctness; c != nil {
		section("Correctness")
		Cases(c).WriteText(w, "  ", style)
		for i := range c.Cases {
			writeMap(w, &c.Cases[i], c.Tolerance)
		}
	}
	if p := r.Performance; p != nil {
		section("Performance")
		if p.Skipped != "" {
			fmt.Fprintf(w, "  skipped: %s\n", term.Clean(p.Skipped))
		}
		for _, s := range New(&evidence.Contents{Items: []*evidence.Item{item}, Check: &evidence.Check{}}).Shapes {
			fmt.Fprintf(w, "  %s on %s\n", s.Title(), term.Clean(s.Device))
			s.Methods().WriteText(w, "    ", style)
			if t := s.Rivals(); len(t.Rows) > 0 {
				t.WriteText(w, "    ", style)
			}
		}
	}
	if r.Counters != nil {
		section("Counters")
		Counters(r.Counters).WriteText(w, "  ", style)
	}
	if a := r.Accuracy; a != nil {
		section("Accuracy")
		Deviations(a).WriteText(w, "  ", style)
		for _, n := range DeviationNotes(a) {
			fmt.Fprintf(w, "  %s\n", term.Clean(n))
		}
	}
	if p := r.Profile; p != nil {
		section("Profile")
		fmt.Fprintf(w, "  %s of shape %s: %s µs under the profiler; --json prints its table\n", term.Clean(p.Tool), p.Shape, term.Micros(p.Micros))
		Metrics(p).WriteText(w, "  ", style)
	}
}

// facts returns the kernel, the machine and the sources of a record.
func facts(r *record.Record) (all [][2]string) {
	say := func(name, what string) {
		if what != "" {
			all = append(all, [2]string{name, what})
		}
	}
	k, b := &r.Kernel, &r.Build
	say("kernel", k.Name)
	say("PTX", k.SHA256)
	say("entry", strings.TrimSpace(k.Entry+" for "+k.Target))
	say("formats", strings.TrimSpace(k.Format+" to "+k.Output))
	say("config", config(k.Config))
	if !k.Deterministic() {
		say("bits", "the kernel declares that it is not deterministic; only errors were judged")
	}
	if r.Baseline != nil {
		say("baseline", r.Baseline.Name+", PTX "+short(r.Baseline.SHA256))
	}
	say("device", b.Device.Name)
	say("host", b.Host)
	say("driver", b.Driver)
	say("ptxas", b.Ptxas)
	say("date", day(b.Time)+" UTC")
	say("attest", b.Attest)
	git := b.Git.Commit
	if b.Git.Dirty {
		git += ", with changes that are not committed"
	}
	say("sources", git)
	say("Go", strings.TrimSpace(b.Go+" "+b.OS))
	say("command", strings.Join(b.Command, " "))
	return all
}

// WriteVerdict writes a verdict for a terminal.
func WriteVerdict(w io.Writer, j evidence.Judgement, style term.Style) {
	fmt.Fprintf(w, "%s  %s  %s\n", colour(j.Outcome, style), term.Clean(j.Why), style.Dim("verdict "+short(j.Hash)+", "+day(j.Time)))
	t := term.Table{Indent: "  "}
	for _, g := range j.Gates {
		t.Row(marks[g.Status], string(g.Name), string(g.Status), term.Clean(g.Summary))
	}
	t.WriteTo(w)
}

// colour returns an outcome in its colour.
func colour(o record.Outcome, style term.Style) string {
	switch o {
	case record.Merge, record.Correct, record.NoChange:
		return style.Green(string(o))
	case record.Reject:
		return style.Red(string(o))
	case record.Defer:
		return style.Yellow(string(o))
	}
	return style.Bold(term.Clean(string(o)))
}

// Defect is one line about the defects of a kernel, with the cause and the fix of a finding.
type Defect struct{ Text, Why, Fix string }

// defects returns how much the checkers ran, and what they found.
func defects(r *record.Record) (lines []Defect) {
	d := r.Defects
	say := func(format string, args ...any) { lines = append(lines, Defect{Text: fmt.Sprintf(format, args...)}) }
	say("%s and %s in %s of %s", english.Count(d.Errors, "error"), english.Count(d.Warnings, "warning"), english.Count(len(d.Schedules), "schedule"), term.List(d.Shapes, " and "))
	switch {
	case d.Depends && r.Kernel.Deterministic():
		say("the output depends on the schedule")
	case d.Depends:
		say("the last bits of the output depend on the schedule, as the kernel declares")
	}
	if d.Wrong != "" {
		say("the output is wrong in some schedule: %s", d.Wrong)
	}
	for i := range d.Found {
		f := &d.Found[i]
		text := fmt.Sprintf("%s: %s [%s] at line %d of the PTX", f.Severity, f.Message, f.Kind, f.Line)
		if f.Source != "" {
			text += ", from " + f.Source
		}
		say("%s; %s, shape %s, seen %s", text, orElse(f.Who(), f.Note), f.Shape, english.Count(f.Count, "time"))
		lines[len(lines)-1].Why, lines[len(lines)-1].Fix = f.Why, f.Fix
	}
	return lines
}

// shades are the letters of a map of errors, from small errors to large ones.
var shades = []rune("·░▒▓█")

// writeMap writes a map of the errors of a case, one line per head.
func writeMap(w io.Writer, c *record.Case, t record.Tolerance) {
	if len(c.Map) == 0 {
		return
	}
	m, most := mapOf(c), mostOf(c, t)
	fmt.Fprintf(w, "\n  errors of %s, seed %d: one line per head, one column per tile of rows\n", caseName(c), c.Seed)
	for head := range m.heads {
		var b strings.Builder
		for tile := range m.tiles {
			b.WriteRune(shades[shade(m.at(head, tile), most, len(shades))])
		}
		fmt.Fprintf(w, "  %3d  %s\n", head, b.String())
	}
	fmt.Fprintf(w, "       %c at most half of the limit %s, %c more than twice the limit\n", shades[0], limit(most), shades[len(shades)-1])
}

// Budget returns the resources of a kernel beside its budget.
func Budget(r *record.Resources) *Table {
	t := &Table{Head: []string{"target", "registers", "shared static", "dynamic", "spill stores", "spill loads", "stack", "constant", "by"}, Right: "lrrrrrrrl"}
	for i := range r.Usage {
		u := &r.Usage[i]
		t.Rows = append(t.Rows, []Cell{
			text(u.Target), text(figure(u.Registers)), text(figure(u.Shared)), text(fmt.Sprint(r.Dynamic)), text(figure(u.SpillStores)),
			text(figure(u.SpillLoads)), text(figure(u.Stack)), text(figure(u.Constant)), mute(string(u.Registers.Source)),
		})
	}
	b := r.Budget
	if b == (record.Budget{}) {
		return t // a profile judges nothing
	}
	t.Rows = append(t.Rows, []Cell{
		mute("budget"), mute(fmt.Sprint(b.Registers)), mute(fmt.Sprint(b.Shared)), mute("both"), mute(fmt.Sprint(b.Spills)), mute(fmt.Sprint(b.Spills)), mute(""), mute(""), mute(""),
	})
	return t
}

// errorMap holds the errors by head and tile of rows. The heads of all batches are numbered
// consecutively.
type errorMap struct {
	heads, tiles int
	max          map[[2]int]float64
}

func mapOf(c *record.Case) *errorMap {
	m := &errorMap{max: map[[2]int]float64{}}
	perBatch := max(c.Shape.Hq, 1)
	for _, t := range c.Map {
		at := [2]int{t.Batch*perBatch + t.Head, t.RowTile}
		m.heads, m.tiles = max(m.heads, at[0]+1), max(m.tiles, at[1]+1)
		m.max[at] = max(m.max[at], t.Max)
	}
	return m
}

func (m *errorMap) at(head, tile int) float64 { return m.max[[2]int{head, tile}] }

// mostOf returns the limit of the errors of a case: the tolerance, or the error of the format
// where that is larger.
func mostOf(c *record.Case, t record.Tolerance) float64 {
	if c.Plain != nil && c.Plain.NotFinite == 0 {
		return max(t.Max, c.Plain.Max)
	}
	return t.Max
}

// shade returns the number of the shade of an error, out of n: the first up to half of the
// tolerance, the last above twice the tolerance.
func shade(x, tolerance float64, n int) int {
	at := 0
	for limit := tolerance / 2; at < n-1 && x > limit; limit += tolerance / 2 {
		at++
	}
	return at
}
