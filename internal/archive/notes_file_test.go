package archive

import (
	"bytes"
	"encoding/json"
	"os"
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

// negative returns an archive with a valid negative: its bank conflicts rise from 5376 to 6912,
// and its products stay the same.
func negative(t *testing.T) (a *Archive, hash string, out *bytes.Buffer) {
	t.Helper()
	out = &bytes.Buffer{}
	a = &Archive{Dir: filepath.Join(t.TempDir(), "evidence"), Env: &cli.Env{Out: out, Err: out, Color: term.Never}}
	s, err := evidence.Open(a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r := recordtest.New("stage3a")
	recordtest.OnGPU(r)
	r.Baseline = &record.Kernel{Name: "stage2"}
	r.Counters = &record.Counters{
		Shape:    problem.Square(1, 2, 128, 64),
		Kernel:   map[string]float64{"bank conflicts": 6912, "tensor instructions": 2048, "family mbarrier": 208},
		Baseline: map[string]float64{"bank conflicts": 5376, "tensor instructions": 2048},
	}
	if hash, err = s.AddRecord(r); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddVerdict(recordtest.Judge(hash, recordtest.Start, record.ValidNegative, "", "slower")); err != nil {
		t.Fatal(err)
	}
	return a, hash, out
}

func noteFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNoteFile adds a note with the counters of its record, once.
func TestNoteFile(t *testing.T) {
	a, hash, out := negative(t)
	file := noteFile(t, `{"notes": [
		{"kernel": "stage3a", "baseline": "stage2", "device": "synthetic GPU", "hypothesis": "P saves memory.", "root_cause": "P conflicts.",
		 "rises": ["bank conflicts", "family mbarrier"], "same": ["tensor instructions"], "lesson": "Count blocks.", "recommendation": "Measure elsewhere."},
		{"kernel": "stage3a", "device": "H200", "lesson": "another chip"},
		{"kernel": "stage3a", "outcome": "MERGE", "lesson": "another outcome"},
		{"kernel": "stage3a", "baseline": "stage1", "lesson": "another baseline"}]}`)
	for _, want := range []string{"1 note added\n", "0 notes added\n"} {
		out.Reset()
		if err := a.NoteFile(file); err != nil || !strings.HasSuffix(out.String(), want) || strings.Count(out.String(), "no record\n") != 3 {
			t.Fatalf("%v, want %q at the end of\n%s", err, want, out)
		}
	}
	items, err := a.Items(hash)
	if err != nil || len(items[0].Notes) != 1 {
		t.Fatalf("%d notes, %v", len(items[0].Notes), err)
	}
	want := "P conflicts. Counters on 1,2,128,64, against stage2: bank conflicts 6 912 against 5 376, family mbarrier 208 against 0, tensor instructions 2 048 in both."
	if n := items[0].Notes[0]; n.RootCause != want || n.Hypothesis != "P saves memory." || n.Recommendation != "Measure elsewhere." {
		t.Errorf("%+v, want the root cause %q", n.Note, want)
	}
	a.Env.JSON = true
	out.Reset()
	if err := a.NoteFile(file); err != nil {
		t.Fatal(err)
	}
	var r NoteResult
	if err := json.NewDecoder(out).Decode(&r); err != nil || r.Record != hash || r.Result != "present" || r.Note != items[0].Notes[0].Hash {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNoteFileUnfit wants no note on a record whose counters do not show the cause.
func TestNoteFileUnfit(t *testing.T) {
	for counters, want := range map[string]string{
		`"falls": ["bank conflicts"]`:      "does not fit: bank conflicts should fall over stage2: the record has 6 912 against 5 376",
		`"rises": ["tensor instructions"]`: "tensor instructions should rise over stage2: the record has 2 048 against 2 048",
		`"same": ["bank conflicts"]`:       "bank conflicts should stay the same over stage2",
		`"same": ["bank conflict"]`:        `the record has no counter "bank conflict"`,
	} {
		a, hash, out := negative(t)
		err := a.NoteFile(noteFile(t, `{"notes": [{"kernel": "stage3a", "lesson": "x", `+counters+`}]}`))
		if cli.Code(err, out) != cli.Red || !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "stage3a is a valid negative without a note: record "+hash[:10]) {
			t.Errorf("%s: %v, want %q in\n%s", counters, err, want, out)
		}
	}
}

// TestNoteFileMistakes wants each mistake at its line and column.
func TestNoteFileMistakes(t *testing.T) {
	a, _, _ := negative(t)
	for text, want := range map[string]string{
		`{}`:                           `has no field "notes"`,
		`{"notes": [{"lesson": "x"}]}`: `:1:12: note 1: a note has no field "kernel"`,
		`{"notes": [{"kernel": "k"}]}`: "note 1: the note is empty",
		`{"notes": [{"kernel": "k", "leson": "x"}]}`:              `unknown field "leson"`,
		`{"notes": [{"kernel": "k", "outcome": "NO"}]}`:           "expected one of MERGE, CORRECT",
		`{"notes": [{"kernel": "k", "lesson": "x", "rises": 1}]}`: "expected a list of names of counters",
	} {
		if err := a.NoteFile(noteFile(t, text)); err == nil || !strings.HasPrefix(err.Error(), "--file: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
