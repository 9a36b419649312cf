package evidence_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/record"
)

// signing returns a store with two unsigned and two signed entries, and the public key.
func signing(t *testing.T) (s *evidence.Store, public string) {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(t.TempDir(), "sub", "key")
	public, err := evidence.NewKey(key, dir)
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	add(t, s, "stage0")
	add(t, s, "stage1")
	if err := s.Sign(key); err != nil {
		t.Fatal(err)
	}
	add(t, s, "stage2")
	add(t, s, "stage3")
	return s, public
}

// TestSigner wants entries of the key, and everything before them, and nothing else after them.
func TestSigner(t *testing.T) {
	s, public := signing(t)
	trusting := evidence.Trust{Signers: []string{public}}
	if c := s.VerifyWith(trusting); !c.OK() || c.Signed != 2 {
		t.Errorf("%d signed, %v", c.Signed, c.Problems)
	}
	other := strings.Repeat("ab", 32)
	if c := s.VerifyWith(evidence.Trust{Signers: []string{other}}); c.OK() || !strings.Contains(c.Problems[0].What, "has no entry that the key abababababab… signed") {
		t.Error(c.Problems)
	}
	add(t, open(t, s.Path()), "stage4") // by somebody without the key
	if c := s.VerifyWith(trusting); c.OK() || c.Problems[0].String() != "log/00000005.json: is not signed, although other entries are" {
		t.Error(c.Problems)
	}
}

// TestRewritten rewrites a whole store, as its keeper can. Every hash is right, and who knows the
// key or one head finds out.
func TestRewritten(t *testing.T) {
	s, public := signing(t)
	heads, _ := s.Heads()
	forged := open(t, t.TempDir())
	add(t, forged, "stage9")
	for _, name := range []string{"stage1", "stage2", "stage3"} {
		add(t, forged, name)
	}
	if c := forged.Verify(); !c.OK() {
		t.Fatal(c.Problems)
	}
	if c := forged.VerifyWith(evidence.Trust{Signers: []string{public}}); c.OK() {
		t.Error("a store without a signature of the key is accepted")
	}
	if c := forged.VerifyWith(evidence.Trust{Heads: heads[1:2]}); c.OK() || !strings.Contains(c.Problems[0].What, "entries were removed or rewritten") {
		t.Error(c.Problems)
	}
	// The tail is cut, and the head put back.
	last := filepath.Join(s.Path(), "log", "00000004.json")
	os.Remove(last)
	put(t, filepath.Join(s.Path(), "head.json"), `{"seq":3,"entry":"`+heads[2].Hash+`"}`+"\n")
	if c := s.Verify(); !c.OK() {
		t.Fatal(c.Problems)
	}
	if c := s.VerifyWith(evidence.Trust{Heads: heads}); c.OK() {
		t.Error("a store whose tail was cut is accepted")
	}
}

// TestForgedEntry keeps the signature and changes the entry.
func TestForgedEntry(t *testing.T) {
	s, _ := signing(t)
	path := filepath.Join(s.Path(), "log", "00000004.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var e evidence.Entry
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	e.Signer = strings.Repeat("ab", 32)
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, string(text)+"\n")
	put(t, filepath.Join(s.Path(), "head.json"), `{"seq":4,"entry":"`+sum(append(text, '\n'))+`"}`+"\n")
	if c := s.Verify(); c.OK() || !strings.Contains(c.Problems[0].What, "has a signature that does not fit") {
		t.Error(c.Problems)
	}
}

