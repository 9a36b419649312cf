package archive

import (
	"errors"
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/record"
)

// Note adds a note about a record. The record is named by its hash, by the hash of a
// verdict on it, or by the first letters of either.
func (a *Archive) Note(prefix string, n record.Note) error {
	if len(n.Parts()) == 0 {
		return errors.New("the note is empty: use --hypothesis, --root-cause, --lesson or --recommendation")
	}
	s, err := a.open()
	if err != nil {
		return err
	}
	e, err := s.Find(prefix)
	if err != nil {
		return err
	}
	n.Schema, n.Record, n.Time = record.Schema, e.Object, time.Now().UTC()
	switch e.Kind {
	case evidence.Score:
		return fmt.Errorf("%s is a mutation score; notes are about records", e.Object[:10])
	case evidence.Verdict, evidence.Note:
		n.Record = e.Judges
	}
	hash, err := s.AddNote(&n)
	if err != nil {
		return a.explain(err)
	}
	if a.Env.JSON {
		a.Env.Encode(map[string]string{"note": hash, "record": n.Record})
		return nil
	}
	fmt.Fprintf(a.Env, "note %s is kept with record %s\n", hash[:12], n.Record[:12])
	return nil
}
