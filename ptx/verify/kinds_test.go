package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKinds checks that the files in testdata/check expect every kind of Kinds, and no other
// kind.
func TestKinds(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{"duplicate-name": true} // TestDuplicates tests it, because no text can have it
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wanted(string(text)) {
			tried[strings.TrimSuffix(strings.Fields(w)[2], ":")] = true
		}
	}
	known := map[string]bool{}
	for _, k := range Kinds {
		known[k.Name] = true
		if !tried[k.Name] {
			t.Errorf("no test expects %s", k.Name)
		}
	}
	for k := range tried {
		if !known[k] {
			t.Errorf("Kinds does not list %s", k)
		}
	}
}
