package repo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/report"
)

// published returns the evidence that the repository publishes, and checks that nobody has
// changed it since it was written.
func published(t *testing.T) *report.View {
	t.Helper()
	s, err := evidence.Open(filepath.Join(root(t), "evidence"))
	if err != nil {
		t.Fatal(err)
	}
	contents := s.Load()
	for _, p := range contents.Check.Problems {
		t.Errorf("evidence: %v", p)
	}
	return report.New(contents)
}

// TestReadmeResults checks that the results in the README are those of the evidence.
func TestReadmeResults(t *testing.T) {
	want, err := report.ReplaceResults(readFile(t, "README.md"), published(t).Results())
	if err != nil {
		t.Fatal(err)
	}
	rendered(t, "README.md", want, "--readme README.md")
}

// TestPicture checks that the picture of the times shows the evidence.
func TestPicture(t *testing.T) {
	var b bytes.Buffer
	if err := published(t).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	rendered(t, "docs/times.svg", b.String(), "--svg docs/times.svg")
}

// TestSweepPicture checks that the heat map of the speedups shows the evidence, if the README has one.
func TestSweepPicture(t *testing.T) {
	const file = "docs/sweep.svg"
	if !strings.Contains(readFile(t, "README.md"), file) {
		t.Skip("the README has no heat map: the evidence has no sweep yet")
	}
	var b bytes.Buffer
	if err := published(t).WriteSweep(&b); err != nil {
		t.Fatal(err)
	}
	rendered(t, file, b.String(), "--sweep "+file)
}

// rendered checks the content of a file that attest report writes. With -update it writes the
// file.
func rendered(t *testing.T, file, want, flag string) {
	t.Helper()
	have, err := os.ReadFile(filepath.Join(root(t), file))
	switch {
	case err == nil && string(have) == want:
	case *update:
		writeFile(t, file, want)
	default:
		t.Errorf("%s does not show the current evidence: run go run ./cmd/attest report --evidence evidence %s", file, flag)
	}
}
