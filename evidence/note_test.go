package evidence_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/record"
)

// TestNote adds notes to a record, and carries them through an export and an import.
func TestNote(t *testing.T) {
	s := open(t, t.TempDir())
	hash := add(t, s, "stage0")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, lesson := range []string{"first", "second"} {
		if _, err := s.AddNote(&record.Note{Schema: record.Schema, Record: hash, Time: at, Lesson: lesson}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *evidence.Store) {
		t.Helper()
		c := s.Load()
		if !c.Check.OK() || c.Check.Remarks != 2 || len(c.Items) != 1 || len(c.Items[0].Notes) != 2 {
			t.Fatalf("%+v, %d items", c.Check, len(c.Items))
		}
		if n := c.Items[0].Notes; n[0].Lesson != "first" || n[1].Lesson != "second" {
			t.Errorf("notes %q and %q", n[0].Lesson, n[1].Lesson)
		}
	}
	check(s)
	var packed bytes.Buffer
	if n, err := s.Export(&packed); err != nil || n.Remarks != 2 || n.Records != 1 {
		t.Fatalf("%+v, %v", n, err)
	}
	dir := filepath.Join(t.TempDir(), "unpacked")
	if err := evidence.Unpack(&packed, dir); err != nil {
		t.Fatal(err)
	}
	from := open(t, dir)
	check(from)
	to := open(t, filepath.Join(t.TempDir(), "other"))
	if n, err := to.Import(from); err != nil || n.Remarks != 2 {
		t.Fatalf("%+v, %v", n, err)
	}
	check(to)
}

// TestNoteIsRefused wants nothing to be written for a note that says nothing or is about
// nothing.
func TestNoteIsRefused(t *testing.T) {
	s := open(t, t.TempDir())
	hash := add(t, s, "stage0")
	for _, n := range []*record.Note{
		{Schema: record.Schema, Record: hash},
		{Schema: record.Schema + 1, Record: hash, Lesson: "x"},
		{Schema: record.Schema, Record: "0000000000000000000000000000000000000000000000000000000000000000", Lesson: "x"},
	} {
		if _, err := s.AddNote(n); err == nil {
			t.Errorf("%+v was added", n)
		}
	}
	if c := s.Load(); c.Check.Remarks != 0 || !c.Check.OK() {
		t.Errorf("%+v", c.Check)
	}
}
