package execrun

import (
	"fmt"
	"io"
	"strings"

	emucount "github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/listing"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// print writes the report for people: findings to the error stream, what was compared
// and counted to standard output.
func (x *Runner) print(r *Report) {
	for i, l := range r.Launches {
		f := x.fileOf(l)
		findingtext.NewPrinter(x.env.Err, x.env.ErrStyle(), f.File, f.Text).Print(l.found.All())
		x.printMismatches(i, l)
	}
	if x.Counters {
		for i, l := range r.Launches {
			if l.Counters != nil {
				fmt.Fprintf(x.env, "launch %d: ", i)
				listing.Counters(x.env, x.env.OutStyle(), l.Counters)
				fmt.Fprintln(x.env)
			}
		}
	}
	if x.Listing == Stdout {
		x.list(x.env, x.env.OutStyle(), r)
	}
	if x.Stats {
		r.printStats(x)
	}
	x.printVerdict(r)
}

func (x *Runner) printMismatches(index int, l *Launch) {
	for _, c := range l.result.Comparisons {
		if c.Mismatches == 0 {
			continue
		}
		fmt.Fprintf(x.env, "launch %d, %s: %s\n", index, l.Entry, c)
		t := term.Table{Indent: "  ", Right: "rrr", Style: x.env.OutStyle()}
		t.Head("element", "got", "want")
		for _, m := range c.First {
			t.Row(m.Index, m.Got, m.Want)
		}
		t.WriteTo(x.env)
	}
	if l.OtherFMA != "" {
		fmt.Fprintf(x.env, "launch %d, %s: %s\n", index, l.Entry, l.otherFMA())
	}
}

// printVerdict writes the last line: ok or bad, and how much was looked at.
func (x *Runner) printVerdict(r *Report) {
	var compared, mismatches int64
	for _, l := range r.Launches {
		compared += l.Compared
		mismatches += l.Mismatches
	}
	errs, warnings := r.count()
	s := x.env.OutStyle()
	verdict := s.Green("ok")
	switch {
	case !r.ok():
		verdict = s.Red("bad")
	case warnings > 0:
		verdict = s.Yellow("ok")
	}
	what := []string{"nothing compared"}
	if compared > 0 {
		what = []string{english.Count(compared, "value") + " compared", english.Count(mismatches, "mismatch")}
	}
	if r.Schedules > 1 {
		what = append(what, english.Count(r.Schedules, "schedule"))
	}
	if errs > 0 {
		what = append(what, english.Count(errs, "error"))
	}
	if warnings > 0 {
		what = append(what, english.Count(warnings, "warning"))
	}
	if errs+warnings == 0 && len(x.kinds) > 0 {
		what = append(what, "no defects")
	}
	if r.skipped > 0 {
		what = append(what, english.Count(r.skipped, "launch")+" not run")
	}
	fmt.Fprintf(x.env, "%s: %s on %s: %s\n", verdict, english.Count(len(r.Launches), "launch"), r.Device, strings.Join(what, ", "))
}

// list writes the annotated PTX of the command's file.
func (x *Runner) list(w io.Writer, s term.Style, r *Report) {
	var counts []*emucount.Counts
	var found []finding.Finding
	for _, l := range r.Launches {
		if x.fileOf(l) != x.file {
			continue
		}
		found = append(found, l.found.All()...)
		if l.Counters != nil {
			counts = append(counts, l.Counters)
		}
	}
	listing.Write(w, s, x.file.Module, x.file.Text, counts, found)
}

func (r *Report) printStats(x *Runner) {
	t := term.Table{Right: "rlrrrr", Style: x.env.OutStyle()}
	t.Head("launch", "kernel", "thread instructions", "warp instructions", "seconds", "million per second")
	for i, l := range r.Launches {
		rate := float64(l.Stats.ThreadInstructions) / 1e6 / max(l.Stats.Seconds, 1e-9)
		t.Row(i, l.Entry, l.Stats.ThreadInstructions, l.Stats.WarpInstructions, fmt.Sprintf("%.3f", l.Stats.Seconds), fmt.Sprintf("%.1f", rate))
	}
	t.WriteTo(x.env)
}
