package archive

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

// fileNote is one note of a file of notes: the text, the records that it is about, and the
// counters that show the cause. The counters of a record must move as the note says, and their
// values are taken from the record.
type fileNote struct {
	kernel, baseline, device string
	outcome                  record.Outcome
	rises, falls, same       []string // names of counters, kernel against baseline
	record.Note
}

// NoteResult is the JSON of attest evidence note --file: one object per note and record.
type NoteResult struct {
	Kernel string `json:"kernel"`
	Record string `json:"record"` // hash, or "" if no record matches
	Note   string `json:"note"`   // hash, or "" if the record has none
	Result string `json:"result"` // "added", "present", "does not fit" or "no record"
	Why    string `json:"why"`    // why a note does not fit, or ""
}

// The results of a note of a file.
const (
	noteAdded   = "added"
	notePresent = "present"
	noteUnfit   = "does not fit"
	noteUnused  = "no record"
)

// NoteFile adds the notes of a file to every record that they are about. A record that has a
// note already does not get it again, so the command can be repeated after new records
// were added. The error asks for exit code 1 if a note does not fit a record.
func (a *Archive) NoteFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	notes, err := parseNotes(name, text)
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	s, err := a.open()
	if err != nil {
		return err
	}
	c := reading(a, s.Load)
	if err := a.damaged(c.Check.Problems); err != nil {
		return err
	}
	var results []NoteResult
	for i := range notes {
		more, err := notes[i].apply(s, c.Items)
		if err != nil {
			return a.explain(err)
		}
		results = append(results, more...)
	}
	a.printNotes(results, s)
	if slices.ContainsFunc(results, func(r NoteResult) bool { return r.Result == noteUnfit }) {
		return cli.Exit(cli.Red)
	}
	return nil
}

