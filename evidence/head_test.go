package evidence

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/record"
)

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	os.Remove(path) // files of a store are read-only
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestNextEntryDoesNotVouch edits the newest entry so that only its hash tells. The next entry is
// chained to the hash that the head has, so the edit is still found.
func TestNextEntryDoesNotVouch(t *testing.T) {
	s := withRecord(t)
	data, err := os.ReadFile(s.path(logFile(1)))
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.path(logFile(1)), append(data, ' '))
	for _, name := range []string{"stage1", "stage2"} {
		if _, err := addRecord(s, name); err != nil {
			t.Fatal(err)
		}
		want := "log/00000001.json: was changed: log/00000002.json has another hash for it"
		if c := s.Verify(); len(c.Problems) != 1 || c.Problems[0].String() != want {
			t.Errorf("after %s: %v, want %s", name, c.Problems, want)
		}
	}
}

// TestFirstHead: the first file of a store comes with a head, and a head that was lost is not
// replaced by the head of an empty store.
func TestFirstHead(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddText("text"); err != nil {
		t.Fatal(err)
	}
	if h, err := s.readHead(); err != nil || h != (head{}) {
		t.Errorf("with a text alone the head is %+v, %v", h, err)
	}
	if left, err := os.ReadDir(s.path("tmp")); err != nil || len(left) > 0 {
		t.Errorf("drafts are left: %v, %v", left, err)
	}
	lost := withRecord(t)
	os.Remove(lost.path(headFile))
	if _, err := lost.AddText("text"); err != nil {
		t.Fatal(err)
	}
	if h, err := lost.readHead(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lost head is now %+v, %v", h, err)
	}
}

// TestFirstHeadFaults: a store whose first head cannot be written does not accept the first text.
func TestFirstHeadFaults(t *testing.T) {
	for n := 0; ; n++ {
		s, err := Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		failed := failAt(s, n, false)
		_, err = s.AddText("text")
		if failed() == "" {
			if err != nil || n < 10 {
				t.Errorf("%d operations, %v", n, err)
			}
			break
		}
		if err == nil && failed() != "read" {
			t.Errorf("a failure of %q is not reported", failed())
		}
		if left, _ := os.ReadDir(s.path("tmp")); len(left) > 0 {
			t.Errorf("after a failure of %q drafts are left: %v", failed(), left)
		}
	}
}

// TestTextAgain: a text that is there is not written again, so a full disk does not matter.
func TestTextAgain(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.AddText("text")
	if err != nil {
		t.Fatal(err)
	}
	s.faults = func(operation string) error {
		if operation == "create" {
			return errInjected
		}
		return nil
	}
	if again, err := s.AddText("text"); err != nil || again != first {
		t.Errorf("%s, %v, want %s", again, err, first)
	}
}

// TestCatchUp moves a head that another process left behind, and reports what fails.
func TestCatchUp(t *testing.T) {
	s := withRecord(t)
	if _, err := addRecord(s, "stage1"); err != nil {
		t.Fatal(err)
	}
	want, err := s.readHead()
	if err != nil || want.Seq != 2 {
		t.Fatalf("%+v, %v", want, err)
	}
	behind, _ := encode(head{Seq: 1, Entry: hashA})
	for n := 0; ; n++ {
		write(t, s.path(headFile), behind)
		failed := failAt(s, n, false)
		err := s.catchUp(1)
		if failed() == "" {
			break
		}
		if err == nil {
			t.Errorf("a failure of %q is not reported", failed())
		}
		s.faults = nil
		if left, err := os.ReadDir(s.path("tmp")); err != nil || len(left) > 0 {
			t.Errorf("after a failure of %q drafts are left: %v, %v", failed(), left, err)
		}
	}
	s.faults = nil
	if h, err := s.readHead(); err != nil || h != want {
		t.Errorf("the head is %+v, %v, want %+v", h, err, want)
	}
}

// TestNumbers: numbers are in order also where their names are not.
func TestNumbers(t *testing.T) {
	s := &Store{dir: t.TempDir()}
	for _, n := range []int{100000000, 99999999, 7} {
		write(t, s.path(logFile(n)), nil)
	}
	if got, err := s.numbers(); err != nil || !slices.Equal(got, []int{7, 99999999, 100000000}) {
		t.Errorf("%v, %v", got, err)
	}
	s = withRecord(t)
	s.faults = func(operation string) error {
		if operation == "list" {
			return errInjected
		}
		return nil
	}
	if c := s.Verify(); c.OK() || c.Problems[0].Path != "log" {
		t.Errorf("a log that cannot be listed: %v", c.Problems)
	}
}

