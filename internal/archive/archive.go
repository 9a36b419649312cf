package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// Archive is the store of evidence of a command.
type Archive struct {
	Env *cli.Env
	Dir string // the value of --evidence
	// Named reports whether the user named the folder. A named folder must exist, since a typing
	// error must not look like an empty store.
	Named func() bool
}

// open opens the store.
func (a *Archive) open() (*evidence.Store, error) {
	if _, err := os.Stat(a.Dir); errors.Is(err, fs.ErrNotExist) && a.Named != nil && a.Named() {
		return nil, fmt.Errorf("--evidence: there is no folder %s", a.Dir)
	}
	return evidence.OpenSigned(a.Dir)
}

// damaged prints the problems of a store and returns the error of the command.
func (a *Archive) damaged(problems []evidence.Problem) error {
	for _, p := range problems {
		fmt.Fprintf(a.Env.Err, "%s: %s: %s\n", term.Clean(a.Dir), a.Env.ErrStyle().Red("damaged"), term.Clean(p.String()))
	}
	if len(problems) > 0 {
		return cli.Exit(cli.Red)
	}
	return nil
}

// explain prints the problem if an error is about a damaged file.
func (a *Archive) explain(err error) error {
	var p evidence.Problem
	if errors.As(err, &p) {
		return a.damaged([]evidence.Problem{p})
	}
	return err
}

// reading returns the result of f. A progress line tells meanwhile that the evidence is read,
// which takes seconds for a large store.
func reading[T any](a *Archive, f func() T) T {
	progress := a.Env.StartProgress()
	defer progress.Stop()
	progress.Say("reading %s", a.Dir)
	return f()
}

// Verify checks every hash and every link of the chain, and judges every record again.
func (a *Archive) Verify(k Known) error {
	s, err := a.open()
	if err != nil {
		return err
	}
	trust, err := k.trust()
	if err != nil {
		return err
	}
	c := reading(a, func() *evidence.Check { return s.VerifyWith(trust) })
	if a.Env.JSON {
		a.Env.Encode(c)
		if !c.OK() {
			return cli.Exit(cli.Red)
		}
		return nil
	}
	for _, n := range c.Notes {
		fmt.Fprintf(a.Env, "note: %s\n", term.Clean(n.String()))
	}
	if err := a.damaged(c.Problems); err != nil {
		fmt.Fprintf(a.Env, "bad: %s; the other %s in order\n", english.Count(len(c.Problems), "problem"), english.Are(c.Entries, "entry"))
		return err
	}
	if c.Entries == 0 {
		fmt.Fprintf(a.Env, "ok: there is no evidence in %s\n", term.Clean(a.Dir))
		return nil
	}
	fmt.Fprintf(a.Env, "ok: %s, the chain is whole\nhead %s\n", c.Counts.Text(), c.Head)
	if len(trust.Signers) > 0 {
		fmt.Fprintf(a.Env, "%s by the trusted keys\n", english.Are(c.Signed, "entry")+" signed")
	}
	return nil
}

// Diff compares two records, given by their hashes or the first letters of them.
func (a *Archive) Diff(hashA, hashB string) error {
	items, err := a.Items(hashA, hashB)
	if err != nil {
		return err
	}
	d := report.Diff(items[0], items[1])
	if a.Env.JSON {
		a.Env.Encode(d)
	} else {
		d.WriteText(a.Env, a.Env.OutStyle())
	}
	return nil
}

// Items returns records by their hashes. The hash of a verdict selects the record that it
// judges.
func (a *Archive) Items(hashes ...string) (items []*evidence.Item, err error) {
	s, err := a.open()
	if err != nil {
		return nil, err
	}
	for _, prefix := range hashes {
		e, err := s.Find(prefix)
		if err != nil {
			return nil, err
		}
		item, err := a.item(s, e)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// item returns the record of an entry with all its verdicts.
func (a *Archive) item(s *evidence.Store, e evidence.Entry) (*evidence.Item, error) {
	if e.Kind == evidence.Score {
		return nil, fmt.Errorf("%s is a mutation score, not a record; attest evidence show prints it", e.Object[:10])
	}
	hash := e.Object
	if e.Judges != "" {
		hash = e.Judges
	}
	r, err := s.Record(hash)
	if err != nil {
		return nil, a.explain(err)
	}
	item := &evidence.Item{Hash: hash, Seq: e.Seq, Record: r}
	entries, _ := s.Entries() // damage to other entries does not concern this record
	for i := range entries {
		if entries[i].Judges != hash {
			continue
		}
		if err := a.attach(s, item, &entries[i]); err != nil {
			return nil, a.explain(err)
		}
	}
	return item, nil
}

// attach adds a verdict or a note to its record.
func (a *Archive) attach(s *evidence.Store, item *evidence.Item, e *evidence.Entry) error {
	if e.Kind == evidence.Note {
		n, err := s.Note(e.Object)
		if err != nil {
			return err
		}
		item.Notes = append(item.Notes, evidence.Remark{Hash: e.Object, Seq: e.Seq, Note: n})
		return nil
	}
	v, err := s.Verdict(e.Object)
	if err != nil {
		return err
	}
	item.Verdicts = append(item.Verdicts, evidence.Judgement{Hash: e.Object, Seq: e.Seq, Verdict: v})
	return nil
}
