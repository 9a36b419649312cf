package evidence_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/record"
)

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// edit replaces text in a file of the store, even if it is read-only.
func edit(t *testing.T, path, old, new string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	put(t, path, strings.Replace(string(data), old, new, 1))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	os.Remove(path)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDamageIsFound damages a store of three records and two verdicts, the entries 1 to 5, and
// wants exactly the damaged files to be named.
func TestDamageIsFound(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, dir string, hashes []string)
		want []string // all problems: "path: words", with OBJECTn for the n-th object
	}{
		{"object edited", func(t *testing.T, dir string, h []string) { edit(t, object(dir, h[2]), "stage1", "stage9") },
			[]string{"OBJECT2: is damaged", "OBJECT3: is about"}},
		{"object cut", func(t *testing.T, dir string, h []string) { put(t, object(dir, h[4]), `{"schema":1,`) },
			[]string{"OBJECT4: is damaged"}},
		{"object empty", func(t *testing.T, dir string, h []string) { put(t, object(dir, h[1]), "") },
			[]string{"OBJECT1: is damaged"}},
		{"object removed", func(t *testing.T, dir string, h []string) { os.Remove(object(dir, h[1])) },
			[]string{"OBJECT1: is missing"}},
		{"object replaced by another", func(t *testing.T, dir string, h []string) { os.Rename(object(dir, h[4]), object(dir, h[0])) },
			[]string{"OBJECT0: is damaged", "OBJECT1: is about", "OBJECT4: is missing"}},
		{"object renamed", func(t *testing.T, dir string, h []string) {
			os.Rename(object(dir, h[4]), filepath.Join(dir, "objects", "x.json"))
		}, []string{"OBJECT4: is missing", "objects/x.json: does not have the name"}},
		{"entry edited", func(t *testing.T, dir string, h []string) { edit(t, entry(dir, 2), "MERGE", "REJECT") },
			[]string{"log/00000002.json: was changed", "log/00000002.json: does not match the object"}},
		{"last entry edited", func(t *testing.T, dir string, h []string) { edit(t, entry(dir, 5), "stage2", "stage3") },
			[]string{"log/00000005.json: was changed", "log/00000005.json: does not match the object"}},
		{"entry cut", func(t *testing.T, dir string, h []string) { put(t, entry(dir, 3), `{"seq":3`) },
			[]string{"OBJECT3: is about", "log/00000003.json: is damaged", "log/00000003.json: was changed"}},
		{"entry removed", func(t *testing.T, dir string, h []string) { os.Remove(entry(dir, 2)) },
			[]string{"log/00000002.json: is missing"}},
		{"two entries removed", func(t *testing.T, dir string, h []string) { os.Remove(entry(dir, 1)); os.Remove(entry(dir, 2)) },
			[]string{"log/00000001.json: is missing, and all entries up to log/00000002.json"}},
		{"last entry and its object removed", func(t *testing.T, dir string, h []string) {
			os.Remove(entry(dir, 5))
			os.Remove(object(dir, h[4]))
		}, []string{"log/00000005.json: is missing"}},
		{"entries swapped", func(t *testing.T, dir string, h []string) {
			os.Rename(entry(dir, 1), entry(dir, 9)+"x")
			os.Rename(entry(dir, 2), entry(dir, 1))
			os.Rename(entry(dir, 9)+"x", entry(dir, 2))
		}, []string{
			"log/00000001.json: is entry 2 by its content", "log/00000002.json: is entry 1 by its content",
			"log/00000002.json: was changed",
		}},
		{"head removed", func(t *testing.T, dir string, h []string) { os.Remove(filepath.Join(dir, "head.json")) },
			[]string{"head.json: is missing"}},
		{"head damaged", func(t *testing.T, dir string, h []string) { put(t, filepath.Join(dir, "head.json"), "{") },
			[]string{"head.json: is damaged"}},
		{"head of an older entry with another hash", func(t *testing.T, dir string, h []string) {
			put(t, filepath.Join(dir, "head.json"), `{"seq":2,"entry":"`+h[0]+`"}`+"\n")
		}, []string{"head.json: names an entry 2 that differs from that of the log"}},
		{"time of an entry edited", func(t *testing.T, dir string, h []string) { edit(t, entry(dir, 5), `"time":"2026`, `"time":"2025`) },
			[]string{"log/00000005.json: was changed", "log/00000005.json: has another time"}},
		{"first entry names an entry before it", func(t *testing.T, dir string, h []string) {
			edit(t, entry(dir, 1), `"previous":""`, `"previous":"`+h[0]+`"`)
		}, []string{"log/00000001.json: was changed", "log/00000001.json: is the first entry, but names an entry before it"}},
		{"text renamed", func(t *testing.T, dir string, h []string) { put(t, filepath.Join(dir, "objects", "x.ptx"), "") },
			[]string{"objects/x.ptx: does not have the name of a text"}},
		{"text in another folder", func(t *testing.T, dir string, h []string) { put(t, filepath.Join(dir, "objects", h[0]+".ptx"), "") },
			[]string{"MOVED0: does not have the name of a text"}},
		{"stray text damaged", func(t *testing.T, dir string, h []string) {
			put(t, strings.TrimSuffix(object(dir, h[0]), ".json")+".ptx", "")
		}, []string{"TEXT0: is damaged"}},
		{"stray object damaged", func(t *testing.T, dir string, h []string) {
			put(t, strings.TrimSuffix(object(dir, h[0]), h[0]+".json")+h[0][:2]+strings.Repeat("0", 62)+".json", "{}")
		}, []string{"objects/"}},
		{"last entry is a folder", func(t *testing.T, dir string, h []string) {
			os.Remove(entry(dir, 5))
			if err := os.Mkdir(entry(dir, 5), 0o755); err != nil {
				t.Fatal(err)
			}
		}, []string{"log/00000005.json: "}},
		{"stray in the log", func(t *testing.T, dir string, h []string) { put(t, filepath.Join(dir, "log", "5.json"), "{}") },
			[]string{"log/5.json: does not have the name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, hashes := filled(t)
			c.harm(t, s.Path(), hashes)
			got := s.Verify()
			compare(t, got.Problems, c.want, hashes)
			if !slices.IsSortedFunc(got.Problems, func(a, b evidence.Problem) int { return strings.Compare(a.Path, b.Path) }) {
				t.Errorf("the problems are not in order: %v", got.Problems)
			}
			// The other files stay usable, and records can be added.
			if n := len(s.Load().Items); n < 1 {
				t.Errorf("%d records are left", n)
			}
			add(t, s, "stage6")
			if !strings.HasPrefix(c.name, "head") && s.Verify().OK() { // a new entry has a new head
				t.Error("the damage is forgotten once something is added")
			}
		})
	}
}

