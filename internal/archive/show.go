package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/record"
)

// Object is the JSON of attest evidence show.
type Object struct {
	Hash     string          `json:"hash"`
	Kind     evidence.Kind   `json:"kind"`
	Seq      int             `json:"seq"`
	Object   json.RawMessage `json:"object"`   // the content of the file
	Verdicts []string        `json:"verdicts"` // the hashes of the verdicts on a record
	Notes    []string        `json:"notes"`    // the hashes of the notes about a record
}

// Folders are the folders that attest evidence show writes to instead of printing, or "".
type Folders struct {
	Kernel string // the kernel of the record
	Split  string // the record as three files
}

// Show prints a record with the verdicts on it, a verdict, a note or a mutation score, or writes
// a record to a folder.
func (a *Archive) Show(prefix string, to Folders) error {
	if to.Kernel != "" && to.Split != "" {
		return errors.New("--kernel and --split: use one of them")
	}
	s, err := a.open()
	if err != nil {
		return err
	}
	e, err := s.Find(prefix)
	if err != nil {
		return err
	}
	if e.Kind == evidence.Score && to == (Folders{}) {
		return a.showScore(s, e)
	}
	item, err := a.item(s, e)
	if err != nil {
		return err
	}
	switch {
	case to.Kernel != "":
		return a.writeKernel(s, item, to.Kernel)
	case to.Split != "":
		return a.split(item, to.Split)
	case a.Env.JSON:
		return a.showJSON(s, e, item)
	case e.Kind == evidence.Verdict:
		for _, j := range item.Verdicts {
			if j.Hash == e.Object {
				report.WriteVerdict(a.Env, j, a.Env.OutStyle())
			}
		}
		a.pointTo(item)
	case e.Kind == evidence.Note:
		for _, n := range item.Notes {
			if n.Hash == e.Object {
				report.WriteNote(a.Env, n, a.Env.OutStyle())
			}
		}
		a.pointTo(item)
	default:
		report.WriteRecord(a.Env, item, a.Env.OutStyle())
	}
	return nil
}

// showScore prints a mutation score.
func (a *Archive) showScore(s *evidence.Store, e evidence.Entry) error {
	score, err := s.Score(e.Object)
	if err != nil {
		return a.explain(err)
	}
	if a.Env.JSON {
		return a.showJSON(s, e, nil)
	}
	report.WriteScore(a.Env, score, func(record.Mutant) string { return "" }, a.Env.OutStyle())
	title, why, notes := report.ScoreLines(score)
	for _, line := range append([]string{title + ": " + why}, notes...) {
		fmt.Fprintf(a.Env, "  %s\n", line)
	}
	return nil
}

// pointTo says which record a verdict or a note belongs to.
func (a *Archive) pointTo(item *evidence.Item) {
	fmt.Fprintf(a.Env, "\non record %s: %s; attest evidence show %[1]s prints it\n", item.Hash[:10], term.Clean(item.Kernel.Name))
}

// KernelFiles is the JSON of attest evidence show --kernel.
type KernelFiles struct {
	Kernel string `json:"kernel"`
	PTX    string `json:"ptx"` // the file
	ABI    string `json:"abi"` // the file
}

// writeKernel writes the PTX and the call of a record's kernel, as --ptx and --abi read them.
func (a *Archive) writeKernel(s *evidence.Store, item *evidence.Item, dir string) error {
	k, err := s.Kernel(&item.Kernel)
	if err != nil {
		return a.explain(err)
	}
	call, err := abi.Write(k)
	if err != nil {
		return err
	}
	out := KernelFiles{k.Name, filepath.Join(dir, "kernel.ptx"), filepath.Join(dir, "kernel.json")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--kernel: %w", err)
	}
	if err := errors.Join(atomicfile.Write(out.PTX, []byte(k.PTX)), atomicfile.Write(out.ABI, call)); err != nil {
		return fmt.Errorf("--kernel: %w", err)
	}
	if a.Env.JSON {
		a.Env.Encode(out)
		return nil
	}
	fmt.Fprintf(a.Env, "%s is in %s and %s; run it with attest gate --ptx %s --abi %s\n", term.Clean(k.Name), out.PTX, out.ABI, out.PTX, out.ABI)
	return nil
}

func (a *Archive) showJSON(s *evidence.Store, e evidence.Entry, item *evidence.Item) error {
	object, err := s.Object(e.Object)
	if err != nil {
		return a.explain(err)
	}
	out := Object{e.Object, e.Kind, e.Seq, object, []string{}, []string{}}
	if e.Kind == evidence.Record {
		for _, j := range item.Verdicts {
			out.Verdicts = append(out.Verdicts, j.Hash)
		}
		for _, n := range item.Notes {
			out.Notes = append(out.Notes, n.Hash)
		}
	}
	a.Env.Encode(out)
	return nil
}
