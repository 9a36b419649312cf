package repo

import (
	"path/filepath"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/report"
)

// TestReadmeResults checks that the README's results are rendered from the evidence, and
// that nobody has changed the evidence since it was written.
func TestReadmeResults(t *testing.T) {
	s, err := evidence.Open(filepath.Join(root(t), "evidence"))
	if err != nil {
		t.Fatal(err)
	}
	contents := s.Load()
	for _, p := range contents.Check.Problems {
		t.Errorf("evidence: %v", p)
	}
	readme := readFile(t, "README.md")
	want, err := report.ReplaceResults(readme, report.New(contents).Results())
	switch {
	case err != nil:
		t.Fatal(err)
	case want == readme:
	case *update:
		writeFile(t, "README.md", want)
	default:
		t.Error("the README's results are not those of evidence/: go run ./cmd/attest report --evidence evidence --readme README.md")
	}
}
