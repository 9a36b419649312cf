package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func (x *evidenceStore) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show HASH",
		Short: "All of a record or a verdict",
		Long: `Show a record with the verdicts on it, or a verdict with what it judged.

JSON: {"hash", "kind", "seq", "object", "verdicts"}. "kind" is "record" or "verdict",
"object" is what the file holds, "verdicts" are the hashes of those on a record.`,
		Example: "  attest evidence show 3f9a\n  attest evidence show 3f9a --json | jq .object.performance",
		Args:    hashArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, e, err := x.find(args[0])
			if err != nil {
				return err
			}
			return x.show(s, e)
		},
	}
}

// hashArgs is the argument check of a command over hashes.
func hashArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%s given, want %d: hashes or their first letters, as attest evidence list shows them; see %s --help", term.Count(len(args), "argument"), n, c.CommandPath())
		}
		return nil
	}
}

func (x *evidenceStore) find(prefix string) (*evidence.Store, evidence.Entry, error) {
	s, err := x.open()
	if err != nil {
		return nil, evidence.Entry{}, err
	}
	e, err := s.Find(prefix)
	return s, e, err
}

// item is a record with its verdicts; of a verdict, the record that it judged.
func (x *evidenceStore) item(s *evidence.Store, e evidence.Entry) (*evidence.Item, error) {
	hash := e.Object
	if e.Kind == evidence.Verdict {
		hash = e.Judges
	}
	r, err := s.Record(hash)
	if err != nil {
		return nil, x.bad(err)
	}
	item := &evidence.Item{Hash: hash, Seq: e.Seq, Record: r}
	entries, _ := s.Entries() // those that are damaged say nothing of this one
	for i := range entries {
		if entries[i].Judges != hash {
			continue
		}
		v, err := s.Verdict(entries[i].Object)
		if err != nil {
			return nil, x.bad(err)
		}
		item.Verdicts = append(item.Verdicts, evidence.Judgement{Hash: entries[i].Object, Seq: entries[i].Seq, Verdict: v})
	}
	return item, nil
}

// bad is the error of a command that met a damaged file.
func (x *evidenceStore) bad(err error) error {
	var p evidence.Problem
	if errors.As(err, &p) {
		return x.damaged([]evidence.Problem{p})
	}
	return err
}

func (x *evidenceStore) show(s *evidence.Store, e evidence.Entry) error {
	item, err := x.item(s, e)
	if err != nil {
		return err
	}
	if x.env.JSON {
		return x.showJSON(s, e, item)
	}
	if e.Kind == evidence.Verdict {
		for _, j := range item.Verdicts {
			if j.Hash == e.Object {
				report.WriteVerdict(x.env, j, x.env.OutStyle())
			}
		}
		fmt.Fprintf(x.env, "\non record %s: %s, attest evidence show %s has it\n", item.Hash[:10], item.Kernel.Name, item.Hash[:10])
		return nil
	}
	report.WriteRecord(x.env, item, x.env.OutStyle())
	return nil
}

func (x *evidenceStore) showJSON(s *evidence.Store, e evidence.Entry, item *evidence.Item) error {
	object, err := s.Object(e.Object)
	if err != nil {
		return x.bad(err)
	}
	out := struct {
		Hash     string          `json:"hash"`
		Kind     evidence.Kind   `json:"kind"`
		Seq      int             `json:"seq"`
		Object   json.RawMessage `json:"object"`
		Verdicts []string        `json:"verdicts"`
	}{e.Object, e.Kind, e.Seq, object, []string{}}
	if e.Kind == evidence.Record {
		for _, j := range item.Verdicts {
			out.Verdicts = append(out.Verdicts, j.Hash)
		}
	}
	x.env.Encode(out)
	return nil
}

func (x *evidenceStore) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "What two records differ in",
		Long: `Compare two records: config, build and outcome where they differ; resources, errors
and medians of both with the ratio of B to A. A verdict stands for the record that it
judged. Times of two runs are no proof of a difference; attest compare takes both in
one. The exit code is 0 whether they differ or not.

JSON: {"a", "b", "same_ptx", "kernel", "build", "outcome": [{"what", "a", "b"}],
"resources", "errors", "times": [{"what", "a", "b", "ratio"}]}; null where one of them
has no such figure.`,
		Example: "  attest evidence diff 3f9a 81c0\n  attest evidence diff 3f9a 81c0 --json | jq '.times[] | select(.ratio < 0.9)'",
		Args:    hashArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			var items [2]*evidence.Item
			for i, prefix := range args {
				s, e, err := x.find(prefix)
				if err != nil {
					return err
				}
				if items[i], err = x.item(s, e); err != nil {
					return err
				}
			}
			d := report.Diff(items[0], items[1])
			if x.env.JSON {
				x.env.Encode(d)
				return nil
			}
			d.WriteText(x.env, x.env.OutStyle())
			return nil
		},
	}
}
