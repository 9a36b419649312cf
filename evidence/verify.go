package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/record"
)

// Check is the result of a verification.
type Check struct {
	Entries int `json:"entries"` // entries without a problem
	Counts
	Texts    int       `json:"texts"`    // PTX of kernels
	Head     string    `json:"head"`     // the hash of the newest entry
	Signed   int       `json:"signed"`   // entries that a trusted key has signed
	Problems []Problem `json:"problems"` // damaged files
	Notes    []Problem `json:"notes"`    // harmless oddities
}

// OK reports whether no file is damaged.
func (c *Check) OK() bool { return len(c.Problems) == 0 }

// Verify reads the whole store and checks every hash and every link of the chain.
func (s *Store) Verify() *Check { return &s.verify().Check }

// verification is a check in progress, with what it has read.
type verification struct {
	Check
	store    *Store
	named    map[string]bool // objects that entries name
	texts    map[string]bool // PTX texts that records name
	records  []*Item
	verdicts []Judgement
	notes    []Remark
	scores   []ScoreOfKernel
}

func (s *Store) verify() *verification {
	v := &verification{store: s, named: map[string]bool{}, texts: map[string]bool{}, Check: Check{Problems: []Problem{}, Notes: []Problem{}}}
	h, headErr := s.readHead() // before the log, so that the log has the entry that it names
	entries, problems := s.Entries()
	v.Problems = append(v.Problems, problems...)
	v.chain(h, headErr)
	for i := range entries {
		v.object(&entries[i])
	}
	v.strays()
	if _, err := s.Identities(); err != nil {
		v.damaged(err)
	}
	sorted.By(v.Problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	v.Problems = slices.Compact(v.Problems)
	return v
}

func (v *verification) problem(path, format string, args ...any) {
	v.Problems = append(v.Problems, Problem{filepath.ToSlash(path), fmt.Sprintf(format, args...)})
}

// chain walks the log backwards. Each entry holds the hash of the entry before it, and the
// head that of the newest, so chain names the file that was changed and not its neighbour.
func (v *verification) chain(h head, headErr error) {
	numbers, err := v.store.numbers()
	if err != nil || len(numbers) == 0 {
		return // Entries reports it
	}
	newest := numbers[len(numbers)-1]
	vouched, by := "", ""
	after := newest + 1 // the number of the entry after the one that is looked at
	for _, seq := range slices.Backward(numbers) {
		if seq != after-1 {
			vouched = "" // the entry that has its hash is missing
		}
		after = seq
		if seq == h.Seq && vouched == "" {
			vouched, by = h.Entry, headFile
		}
		e, hash, err := v.store.entry(seq)
		if hash == "" { // missing or unreadable: Entries reports it
			vouched = ""
			continue
		}
		if seq == newest {
			v.Head = hash
		}
		if vouched != "" && hash != vouched {
			v.problem(logFile(seq), "was changed: %s has another hash for it", filepath.ToSlash(by))
		}
		if seq == h.Seq && h.Entry != hash && h.Entry != vouched {
			v.problem(headFile, "names an entry %d that differs from that of the log", seq)
		}
		vouched, by = "", logFile(seq)
		if err == nil {
			vouched = e.Previous
			if seq == 1 && e.Previous != "" {
				v.problem(logFile(seq), "is the first entry, but names an entry before it: entries were removed")
			}
		}
	}
	if headErr == nil && h.Seq < newest {
		v.Notes = append(v.Notes, Problem{headFile, "is behind the log: a write is in progress or was interrupted"})
	}
}

// about returns the record that a verdict or a note is about, or nil and a problem.
func (v *verification) about(e *Entry, hash string) *record.Record {
	i := slices.IndexFunc(v.records, func(it *Item) bool { return it.Hash == hash })
	if i < 0 {
		v.problem(objectFile(e.Object), "is about %s…, but the log has no sound record of that hash before it", hash[:12])
		return nil
	}
	return v.records[i].Record
}

// object checks the object of an entry.
func (v *verification) object(e *Entry) {
	again := v.named[e.Object] // it was lost and added again
	v.named[e.Object] = true
	var want Entry
	switch e.Kind {
	case Record:
		r, err := v.store.Record(e.Object)
		if err != nil {
			v.damaged(err)
			return
		}
		want = recordEntry(r)
		if !again {
			v.records = append(v.records, &Item{Hash: e.Object, Seq: e.Seq, Record: r})
			v.Counts.add(Record)
			v.textsOf(r)
		}
	case Verdict:
		verdict, err := v.store.Verdict(e.Object)
		if err != nil {
			v.damaged(err)
			return
		}
		r := v.about(e, verdict.Record)
		if r == nil {
			return
		}
		want = verdictEntry(verdict, r)
		if !again {
			v.verdicts = append(v.verdicts, Judgement{e.Object, e.Seq, verdict})
			v.Counts.add(Verdict)
		}
	case Note:
		note, err := v.store.Note(e.Object)
		if err != nil {
			v.damaged(err)
			return
		}
		r := v.about(e, note.Record)
		if r == nil {
			return
		}
		want = noteEntry(note, r)
		if !again {
			v.notes = append(v.notes, Remark{e.Object, e.Seq, note})
			v.Counts.add(Note)
		}
	case Score:
		score, err := v.store.Score(e.Object)
		if err != nil {
			v.damaged(err)
			return
		}
		want = scoreEntry(score)
		if !again {
			v.scores = append(v.scores, ScoreOfKernel{e.Object, e.Seq, score})
			v.Counts.add(Score)
			v.checkText(score.Kernel.SHA256)
		}
	}
	want.Seq, want.Previous, want.Object = e.Seq, e.Previous, e.Object
	want.Signer, want.Signature, want.Origin = e.Signer, e.Signature, e.Origin
	v.signature(e)
	v.origin(e)
	if !want.Time.Equal(e.Time) {
		v.problem(logFile(e.Seq), "has another time than the object that it names")
		return
	}
	logged := *e
	logged.Kernel = nameToday(logged.Kernel) // records are read with the names of today
	if want.Time = e.Time; want != logged {
		v.problem(logFile(e.Seq), "does not match the object %s…", e.Object[:12])
		return
	}
	v.Entries++
}

// textsOf checks the PTX texts that a record names.
func (v *verification) textsOf(r *record.Record) {
	for _, hash := range textsOf(r) {
		v.checkText(hash)
	}
}

// checkText checks a PTX text, once.
func (v *verification) checkText(hash string) {
	if v.texts[hash] {
		return
	}
	v.texts[hash] = true
	if _, err := v.store.Text(hash); err != nil {
		v.damaged(err)
		return
	}
	v.Texts++
}

func (v *verification) damaged(err error) {
	var p Problem
	if !errors.As(err, &p) {
		p = Problem{"objects", err.Error()}
	}
	v.Problems = append(v.Problems, p)
}

// strays looks for files that no entry names.
func (v *verification) strays() {
	v.each("objects", func(path string) {
		if strings.HasSuffix(path, ".ptx") {
			v.strayText(path)
			return
		}
		hash := strings.TrimSuffix(filepath.Base(path), ".json")
		switch {
		case !isHash(hash) || objectFile(hash) != path:
			v.problem(path, "does not have the name of an object: it was renamed or does not belong here")
		case !v.named[hash]:
			if _, err := v.store.Object(hash); err != nil {
				v.damaged(err)
				return
			}
			v.Notes = append(v.Notes, Problem{filepath.ToSlash(path), "is intact, but no entry names it: a write was interrupted"})
		}
	})
	v.each("log", func(path string) {
		if _, ok := logNumber(filepath.Base(path)); !ok {
			v.problem(path, "does not have the name of an entry: it was renamed or does not belong here")
		}
	})
	v.each("tmp", func(path string) {
		v.Notes = append(v.Notes, Problem{filepath.ToSlash(path), "is being written, or its write was interrupted"})
	})
}

// strayText checks a text, and notes it if no record names it.
func (v *verification) strayText(path string) {
	hash := strings.TrimSuffix(filepath.Base(path), ".ptx")
	switch {
	case !isHash(hash) || textFile(hash) != path:
		v.problem(path, "does not have the name of a text: it was renamed or does not belong here")
	case !v.texts[hash]:
		if _, err := v.store.Text(hash); err != nil {
			v.damaged(err)
			return
		}
		v.Notes = append(v.Notes, Problem{filepath.ToSlash(path), "is intact, but no record names it: a write was interrupted"})
	}
}

// each visits the files of a folder.
func (v *verification) each(folder string, visit func(path string)) {
	top := v.store.path(folder)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(v.store.dir, path)
		if err != nil {
			return err
		}
		visit(rel)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.problem(folder, "%s", reason(err))
	}
}
