package evidence_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEveryCrash puts a store into each state that a process leaves when it is killed between two
// steps of adding a record.
func TestEveryCrash(t *testing.T) {
	for _, c := range []struct {
		name  string
		undo  func(t *testing.T, dir, hash string, head []byte)
		left  int // entries
		notes int
	}{
		{"before anything is visible", func(t *testing.T, dir, hash string, head []byte) {
			os.Rename(entry(dir, 2), filepath.Join(dir, "tmp", "1.json"))
			os.Rename(object(dir, hash), filepath.Join(dir, "tmp", "2.json"))
			put(t, filepath.Join(dir, "head.json"), string(head))
		}, 1, 2},
		{"half of a file is written", func(t *testing.T, dir, hash string, head []byte) {
			os.Remove(entry(dir, 2))
			os.Remove(object(dir, hash))
			put(t, filepath.Join(dir, "tmp", "2.json"), `{"schema":1,"ker`)
			put(t, filepath.Join(dir, "head.json"), string(head))
		}, 1, 1},
		{"the object is visible", func(t *testing.T, dir, hash string, head []byte) {
			os.Rename(entry(dir, 2), filepath.Join(dir, "tmp", "1.json"))
			put(t, filepath.Join(dir, "head.json"), string(head))
		}, 1, 2},
		{"the entry is visible", func(t *testing.T, dir, hash string, head []byte) {
			put(t, filepath.Join(dir, "head.json"), string(head))
		}, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			add(t, s, "before")
			head, err := os.ReadFile(filepath.Join(s.Path(), "head.json"))
			if err != nil {
				t.Fatal(err)
			}
			hash := add(t, s, "killed")
			c.undo(t, s.Path(), hash, head)
			if got := sound(t, s, c.left); len(got.Notes) != c.notes {
				t.Errorf("%d notes, want %d: %v", len(got.Notes), c.notes, got.Notes)
			}
			// Adding again loses nothing and adds nothing twice.
			if again := add(t, s, "killed"); again != hash {
				t.Errorf("the hash is now %s", again)
			}
			add(t, s, "after")
			sound(t, s, 3)
		})
	}
}