// TestSameTextTwice: a table with two identities of one text is damaged.
func TestSameTextTwice(t *testing.T) {
	s := &Store{dir: t.TempDir()}
	one := `{"kernel":"k","sha256":"` + hashA + `","identity":"` + hashB + `"}`
	for text, ok := range map[string]bool{"[" + one + "]": true, "[" + one + "," + one + "]": false} {
		write(t, s.path(identitiesFile), []byte(text))
		if list, err := s.Identities(); (err == nil) != ok {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
}

// TestLargestFile: an archive that announces a file of the largest size is read, one byte more is
// refused before anything is unpacked.
func TestLargestFile(t *testing.T) {
	object := objectFile(strings.Repeat("a", 64))
	for _, c := range []struct {
		name string
		size int64
		want string
	}{
		{object, mostFile, "a part of one is missing"},
		{object, mostFile + 1, "too large"},
		{headFile, mostEntry, "a part of one is missing"},
		{headFile, mostEntry + 1, "too large"},
		{logFile(3), mostEntry, "a part of one is missing"},
		{logFile(3), mostEntry + 1, "too large"},
	} {
		var b bytes.Buffer
		if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: filepath.ToSlash(c.name), Size: c.size, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if err := Unpack(&b, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %d bytes: %v, want %s", c.name, c.size, err, c.want)
		}
	}
}

// TestSignatureWithATail: bytes after a valid signature or key are refused.
func TestSignatureWithATail(t *testing.T) {
	s := &Store{key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}
	for _, change := range []func(*Entry){
		func(e *Entry) { e.Signature += "zz" }, func(e *Entry) { e.Signature += "00" },
	} {
		e := Entry{Seq: 1}
		if err := s.sign(&e); err != nil {
			t.Fatal(err)
		}
		if change(&e); signed(e) {
			t.Errorf("the signature %s is accepted", e.Signature)
		}
	}
}

func TestMissingText(t *testing.T) {
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{3, 3, "log/00000003.json: is missing: it was removed or renamed"},
		{3, 4, "log/00000003.json: is missing, and all entries up to log/00000004.json: they were removed or renamed"},
	} {
		if got := fmt.Sprint(missing(c.from, c.to)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestEveryKindIsChecked damages each object of a store with all kinds: its file is named.
func TestEveryKindIsChecked(t *testing.T) {
	fill := func() (*Store, map[Kind]string) {
		s := withRecord(t)
		entries, _ := s.Entries()
		hashes := map[Kind]string{Record: entries[0].Object}
		var err, noteErr, textErr, scoreErr error
		hashes[Verdict], err = s.AddVerdict(&record.Verdict{Schema: record.Schema, Record: hashes[Record], Outcome: record.Defer})
		hashes[Note], noteErr = s.AddNote(&record.Note{Schema: record.Schema, Record: hashes[Record], Lesson: "x"})
		score := &record.Score{Schema: record.Schema, Fates: map[record.Fate]int{}}
		score.Kernel.SHA256, textErr = s.AddText("text")
		hashes[Score], scoreErr = s.AddScore(score)
		if err := errors.Join(err, noteErr, textErr, scoreErr); err != nil {
			t.Fatal(err)
		}
		return s, hashes
	}
	for _, kind := range kinds {
		s, hashes := fill()
		if c := s.Verify(); !c.OK() || c.Entries != 4 {
			t.Fatalf("%d entries, %v", c.Entries, c.Problems)
		}
		write(t, s.path(objectFile(hashes[kind])), []byte("{}"))
		c := s.Verify()
		if !slices.ContainsFunc(c.Problems, func(p Problem) bool { return p.Path == filepath.ToSlash(objectFile(hashes[kind])) }) {
			t.Errorf("a damaged %s: %v", kind, c.Problems)
		}
	}
	s, _ := fill()
	s.faults = func(operation string) error {
		if operation == "read" {
			return errInjected
		}
		return nil
	}
	for _, p := range s.Verify().Problems {
		if p.Path == "" || p.What == "" {
			t.Errorf("a file that cannot be read: %q", p)
		}
	}
}
