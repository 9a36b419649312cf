package evidence_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

func open(t testing.TB, dir string) *evidence.Store {
	t.Helper()
	s, err := evidence.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func add(t testing.TB, s *evidence.Store, name string) string {
	t.Helper()
	hash, err := s.AddRecord(recordtest.New(name))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// filled returns a store of three records and two verdicts.
func filled(t *testing.T) (*evidence.Store, []string) {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "a", "evidence"))
	var hashes []string
	for i, name := range []string{"stage0", "stage1", "stage2"} {
		hashes = append(hashes, add(t, s, name))
		if i == 2 {
			break
		}
		v, err := s.AddVerdict(recordtest.Judge(hashes[len(hashes)-1], recordtest.Start, record.Merge, "", "all green"))
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, v)
	}
	return s, hashes
}

// sound fails the test unless the store is sound and has the given number of entries.
func sound(t *testing.T, s *evidence.Store, entries int) *evidence.Check {
	t.Helper()
	c := s.Verify()
	for _, p := range c.Problems {
		t.Errorf("problem: %v", p)
	}
	if c.Entries != entries {
		t.Errorf("%d entries are in order, want %d", c.Entries, entries)
	}
	return c
}

func TestAddAndRead(t *testing.T) {
	s, hashes := filled(t)
	c := sound(t, s, 5)
	if c.Records != 3 || c.Verdicts != 2 || len(c.Notes) != 0 || len(c.Head) != 64 {
		t.Errorf("check: %+v", c)
	}
	r, err := s.Record(hashes[0])
	if err != nil || r.Kernel.Name != "stage0" || !r.Build.Time.Equal(recordtest.Start) {
		t.Errorf("record %+v, %v", r, err)
	}
	v, err := s.Verdict(hashes[1])
	if err != nil || v.Record != hashes[0] || v.Outcome != record.Merge {
		t.Errorf("verdict %+v, %v", v, err)
	}
	items := s.Load().Items
	if len(items) != 3 || items[1].Verdict().Hash != hashes[3] || items[2].Verdict() != nil {
		t.Errorf("contents: %+v", items)
	}
}

