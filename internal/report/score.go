package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

// scoresSection shows how many planted mistakes the gates find in each kernel.
var scoresSection = section{
	id: "scores", title: "Mutation scores",
	show: func(p *Page) bool { return len(p.All.Scores) > 0 },
	body: `{{template "table" .All.ScoreTable}}
<p class="note">The score is the share of wrong mutants, copies of the kernel with one planted mistake, that the gates reject. Mutants with the bits of the kernel are equivalent, and mutants with other bits and errors of the same size are accurate; neither counts. The sample has all mistakes in the synchronisation and some others, in random order; "80 of 300" means that time was left for the first 80 mutants. The newest score of each kernel is shown.</p>`,
}

// ScoreTable is the table of the newest mutation score of each kernel.
func (v *View) ScoreTable() *Table {
	t := &Table{Head: []string{"kernel", "format", "score", "95 % interval", "killed", "wrong", "equivalent", "accurate", "sample", "plan", "PTX", "date"}, Right: "llrlrrrrrlll"}
	for _, s := range v.newestScores() {
		f := s.Fates
		count := func(fate record.Fate) Cell { return text(strconv.Itoa(f[fate])) }
		t.Rows = append(t.Rows, []Cell{
			{Text: s.Kernel.Name, Class: "name"}, text(s.Kernel.Format), text(share(s.Share)), text(share(s.Interval.Low) + "–" + share(s.Interval.High)),
			count(record.Killed), count(record.Survived), count(record.Equivalent), count(record.Accurate), text(sampleOf(s.Score)), text(s.Plan),
			{Text: short(s.Kernel.SHA256), Class: "hash"}, mute(day(s.Build.Time)),
		})
	}
	return t
}

// newestScores returns the newest score of each kernel, in the order of their first scores.
func (v *View) newestScores() (list []evidence.ScoreOfKernel) {
	for _, s := range v.Scores {
		i := slices.IndexFunc(list, func(o evidence.ScoreOfKernel) bool {
			a, b := &o.Kernel, &s.Kernel
			return a.Name == b.Name && a.Format == b.Format && a.Target == b.Target && a.Problem == b.Problem
		})
		if i < 0 {
			list = append(list, s)
		} else {
			list[i] = s
		}
	}
	return list
}

// sampleOf returns the number of mutants that were tried and, if it differs, the number of mutants in the sample.
func sampleOf(s *record.Score) string {
	if s.Tried < s.Planned {
		return fmt.Sprintf("%d of %d", s.Tried, s.Planned)
	}
	return strconv.Itoa(s.Tried)
}

