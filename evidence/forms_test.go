package evidence

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/record"
)

// hashA and hashB have the form of hashes.
var hashA, hashB = strings.Repeat("0a", 32), strings.Repeat("9f", 32)

func TestIsHash(t *testing.T) {
	for text, want := range map[string]bool{
		hashA: true, hashB: true, "": false, hashA[1:]: false, hashA + "0": false,
		strings.Repeat("g", 64): false, strings.Repeat("A", 64): false, strings.Repeat("0", 32) + "/" + strings.Repeat("0", 31): false,
	} {
		if got := isHash(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestParseHeads(t *testing.T) {
	got, err := ParseHeads("# a comment\n\n1 " + hashA + "\n  12   " + hashB)
	if want := []Head{{1, hashA}, {12, hashB}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, line := range []string{"1", hashA, "x " + hashA, "0 " + hashA, "-1 " + hashA, "1 " + hashA[1:], "1 " + hashA + " 2"} {
		if got, err := ParseHeads("1 " + hashA + "\n\n" + line); err == nil || !strings.Contains(err.Error(), "line 3 is not a number and a hash") {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
}

// TestBelongs: only names that a store has are unpacked, below any folder.
func TestBelongs(t *testing.T) {
	object := "objects/0a/" + hashA
	for name, want := range map[string]string{
		"head.json": "head.json", "a/b/head.json": "head.json", "../head.json": "head.json",
		"log/00000001.json": "log/00000001.json", "x/log/00000012.json": "log/00000012.json",
		"log/1.json": "", "log/00000000.json": "", "lag/00000001.json": "", "00000001.json": "", "log/x.json": "",
		object + ".json": object + ".json", "x/" + object + ".ptx": object + ".ptx",
		"objects/0b/" + hashA + ".json": "", "object/0a/" + hashA + ".json": "", "0a/" + hashA + ".json": "", hashA + ".json": "",
		object + ".txt": "", "objects/0a/" + hashA[1:] + ".json": "", "objects/0a/x.json": "",
	} {
		if got, ok := belongs(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, want)
		}
	}
}

// TestExplain wants a hint for each error of a file system that the user can do something about.
func TestExplain(t *testing.T) {
	s := &Store{dir: "dir"}
	for err, want := range map[error]string{
		syscall.ENOSPC: "the disk is full", syscall.EDQUOT: "the disk is full",
		fs.ErrPermission: "the folder cannot be written", syscall.EROFS: "the folder cannot be written",
		syscall.ENOTSUP: "no hard links", syscall.ENOSYS: "no hard links", fs.ErrClosed: "",
	} {
		got := s.explain(fmt.Errorf("x: %w", err)).Error()
		if hinted := strings.Contains(got, ";"); !strings.HasPrefix(got, "evidence in dir: x: ") || hinted != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}

// TestSigned: a signature is of all fields of an entry, and anything else is refused.
func TestSigned(t *testing.T) {
	s := &Store{key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	e := Entry{Seq: 3, Previous: hashA, Object: hashB, Kernel: "<k>", Signer: "another", Signature: "another"}
	if err := s.sign(&e); err != nil || !signed(e) {
		t.Fatalf("an entry that was signed before: %v, %+v", err, e)
	}
	for name, change := range map[string]func(*Entry){
		"the number": func(e *Entry) { e.Seq++ }, "the entry before": func(e *Entry) { e.Previous = hashB },
		"no signature": func(e *Entry) { e.Signature = "" }, "a signature that is no number": func(e *Entry) { e.Signature = "x" + e.Signature[1:] },
		"a key that is no number": func(e *Entry) { e.Signer = "x" + e.Signer[1:] }, "a short key": func(e *Entry) { e.Signer = e.Signer[2:] }, "no key": func(e *Entry) { e.Signer = "" },
		"another key": func(e *Entry) { e.Signer = hashA },
	} {
		other := e
		change(&other)
		if signed(other) {
			t.Errorf("%s: the signature is accepted", name)
		}
	}
	unsigned := Entry{Signer: "x", Signature: "x"}
	if err := (&Store{}).sign(&unsigned); err != nil || unsigned != (Entry{}) {
		t.Errorf("without a key: %+v, %v", unsigned, err)
	}
}

// TestKeyText: a key has its first word and 32 bytes in hexadecimal.
func TestKeyText(t *testing.T) {
	seed := hex.EncodeToString(make([]byte, ed25519.SeedSize))
	for text, ok := range map[string]bool{
		keyHead + " " + seed + "\n": true, seed: false, keyHead + " " + seed[2:]: false, keyHead + " " + seed + "00": false,
		keyHead + " x" + seed[1:]: false, "": false,
	} {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &Store{}
		if err := s.Sign(path); (err == nil) != ok || (s.key != nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestKeyFile: the variable names the key, and without it the key is in the user's configuration.
func TestKeyFile(t *testing.T) {
	t.Setenv(KeyVariable, "my.key")
	if got, err := KeyFile(); got != "my.key" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv(KeyVariable, "")
	t.Setenv("HOME", "/home/u")
	t.Setenv("XDG_CONFIG_HOME", "/home/u/.config")
	if got, err := KeyFile(); !strings.HasSuffix(filepath.ToSlash(got), "/attest/evidence.key") || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	if got, err := KeyFile(); got != "" || err == nil {
		t.Errorf("without a home: %q, %v", got, err)
	}
}

// TestInside follows links: a key behind a link lies where the link points.
func TestInside(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	for from, to := range map[string]string{"to-store": store, "elsewhere": dir} {
		if err := os.MkdirAll(store, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip("no symbolic links")
		}
	}
	for _, c := range []struct {
		path, store string
		want        bool
	}{
		{filepath.Join(dir, "to-store", "key"), store, true},
		{filepath.Join(store, "key"), filepath.Join(dir, "to-store"), true},
		{filepath.Join(dir, "elsewhere", "key"), store, false},
		{filepath.Join(dir, "key"), store, false},
		{filepath.Join(dir, "key"), "", false},
		{"key", "", false},
	} {
		if got := inside(c.path, c.store); got != c.want {
			t.Errorf("%s in %s: %v", c.path, c.store, got)
		}
	}
}

// TestSweep removes drafts that are an hour old, and leaves newer ones to their writers.
func TestSweep(t *testing.T) {
	s := withRecord(t)
	for name, age := range map[string]time.Duration{"old.json": 61 * time.Minute, "new.json": 59 * time.Minute} {
		path := s.path("tmp", name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := addRecord(s, "stage1"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(s.path("tmp")); err != nil || len(left) != 1 || left[0].Name() != "new.json" {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestHeadForms: a head has a number and the hash of its entry, or neither.
func TestHeadForms(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"seq":0,"entry":""}`: true, `{"seq":1,"entry":"` + hashA + `"}`: true,
		`{"seq":0,"entry":"` + hashA + `"}`: false, `{"seq":1,"entry":""}`: false, `{"seq":-1,"entry":""}`: false, `{`: false,
	} {
		s := &Store{dir: t.TempDir()}
		if err := os.WriteFile(s.path(headFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if h, err := s.readHead(); (err == nil) != ok {
			t.Errorf("%s: %+v, %v", text, h, err)
		}
	}
}

// TestNotOfThatKind: an object that can be decoded as a kind, but says nothing, is not of that kind.
func TestNotOfThatKind(t *testing.T) {
	s := withRecord(t)
	of := map[string]func(string) error{
		"record":  func(h string) error { _, err := s.Record(h); return err },
		"verdict": func(h string) error { _, err := s.Verdict(h); return err },
		"note":    func(h string) error { _, err := s.Note(h); return err },
		"score":   func(h string) error { _, err := s.Score(h); return err },
	}
	for _, c := range []struct {
		kind, text string
		ok         bool
	}{
		{"record", `{"schema":2}`, false},
		{"record", `{"schema":2,"kernel":{"sha256":"ab"}}`, true},
		{"record", `{"schema":2,"kernel":{"name":"k"}}`, true},
		{"verdict", `{"schema":2,"outcome":"MERGE"}`, false},
		{"verdict", `{"schema":2,"record":"` + hashA + `"}`, false},
		{"verdict", `{"schema":2,"outcome":"MERGE","record":"` + hashA + `"}`, true},
		{"note", `{"schema":2,"lesson":"x"}`, false},
		{"note", `{"schema":2,"record":"` + hashA + `"}`, false},
		{"note", `{"schema":2,"lesson":"x","record":"` + hashA + `"}`, true},
		{"score", `{"schema":2,"fates":{}}`, false},
		{"score", `{"schema":2,"kernel":{"sha256":"ab"}}`, false},
		{"score", `{"schema":2,"kernel":{"sha256":"ab"},"fates":{}}`, true},
	} {
		hash := hashOf([]byte(c.text))
		if err := os.MkdirAll(filepath.Dir(s.path(objectFile(hash))), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.path(objectFile(hash)), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := of[c.kind](hash); (err == nil) != c.ok || err != nil && !strings.HasSuffix(err.Error(), "is not a "+c.kind) {
			t.Errorf("%s as a %s: %v", c.text, c.kind, err)
		}
		if err := of[c.kind](hashB); err == nil {
			t.Errorf("a %s that is not there is read", c.kind)
		}
	}
}

// TestFindText: an ambiguous prefix names the candidates, six letters beyond the prefix.
func TestFindText(t *testing.T) {
	s := &Store{dir: t.TempDir()}
	if err := os.MkdirAll(s.path("log"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, object := range []string{"aa00", "aa01", "ab00"} {
		line, _ := encode(Entry{Seq: i + 1, Kind: Record, Object: object + hashA[4:]})
		if err := os.WriteFile(s.path(logFile(i+1)), line, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]string{
		"a":  "a is the start of 3 hashes (aa000a0, aa010a0, ab000a0, …): give more letters",
		"aa": "aa is the start of 2 hashes (aa000a0a, aa010a0a, …): give more letters",
		"b":  "nothing in " + s.dir + " has a hash that starts with b, but parts of the store are damaged; see attest evidence verify", // no head
	} {
		if _, err := s.Find(prefix); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", prefix, err, want)
		}
	}
	line, _ := encode(head{Seq: 3, Entry: hashA})
	if err := os.WriteFile(s.path(headFile), line, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find("b"); err == nil || !strings.HasSuffix(err.Error(), "attest evidence list shows all hashes") {
		t.Errorf("in a sound store: %v", err)
	}
}

func TestCountsText(t *testing.T) {
	for want, n := range map[string]Counts{
		"2 records and 1 verdict": {Records: 2, Verdicts: 1}, "1 record, 0 verdicts and 2 notes": {Records: 1, Remarks: 2},
		"0 records, 0 verdicts, 1 note and 1 mutation score": {Remarks: 1, Scores: 1}, "0 records, 0 verdicts and 2 mutation scores": {Scores: 2},
	} {
		if got := n.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestJudgedByAnotherVersion: a verdict that another version gave is a note, not damage.
func TestJudgedByAnotherVersion(t *testing.T) {
	r := &record.Record{Build: record.Build{Attest: "v1"}}
	old := &record.Verdict{Outcome: record.Merge}
	for version, want := range map[string][2]int{"v1": {1, 0}, "v2": {0, 1}} {
		v := &verification{}
		v.judgeAgain(hashA, old, r, version)
		if got := [2]int{len(v.Problems), len(v.Notes)}; got != want {
			t.Errorf("%s: %v, %v", version, v.Problems, v.Notes)
		}
	}
}