func object(dir, hash string) string {
	return filepath.Join(dir, "objects", hash[:2], hash+".json")
}

func entry(dir string, n int) string {
	return filepath.Join(dir, "log", "0000000"+string(rune('0'+n))+".json")
}

// compare compares problems with the expected ones, in any order.
func compare(t *testing.T, problems []evidence.Problem, want, hashes []string) {
	t.Helper()
	var names []string
	for i, h := range hashes {
		names = append(names, "objects/"+h[:2]+"/"+h+".json", "OBJECT"+string(rune('0'+i)),
			"objects/"+h[:2]+"/"+h+".ptx", "TEXT"+string(rune('0'+i)), "objects/"+h+".ptx", "MOVED"+string(rune('0'+i)))
	}
	short := strings.NewReplacer(names...)
	want = slices.Clone(want)
	for _, p := range problems {
		text := short.Replace(p.String())
		i := slices.IndexFunc(want, func(w string) bool { return strings.HasPrefix(text, w) })
		if i < 0 {
			t.Errorf("told without reason: %s", text)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	for _, w := range want {
		t.Errorf("not told: %s", w)
	}
}

// TestForgedChain rewrites a record, its name, its entry and all later entries, but not the head.
func TestForgedChain(t *testing.T) {
	s, hashes := filled(t)
	dir := s.Path()
	data, err := os.ReadFile(object(dir, hashes[4]))
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(data), "stage2", "stage9", 2)
	hash := sum([]byte(forged))
	if err := os.MkdirAll(filepath.Dir(object(dir, hash)), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, object(dir, hash), forged)
	os.Remove(object(dir, hashes[4]))
	edit(t, entry(dir, 5), hashes[4], hash)
	edit(t, entry(dir, 5), "stage2", "stage9")
	compare(t, s.Verify().Problems, []string{"log/00000005.json: was changed: head.json"}, hashes)
}

func TestNewerSchemaIsRefused(t *testing.T) {
	s := open(t, t.TempDir())
	text := `{"schema":99,"kernel":{"name":"from later","sha256":"x"}}`
	hash := sum([]byte(text))
	if err := os.MkdirAll(filepath.Dir(object(s.Path(), hash)), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, object(s.Path(), hash), text)
	if _, err := s.Record(hash); err == nil || !strings.Contains(err.Error(), "newer attest") {
		t.Errorf("a record of schema 99: %v", err)
	}
}

// TestHealing wants a damaged object to be restored when it is added again.
func TestHealing(t *testing.T) {
	s := open(t, t.TempDir())
	hash := add(t, s, "stage1")
	put(t, object(s.Path(), hash), "x")
	if s.Verify().OK() {
		t.Fatal("damage is not found")
	}
	if _, err := s.AddVerdict(recordtest.Judge(hash, recordtest.Start, record.Merge, "", "")); err == nil {
		t.Error("a damaged record was judged")
	}
	add(t, s, "stage1")
	sound(t, s, 1)

	os.Remove(object(s.Path(), hash))
	add(t, s, "stage1")
	if c := sound(t, s, 2); c.Records != 1 {
		t.Errorf("one record, lost and added again, counts as %d", c.Records)
	}
	if _, err := s.Find(hash); err != nil {
		t.Error(err)
	}
}