// share writes a share with the digits that matter near 100 %.
func share(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// WriteScore writes a mutation score for a terminal. path returns the file of a saved mutant,
// or "".
func WriteScore(w io.Writer, r *record.Score, path func(record.Mutant) string, style term.Style) {
	k := &r.Kernel
	title := fmt.Sprintf("%s, %s: %d of %s tried, %d of them in the synchronisation; seed %d", k.Format, k.Target, r.Tried, english.Count(r.Possible, "mutant"), r.Sync, r.Seed)
	fmt.Fprintf(w, "%s  %s\n", style.Bold(term.Clean(k.Name)), style.Dim(term.Clean(title)))
	switch {
	case r.Interrupted:
		fmt.Fprintf(w, "  %s: only a part of the sample was tried\n", style.Yellow("interrupted"))
	case r.Tried < r.Planned:
		fmt.Fprintf(w, "  %s: the first %d of the %s of the sample were tried\n", style.Yellow("limited time"), r.Tried, english.Count(r.Planned, "mutant"))
	}
	tallies(r).WriteText(w, "  ", style)
	if len(r.Killers) > 0 {
		var by []string
		for _, name := range sorted.Keys(r.Killers) {
			by = append(by, fmt.Sprintf("%s %d", term.Clean(name), r.Killers[name]))
		}
		fmt.Fprintf(w, "  killed by: %s\n", strings.Join(by, ", "))
	}
	for _, m := range r.Survivors {
		if m.Fate == record.Survived {
			writeMutant(w, style.Red("wrong survivor"), m, path(m))
		}
	}
	writeEquivalent(w, r, style)
	for _, m := range r.Failures {
		writeMutant(w, style.Yellow("internal error"), m, path(m))
	}
}

// writeEquivalent writes the synchronisation without which the kernel has the same bits: it is
// not needed, or the reason why it is needed was not tried.
func writeEquivalent(w io.Writer, r *record.Score, style term.Style) {
	first := true
	for _, m := range r.Survivors {
		if m.Fate != record.Equivalent {
			continue
		}
		if first {
			fmt.Fprintln(w, style.Dim("  equivalent, in the synchronisation:"))
			first = false
		}
		why := ""
		if m.Why != "" {
			why = "; " + m.Why
		}
		fmt.Fprintf(w, "    %s: %s\n", term.Clean(m.Place()), clip(term.Clean(m.Change()+why), mostOfMutant))
	}
}

// regions are the regions of a kernel in the order of execution.
var regions = []string{"prologue", "main loop", "epilogue"}

// tallies has one row per operator. The cells of a region have the number of killed mutants
// and the number of killed and wrong ones.
func tallies(r *record.Score) *Table {
	t := &Table{Head: append(append([]string{"operator"}, regions...), "killed", "wrong", "equivalent", "accurate"), Right: "lrrrrrrr"}
	row := func(name string, of func(*record.Tally) bool) {
		sums := map[string]map[record.Fate]int{}
		for i := range r.Tallies {
			tally := &r.Tallies[i]
			if !of(tally) {
				continue
			}
			for _, key := range []string{tally.Region, ""} {
				if sums[key] == nil {
					sums[key] = map[record.Fate]int{}
				}
				for fate, n := range tally.Fates {
					sums[key][fate] += n
				}
			}
		}
		cells := []Cell{text(name)}
		for _, region := range regions {
			killed, wrong := sums[region][record.Killed], sums[region][record.Survived]
			cells = append(cells, text(fmt.Sprintf("%d/%d", killed, killed+wrong)))
		}
		for _, fate := range []record.Fate{record.Killed, record.Survived, record.Equivalent, record.Accurate} {
			cells = append(cells, text(strconv.Itoa(sums[""][fate])))
		}
		t.Rows = append(t.Rows, cells)
	}
	var names []string
	for _, tally := range r.Tallies {
		if !slices.Contains(names, tally.Operator) {
			names = append(names, tally.Operator)
		}
	}
	for _, name := range names {
		row(name, func(t *record.Tally) bool { return t.Operator == name })
	}
	row("all", func(*record.Tally) bool { return true })
	return t
}

// writeMutant writes a mutant that needs attention.
func writeMutant(w io.Writer, title string, m record.Mutant, path string) {
	fmt.Fprintf(w, "  %s: %s, %s, %s\n", title, term.Clean(m.Operator), term.Clean(m.Region), term.Clean(m.Place()))
	for _, line := range []string{m.Change(), strings.TrimPrefix(m.At+": "+m.Why, ": "), path} {
		if line != "" {
			fmt.Fprintf(w, "    %s\n", clip(term.Clean(line), mostOfMutant))
		}
	}
}

// mostOfMutant is the number of characters of a line: a product has operands of up to a hundred
// registers.
const mostOfMutant = 240

// ScoreLines returns the score in words: the share of the killed mutants, and the mutants that
// do not count.
func ScoreLines(r *record.Score) (score, why string, notes []string) {
	killed, wrong, accurate := r.Fates[record.Killed], r.Fates[record.Survived], r.Fates[record.Accurate]
	if killed+wrong == 0 {
		return "no score", "no mutant was killed, and none is known to be wrong", nil
	}
	why = fmt.Sprintf("%d of %s killed (%.0f %% interval %.1f to %.1f %%); %d equivalent (not proven wrong)",
		killed, english.Count(killed+wrong, "wrong mutant"), 100*r.Interval.Confidence, 100*r.Interval.Low, 100*r.Interval.High, r.Fates[record.Equivalent])
	if accurate > 0 {
		notes = append(notes, fmt.Sprintf("%s other bits than the kernel and errors of the same size; if they counted as wrong, the score would be %s",
			agree(accurate, "survivor", "has", "have"), share(float64(killed)/float64(killed+wrong+accurate))))
	}
	if n := r.Fates[record.Refused]; n > 0 {
		notes = append(notes, agree(n, "mutant", "was", "were")+" refused by the emulator: such mutants do not count")
	}
	if n := r.Fates[record.Failed]; n > 0 {
		notes = append(notes, agree(n, "mutant", "shows", "show")+" a mistake in the emulator: please report the files")
	}
	return "score " + share(r.Share), why, notes
}

// agree returns a count with a verb: "1 survivor has", "2 survivors have".
func agree(n int, noun, one, many string) string {
	if n == 1 {
		return english.Count(n, noun) + " " + one
	}
	return english.Count(n, noun) + " " + many
}
