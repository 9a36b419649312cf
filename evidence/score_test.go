package evidence

import (
	"bytes"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/record"
)

// TestScore keeps a mutation score, and carries it to another store with its PTX.
func TestScore(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &record.Score{Schema: record.Schema, Kernel: record.Kernel{Name: "k"}, Build: record.Build{Time: time.Unix(1, 0).UTC()}}
	m.Add(record.Mutant{Operator: "compare", Region: "main loop", Fate: record.Killed, By: "defects"})
	m.Add(record.Mutant{Operator: "compare", Region: "main loop", Fate: record.Survived, Line: 7})
	if m.Kernel.SHA256, err = s.AddText(".version 8.0"); err != nil {
		t.Fatal(err)
	}
	m.Kernel.Name = "hopper-halves-cluster" // which has another name today
	hash, err := s.AddScore(m)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if _, err := s.Export(&packed); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Unpack(&packed, dir); err != nil {
		t.Fatal(err)
	}
	from, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	to, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n, err := to.Import(from)
	if err != nil || n.Scores != 1 {
		t.Fatalf("%+v, %v", n, err)
	}
	c := to.Load()
	if !c.Check.OK() || c.Check.Scores != 1 || c.Check.Texts != 1 || len(c.Scores) != 1 {
		t.Fatalf("%+v", c.Check)
	}
	got := c.Scores[0]
	if got.Hash != hash || got.Kernel.Name != "hopper-split-kv-cluster" || got.Share != 0.5 || len(got.Survivors) != 1 || got.Survivors[0].Line != 7 {
		t.Errorf("%+v", got.Score)
	}
	if _, err := to.AddScore(&record.Score{Schema: record.Schema, Kernel: record.Kernel{SHA256: hash}}); err == nil {
		t.Error("a score without its PTX is accepted")
	}
}
