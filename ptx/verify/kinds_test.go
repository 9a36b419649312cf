package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKinds keeps the list of kinds and the tests of them together: each kind is
// expected somewhere in testdata/check, and nothing else is.
func TestKinds(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{"duplicate-name": true} // TestDuplicates: no text has one
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
