package archive

import (
	"encoding/json"
	"fmt"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/report"
)

// Object is the JSON of attest evidence show.
type Object struct {
	Hash     string          `json:"hash"`
	Kind     evidence.Kind   `json:"kind"`
	Seq      int             `json:"seq"`
	Object   json.RawMessage `json:"object"`   // the file as it is
	Verdicts []string        `json:"verdicts"` // the hashes of those on a record
}

// Show prints a record with the verdicts on it, or a verdict.
func (a *Archive) Show(prefix string) error {
	s, err := a.open()
	if err != nil {
		return err
	}
	e, err := s.Find(prefix)
	if err != nil {
		return err
	}
	item, err := a.item(s, e)
	if err != nil {
		return err
	}
	switch {
	case a.Env.JSON:
		return a.showJSON(s, e, item)
	case e.Kind == evidence.Verdict:
		for _, j := range item.Verdicts {
			if j.Hash == e.Object {
				report.WriteVerdict(a.Env, j, a.Env.OutStyle())
			}
		}
		fmt.Fprintf(a.Env, "\non record %s: %s; attest evidence show %s prints it\n", item.Hash[:10], item.Kernel.Name, item.Hash[:10])
	default:
		report.WriteRecord(a.Env, item, a.Env.OutStyle())
	}
	return nil
}

func (a *Archive) showJSON(s *evidence.Store, e evidence.Entry, item *evidence.Item) error {
	object, err := s.Object(e.Object)
	if err != nil {
		return a.explain(err)
	}
	out := Object{e.Object, e.Kind, e.Seq, object, []string{}}
	if e.Kind == evidence.Record {
		for _, j := range item.Verdicts {
			out.Verdicts = append(out.Verdicts, j.Hash)
		}
	}
	a.Env.Encode(out)
	return nil
}