// TestKeys wants keys outside of the store, for the user alone, and never replaced.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "store", "key"):         "lies in the store",
		filepath.Join(dir, "store", "tmp", "key"):  "lies in the store",
		filepath.Join(dir, "store", "..", "a.key"): "",
	} {
		if _, err := evidence.NewKey(path, filepath.Join(dir, "store")); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "other", "log"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "other", "head.json"), "{}")
	if _, err := evidence.NewKey(filepath.Join(dir, "other", "keys", "key"), filepath.Join(dir, "store")); err == nil || !strings.Contains(err.Error(), "lies in the store") {
		t.Errorf("a key in a store that --evidence does not name: %v", err)
	}
	key := filepath.Join(dir, "a.key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := evidence.NewKey(key, ""); err == nil || !strings.Contains(err.Error(), "never replaced") {
		t.Error(err)
	}
	put(t, key, "something else")
	if err := open(t, dir).Sign(key); err == nil || !strings.Contains(err.Error(), "is not a key") {
		t.Error(err)
	}
	t.Setenv(evidence.KeyVariable, filepath.Join(dir, "none"))
	if _, err := evidence.OpenSigned(dir); err == nil {
		t.Error("a key that was named and does not exist is ignored")
	}
}

// TestVerdictAgain finds a verdict that its gates or its record do not support, although all hashes
// are right.
func TestVerdictAgain(t *testing.T) {
	s := open(t, t.TempDir())
	hash := add(t, s, "stage0")
	r, err := s.Record(hash)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		gate    record.Status
		version string
		want    string
	}{
		{record.Red, "another", "says MERGE, but its defects gate is red"},
		{record.Green, r.Build.Attest, "says MERGE, but its record is judged DEFER"},
	} {
		v := &record.Verdict{Schema: record.Schema, Record: hash, Outcome: record.Merge, Why: c.want, Time: r.Build.Time, Gates: []record.Gate{{Name: record.DefectsGate, Status: c.gate}}}
		if _, err := s.AddVerdict(v); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, p := range s.VerifyWith(evidence.Trust{Version: c.version}).Problems {
			found = found || strings.Contains(p.What, c.want)
		}
		if !found {
			t.Errorf("%s is not found", c.want)
		}
	}
}

// TestKnownHeads: a head that a reader knows must still be in the log, with the number it had.
func TestKnownHeads(t *testing.T) {
	s, _ := signing(t)
	heads, _ := s.Heads()
	if c := s.VerifyWith(evidence.Trust{Heads: append(heads, evidence.Head{Hash: heads[2].Hash})}); !c.OK() {
		t.Errorf("all heads, and one without a number: %v", c.Problems)
	}
	moved := evidence.Head{Seq: 9, Hash: heads[0].Hash}
	want := "log: has the head " + moved.Hash + " as entry 1, but it was entry 9 before"
	if c := s.VerifyWith(evidence.Trust{Heads: []evidence.Head{moved}}); len(c.Problems) != 1 || c.Problems[0].String() != want {
		t.Errorf("%v, want %s", c.Problems, want)
	}
}

// TestTwoSigners: an entry of a stranger after those of a trusted key is a problem, unless the
// stranger is trusted, too.
func TestTwoSigners(t *testing.T) {
	s, public := signing(t)
	key := filepath.Join(t.TempDir(), "stranger.key")
	stranger, err := evidence.NewKey(key, s.Path())
	if err == nil {
		err = s.Sign(key)
	}
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "stage4")
	want := "log/00000005.json: is signed by " + stranger[:12] + "…, which is not a trusted key"
	if c := s.VerifyWith(evidence.Trust{Signers: []string{public}}); c.Signed != 2 || len(c.Problems) != 1 || c.Problems[0].String() != want {
		t.Errorf("%d signed, %v, want %s", c.Signed, c.Problems, want)
	}
	if c := s.VerifyWith(evidence.Trust{Signers: []string{stranger, public}}); c.Signed != 3 || !c.OK() {
		t.Errorf("%d signed, %v", c.Signed, c.Problems)
	}
}

// TestHalfASignature: an entry with a key or a signature alone was changed.
func TestHalfASignature(t *testing.T) {
	for _, field := range []string{"signer", "signature"} {
		s, _ := signing(t)
		path := filepath.Join(s.Path(), "log", "00000004.json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var e map[string]any
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		delete(e, field)
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, string(text))
		if c := s.Verify(); !slices.ContainsFunc(c.Problems, func(p evidence.Problem) bool { return strings.Contains(p.What, "has a signature that does not fit") }) {
			t.Errorf("without the %s: %v", field, c.Problems)
		}
	}
}
