package archive

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// newArchive returns an archive with one record, judged MERGE, and what it prints to.
func newArchive(t *testing.T) (a *Archive, hash string, out *bytes.Buffer) {
	t.Helper()
	a = &Archive{Dir: filepath.Join(t.TempDir(), "evidence"), Named: func() bool { return true }}
	s, err := evidence.Open(a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if hash, err = s.AddRecord(recordtest.New("stage3b")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddVerdict(&record.Verdict{Schema: record.Schema, Record: hash, Outcome: record.Merge, Why: "all is well"}); err != nil {
		t.Fatal(err)
	}
	out = &bytes.Buffer{}
	a.Env = &cli.Env{Out: out, Err: out, Color: term.Never}
	return a, hash, out
}

func TestList(t *testing.T) {
	a, hash, out := newArchive(t)
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, hash[:10]},
		{Filter{Kernel: "age3", Outcome: "merge"}, hash[:10]},
		{Filter{Outcome: "REJECT"}, "none of 1 record matches"},
		{Filter{Shape: problem.Square(7, 7, 7, 64)}, "none of 1 record matches"},
	} {
		out.Reset()
		if err := a.List(c.filter); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%+v: %v, no %q in\n%s", c.filter, err, c.want, out)
		}
	}
	if err := a.List(Filter{Outcome: "maybe"}); err == nil || !strings.Contains(err.Error(), "--outcome MAYBE: use one of MERGE") {
		t.Error(err)
	}
}

func TestShow(t *testing.T) {
	a, hash, out := newArchive(t)
	if err := a.Show(hash[:8], Folders{}); err != nil || !strings.Contains(out.String(), "stage3b") {
		t.Errorf("%v\n%s", err, out)
	}
	out.Reset()
	a.Env.JSON = true
	if err := a.Show(hash[:8], Folders{}); err != nil {
		t.Fatal(err)
	}
	var o Object
	if err := json.Unmarshal(out.Bytes(), &o); err != nil || o.Hash != hash || o.Kind != evidence.Record || len(o.Verdicts) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestMove exports an archive and imports it elsewhere, twice.
func TestMove(t *testing.T) {
	a, _, out := newArchive(t)
	file := filepath.Join(t.TempDir(), "all.tar.gz")
	if err := a.Export(file); err != nil || !strings.Contains(out.String(), "1 record and 1 verdict, ") {
		t.Fatalf("%v\n%s", err, out)
	}
	b := &Archive{Env: a.Env, Dir: filepath.Join(t.TempDir(), "elsewhere")}
	for _, want := range []string{"1 record and 1 verdict added, 0 already present\n", "0 records and 0 verdicts added, 2 already present\n"} {
		out.Reset()
		if err := b.Import(file); err != nil || out.String() != want {
			t.Errorf("%v, %q, want %q", err, out, want)
		}
	}
	out.Reset()
	if err := b.Verify(Known{}); err != nil || !strings.Contains(out.String(), "ok: 1 record and 1 verdict, the chain is whole\nhead ") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestMissing wants a folder that was named to exist.
func TestMissing(t *testing.T) {
	var out bytes.Buffer
	a := &Archive{Env: &cli.Env{Out: &out, Err: &out}, Dir: filepath.Join(t.TempDir(), "nothing"), Named: func() bool { return true }}
	if err := a.Verify(Known{}); err == nil || !strings.HasPrefix(err.Error(), "--evidence: there is no folder ") {
		t.Error(err)
	}
	a.Named = func() bool { return false }
	if err := a.Verify(Known{}); err != nil || !strings.HasPrefix(out.String(), "ok: there is no evidence in ") {
		t.Errorf("%v, %s", err, &out)
	}
}

func TestReport(t *testing.T) {
	a, hash, out := newArchive(t)
	a.Env.JSON = true
	page := filepath.Join(t.TempDir(), "r.html")
	if err := a.Report(Pages{Out: page}); err != nil {
		t.Fatal(err)
	}
	var s Summary
	if err := json.Unmarshal(out.Bytes(), &s); err != nil || len(s.Kernels) != 1 || s.Kernels[0].Record != hash || len(s.Written) != 1 || s.Written[0] != page {
		t.Errorf("%s, %v", out, err)
	}
}