// TestReadableWithoutAttest checks the layout that the package comment describes.
func TestReadableWithoutAttest(t *testing.T) {
	s, hashes := filled(t)
	previous := ""
	for i, hash := range hashes {
		line, err := os.ReadFile(filepath.Join(s.Path(), "log", fmt.Sprintf("%08d.json", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(line), "\n") != 1 || !strings.HasSuffix(string(line), "\n") {
			t.Errorf("entry %d is not one line: %q", i+1, line)
		}
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e["object"] != hash || e["previous"] != previous {
			t.Errorf("entry %d is %v, want object %s after %s", i+1, e, hash, previous)
		}
		previous = sum(line)
		object, err := os.ReadFile(filepath.Join(s.Path(), "objects", hash[:2], hash+".json"))
		if err != nil || sum(object) != hash {
			t.Errorf("object %s has the hash %s (%v)", hash, sum(object), err)
		}
	}
}

func TestAddAgainAddsNothing(t *testing.T) {
	s := open(t, t.TempDir())
	if a, b := add(t, s, "stage1"), add(t, s, "stage1"); a != b {
		t.Errorf("one record has the hashes %s and %s", a, b)
	}
	sound(t, s, 1)
}

func TestRefuses(t *testing.T) {
	s := open(t, t.TempDir())
	if _, err := s.AddVerdict(recordtest.Judge(strings.Repeat("0", 64), recordtest.Start, record.Merge, "", "")); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a verdict on nothing: %v", err)
	}
	r := recordtest.New("stage1")
	r.Schema = record.Schema + 1
	if _, err := s.AddRecord(r); err == nil || !strings.Contains(err.Error(), "schema") {
		t.Errorf("a record of another schema: %v", err)
	}
	if files, _ := filepath.Glob(filepath.Join(s.Path(), "*", "*")); len(files) > 0 {
		t.Errorf("refused, and yet there is %v", files)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.Open(file); err == nil {
		t.Error("a file is opened as a directory")
	}
}

func TestFind(t *testing.T) {
	s, hashes := filled(t)
	for _, prefix := range []string{hashes[0], hashes[0][:10], strings.ToUpper(hashes[0][:10]), hashes[0][:12] + "…"} {
		if e, err := s.Find(prefix); err != nil || e.Object != hashes[0] {
			t.Errorf("%s: %+v, %v", prefix, e, err)
		}
	}
	for _, prefix := range []string{"", "nothing", strings.Repeat("0", 64)} {
		if e, err := s.Find(prefix); err == nil {
			t.Errorf("%q: %+v", prefix, e)
		}
	}
	for i := range 20 { // more than there are first letters
		add(t, s, fmt.Sprint("k", i))
	}
	ambiguous := 0
	for _, letter := range "0123456789abcdef" {
		if _, err := s.Find(string(letter)); err != nil && strings.Contains(err.Error(), "give more letters") {
			ambiguous++
		}
	}
	if ambiguous == 0 {
		t.Error("no first letter is ambiguous among 25 hashes")
	}
}

func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 8, 6
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			s, err := evidence.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range each {
				hash, err := s.AddRecord(recordtest.New(fmt.Sprintf("kernel-%d-%d", w, i)))
				if err != nil {
					t.Error(err)
					continue
				}
				if i%2 == 0 {
					if _, err := s.AddVerdict(recordtest.Judge(hash, recordtest.Start, record.Defer, "", "")); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	readers := make(chan struct{})
	go func() { // a reader must see a sound store at any time
		defer close(readers)
		for range 20 {
			if c := open(t, dir).Verify(); !c.OK() {
				t.Errorf("while others write: %v", c.Problems)
				return
			}
		}
	}()
	wg.Wait()
	<-readers
	c := sound(t, open(t, dir), writers*(each+each/2))
	if len(c.Notes) > 0 {
		t.Errorf("notes: %v", c.Notes)
	}
}

func TestWriteErrorsAreClear(t *testing.T) {
	s := open(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(s.Path(), "log"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddRecord(recordtest.New("stage1")); err == nil || !strings.Contains(err.Error(), s.Path()) {
		t.Errorf("a file in place of the log: %v", err)
	}
	if s.Verify().OK() {
		t.Error("a file in place of the log is in order")
	}
	var p evidence.Problem
	if _, err := s.Record(strings.Repeat("0", 64)); !errors.As(err, &p) {
		t.Errorf("a missing record: %v", err)
	}
}

// TestNotFinite wants errors that are NaN or infinite to be stored and read back.
func TestNotFinite(t *testing.T) {
	s := open(t, t.TempDir())
	r := recordtest.New("stage1")
	c := recordtest.Correct(r, problem.Square(1, 1, 32, 64), math.NaN())
	c.WorstRow = &record.RowError{Mean: ref.Float(math.Inf(1)), Plain: 0.5}
	hash, err := s.AddRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := s.Record(hash)
	if err != nil {
		t.Fatal(err)
	}
	got := &back.Correctness.Cases[0]
	if e := got.Errors; !math.IsNaN(e.Max) || !math.IsNaN(e.RMSE) || e.Elements != 32*64 || len(e.ByHead) != 1 || !math.IsNaN(e.ByHead[0].Max) {
		t.Errorf("errors %+v", e)
	}
	if !math.IsInf(float64(got.WorstRow.Mean), 1) || got.WorstRow.Plain != 0.5 {
		t.Errorf("worst row %+v", got.WorstRow)
	}
}

// TestMakeDir wants the user's own folder to be invisible to git, and other folders to be
// as the user made them.
func TestMakeDir(t *testing.T) {
	for _, c := range []struct {
		name    string
		ignored bool
	}{{evidence.Dir, true}, {"published", false}} {
		dir := filepath.Join(t.TempDir(), "project", c.name)
		s := open(t, dir)
		if _, err := s.AddRecord(recordtest.New("k")); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
		if c.ignored && string(text) != "*\n" || !c.ignored && err == nil {
			t.Errorf("%s: .gitignore holds %q, %v", c.name, text, err)
		}
		if check := s.Verify(); !check.OK() || len(check.Notes) > 0 {
			t.Errorf("%s: %+v", c.name, check)
		}
	}
}