// apply adds the note to each record that it is about.
func (n *fileNote) apply(s *evidence.Store, items []*evidence.Item) (results []NoteResult, err error) {
	for _, item := range items {
		if !n.about(item) {
			continue
		}
		r := NoteResult{Kernel: n.kernel, Record: item.Hash}
		note := n.Note
		figures, why := n.figures(item.Record)
		if why != "" {
			r.Result, r.Why = noteUnfit, why
			results = append(results, r)
			continue
		}
		note.RootCause = strings.TrimSpace(note.RootCause + " " + figures)
		if r.Note = sameNote(item, &note); r.Note != "" {
			r.Result = notePresent
		} else {
			note.Schema, note.Record, note.Time = record.Schema, item.Hash, time.Now().UTC()
			if r.Note, err = s.AddNote(&note); err != nil {
				return results, err
			}
			r.Result = noteAdded
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		results = []NoteResult{{Kernel: n.kernel, Result: noteUnused}}
	}
	return results, nil
}

// about reports whether the note is about a record.
func (n *fileNote) about(item *evidence.Item) bool {
	j := item.Verdict()
	return item.Kernel.Name == n.kernel && j != nil && j.Outcome == n.outcome &&
		(n.baseline == "" || item.Baseline != nil && item.Baseline.Name == n.baseline) &&
		(n.device == "" || !item.Build.Emulated() && chips.OnChip(item.Build.Device.Name, n.device))
}

// sameNote returns the hash of a note of a record with the same text, or "".
func sameNote(item *evidence.Item, n *record.Note) string {
	for _, old := range item.Notes {
		if slices.Equal(old.Parts(), n.Parts()) {
			return old.Hash
		}
	}
	return ""
}

// figures returns the counters that show the cause, with their values in a record, or why they
// do not show it.
func (n *fileNote) figures(r *record.Record) (text, why string) {
	if len(n.rises)+len(n.falls)+len(n.same) == 0 {
		return "", ""
	}
	if r.Counters == nil || len(r.Counters.Baseline) == 0 || r.Baseline == nil {
		return "", "the record has no counters of the kernel and its baseline"
	}
	var parts []string
	for _, group := range []struct {
		names []string
		want  string
		holds func(own, base float64) bool
	}{
		{n.rises, "rise", func(own, base float64) bool { return own > base }},
		{n.falls, "fall", func(own, base float64) bool { return own < base }},
		{n.same, "stay the same", func(own, base float64) bool { return own == base }},
	} {
		for _, name := range group.names {
			own, known := r.Counters.Kernel[name]
			base, alsoKnown := r.Counters.Baseline[name] // a family that one kernel does not use is missing there
			switch {
			case !known && !alsoKnown:
				return "", fmt.Sprintf("the record has no counter %q", name)
			case !group.holds(own, base):
				return "", fmt.Sprintf("%s should %s over %s: the record has %s against %s", name, group.want, r.Baseline.Name, report.Counter(own), report.Counter(base))
			}
			if own == base {
				parts = append(parts, fmt.Sprintf("%s %s in both", name, report.Counter(own)))
			} else {
				parts = append(parts, fmt.Sprintf("%s %s against %s", name, report.Counter(own), report.Counter(base)))
			}
		}
	}
	return fmt.Sprintf("Counters on %s, against %s: %s.", r.Counters.Shape, r.Baseline.Name, strings.Join(parts, ", ")), ""
}

// printNotes prints what became of the notes, and the valid negatives that still have none.
func (a *Archive) printNotes(results []NoteResult, s *evidence.Store) {
	if a.Env.JSON {
		for _, r := range results {
			a.Env.Encode(r)
		}
		return
	}
	t := term.Table{Style: a.Env.OutStyle()}
	t.Head("kernel", "record", "note", "result")
	n := 0
	for _, r := range results {
		result := r.Result
		if r.Why != "" {
			result += ": " + r.Why
		}
		if r.Result == noteAdded {
			n++
		}
		t.Row(term.Clean(r.Kernel), dash(r.Record), dash(r.Note), term.Clean(result))
	}
	t.WriteTo(a.Env)
	fmt.Fprintf(a.Env, "\n%s added\n", english.Count(n, "note"))
	for _, k := range report.New(s.Load()).Kernels {
		if k.Outcome() == record.ValidNegative && len(k.Now.Notes) == 0 {
			fmt.Fprintf(a.Env, "%s is a valid negative without a note: record %s\n", term.Clean(k.Label), k.Now.Hash[:10])
		}
	}
}

// dash returns the first letters of a hash, or "-".
func dash(hash string) string {
	if hash == "" {
		return "-"
	}
	return hash[:10]
}

// parseNotes reads a file of notes: {"notes": [{"kernel", "outcome", …}]}.
func parseNotes(name string, text []byte) (notes []fileNote, err error) {
	root, err := jsonpos.Parse(name, text)
	if err != nil {
		return nil, err
	}
	err = root.Object("a file of notes", jsonpos.Fields{"notes": jsonpos.List("notes", func(at *jsonpos.Node) error {
		at.Label("note %d", len(notes)+1)
		n := fileNote{outcome: record.ValidNegative}
		words := func(to *[]string) func(*jsonpos.Node) error {
			return jsonpos.List("names of counters", func(w *jsonpos.Node) error {
				s, err := w.Text()
				*to = append(*to, s)
				return err
			})
		}
		err := at.Object("a note", jsonpos.Fields{
			"kernel": jsonpos.Text(&n.kernel), "baseline": jsonpos.Text(&n.baseline), "device": jsonpos.Text(&n.device),
			"outcome":    jsonpos.Word(&n.outcome, record.Outcomes()...),
			"hypothesis": jsonpos.Text(&n.Hypothesis), "root_cause": jsonpos.Text(&n.RootCause),
			"lesson": jsonpos.Text(&n.Lesson), "recommendation": jsonpos.Text(&n.Recommendation),
			"rises": words(&n.rises), "falls": words(&n.falls), "same": words(&n.same),
		}, "kernel")
		if err == nil && len(n.Parts()) == 0 {
			err = at.Errorf("the note is empty: write a hypothesis, root_cause, lesson or recommendation")
		}
		notes = append(notes, n)
		return err
	})}, "notes")
	return notes, err
}
