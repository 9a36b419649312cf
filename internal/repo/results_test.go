package repo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/report"
)

// TestReadmeResults checks that the README's results are those of the evidence, and
// that the evidence is what was once written.
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
		if err := os.WriteFile(filepath.Join(root(t), "README.md"), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the README's results are not those of evidence/: go run ./cmd/attest report --evidence evidence --readme README.md")
	}
}
