package evidence_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// withKernels adds a record of one kernel against another and returns its hash.
func withKernels(t *testing.T, s *evidence.Store, subjects ...*lab.Subject) string {
	t.Helper()
	r := recordtest.New("x")
	r.Kernel = subjects[0].Describe()
	base := subjects[1].Describe()
	r.Baseline = &base
	if _, err := s.AddRecord(r); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a record without its texts: %v", err)
	}
	for _, k := range subjects {
		if hash, err := s.AddText(k.PTX); err != nil || hash != k.Describe().SHA256 {
			t.Fatalf("%s: %s, %v", k.Name, hash, err)
		}
	}
	hash, err := s.AddRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func preset(t *testing.T, name string) *lab.Subject {
	t.Helper()
	s, err := lab.Preset(name, problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestKernel wants kernels to be returned unchanged, also after two exports.
func TestKernel(t *testing.T) {
	subjects := []*lab.Subject{preset(t, "hopper"), preset(t, "stage3b")}
	s := open(t, t.TempDir())
	hash := withKernels(t, s, subjects...)
	var pack bytes.Buffer
	if _, err := s.Export(&pack); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := evidence.Unpack(&pack, dir); err != nil {
		t.Fatal(err)
	}
	home := open(t, t.TempDir())
	if _, err := home.Import(open(t, dir)); err != nil {
		t.Fatal(err)
	}
	if c := home.Verify(); !c.OK() || c.Texts != 2 || len(c.Notes) > 0 {
		t.Errorf("%+v", c)
	}
	r, err := home.Record(hash)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range []int{0, 1} {
		k, err := home.Kernel(&r.Kernel)
		if d == 1 {
			k, err = home.Kernel(r.Baseline)
		}
		if err != nil {
			t.Fatal(err)
		}
		back, err := lab.NewSubject(k)
		if err != nil {
			t.Fatal(err)
		}
		if want := subjects[i]; back.Identity() != want.Identity() || back.PTX != want.PTX || back.Name != want.Name || back.P() != want.P() {
			t.Errorf("%s came back as %s", want.Name, back.Name)
		}
	}
}

// TestDamagedText wants a damaged text to be reported as a problem, and a text that no record names
// as a note.
func TestDamagedText(t *testing.T) {
	s := open(t, t.TempDir())
	a, b := preset(t, "stage1"), preset(t, "stage3b")
	withKernels(t, s, a, b)
	stray, err := s.AddText("// nobody's")
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Verify(); !c.OK() || len(c.Notes) != 1 || !strings.Contains(c.Notes[0].Path, stray) {
		t.Errorf("%+v", c)
	}
	file := func(k *lab.Subject) string {
		hash := k.Describe().SHA256
		return filepath.Join(s.Path(), "objects", hash[:2], hash+".ptx")
	}
	if err := os.Remove(file(a)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file(b), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file(b), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := s.Verify()
	var all string
	for _, p := range c.Problems {
		all += p.String() + "\n"
	}
	if len(c.Problems) != 2 || !strings.Contains(all, "is missing") || !strings.Contains(all, "is damaged") {
		t.Errorf("%s", all)
	}
	if _, err := s.AddText(a.PTX); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddText(b.PTX); err != nil {
		t.Fatal(err)
	}
	if c := s.Verify(); !c.OK() {
		t.Errorf("added again, and yet %v", c.Problems)
	}
}
