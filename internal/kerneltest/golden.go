package kerneltest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the PTX under testdata, and what documents say of measurements")

// Update reports whether the flag -update is set: then tests rewrite the files that they compare with.
func Update() bool { return *update }

// locLine matches a .loc directive, which names the line of Go behind the instructions after it.
var locLine = regexp.MustCompile(`(?m)^\s*\.loc .*\n`)

// Kernel is a *build.Kernel.
type Kernel interface {
	Name() string
	Strict()
	PTX() (string, error)
}

// PTX returns the text of a kernel. The test fails if the kernel has errors or warnings.
func PTX(t testing.TB, k Kernel) string {
	t.Helper()
	k.Strict()
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Golden compares a kernel's PTX with a file under testdata, which readers may also want to
// see. The file has no .loc directives, because they change whenever a line of Go moves. With
// -update, Golden writes the file.
func Golden(t testing.TB, name, text string) {
	t.Helper()
	got := locLine.ReplaceAllString(text, "")
	golden := filepath.Join("testdata", name+".ptx")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has changed; if that was the intention: go test . -update", golden)
	}
}
