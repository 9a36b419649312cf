package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/problem"
)

// beside makes the library of testdata available, if Python is installed.
func beside(t *testing.T) bool {
	t.Helper()
	if _, err := rival.Python(); err != nil {
		t.Log(err)
		return false
	}
	dir, err := filepath.Abs("testdata/rival")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", dir)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	return true
}

// TestRivals times a kernel beside two implementations of a library. Both get the inputs of the
// kernel, and no file is left behind.
func TestRivals(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	if !beside(t) {
		t.Skip("no Python")
	}
	p := timingPlan(newCard())
	p.Times.Rivals = []RivalChoice{{Library: "values", Implementation: "first"}, {Library: "values", Implementation: "second"}, {Library: "values", Implementation: "third"}}
	p.Times.Shapes = []problem.Named{{Shape: length(1, 2, 33)}, {Shape: length(1, 2, 40)}}
	perf, err := Time(t.Context(), preset(t, "stage2"), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(perf.Shapes) != 2 || len(perf.Notes) != 2 || !strings.Contains(perf.Notes[0], `no implementation "third"`) {
		t.Fatalf("%d shapes, notes %q", len(perf.Shapes), perf.Notes)
	}
	for _, one := range perf.Shapes {
		if len(one.Rivals) != 2 || !one.OutputsOK || one.RMSE <= 0 || one.RMSE > 0.1 {
			t.Fatalf("%+v", one.Rivals)
		}
		for _, r := range one.Rivals {
			// The output is V and not its mean, so the error is about as large as V.
			if r.RMSE < 0.5 || r.RMSE > 2 || r.RMSE != one.Rivals[0].RMSE || r.Comparison.Ratio > 0.6 {
				t.Errorf("%s: error %v, ratio %v", r.Name, r.RMSE, r.Comparison.Ratio)
			}
		}
	}
	if perf.Shapes[0].Rivals[0].RMSE == perf.Shapes[1].Rivals[0].RMSE {
		t.Error("two shapes have the same inputs")
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
