package tune

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/profile"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestPredictedBest ranks the designs whose times were measured on an H200 by their predicted times.
// The best one must be among the three fastest.
func TestPredictedBest(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator runs many kernels")
	}
	text, err := os.ReadFile("../../kernels/attn/hopper/testdata/times.json")
	if err != nil {
		t.Fatal(err)
	}
	var lines []struct {
		B, H, S, D int
		Causal     bool
		Micros     map[string]float64
	}
	if err := json.Unmarshal(text, &lines); err != nil {
		t.Fatal(err)
	}
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	problems := []problem.Shape{problem.Square(1, 8, 2048, 64), problem.Square(2, 8, 256, 64)}
	found := 0
	for _, l := range lines {
		shape := problem.Square(l.B, l.H, l.S, l.D)
		if l.Causal || !slices.Contains(problems, shape) {
			continue
		}
		found++
		p := problem.Attention{Shape: shape, Format: problem.E4M3}
		state := &State{}
		for _, d := range hopper.Designs()[1:] {
			division := d.Config(p, chip.SMs).Division()
			if _, ok := l.Micros[division]; !ok {
				continue
			}
			s, err := lab.Preset(d.Name, p, kernel.Chip{SMs: chip.SMs})
			if err != nil {
				t.Fatal(err)
			}
			r, err := profile.Of(t.Context(), s, problem.Named{Shape: shape}, chip, profile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			state.Trials = append(state.Trials, Trial{Name: division, SHA256: s.Describe().SHA256, Green: true, Micros: r.Predicted.Micros, Ratio: r.Predicted.Micros})
		}
		fastest := slices.SortedFunc(maps.Keys(l.Micros), func(a, b string) int { return cmp.Compare(l.Micros[a], l.Micros[b]) })
		if best := state.Best(1); len(best) != 1 || !slices.Contains(fastest[:3], best[0].Name) {
			t.Errorf("%v: %+v is predicted to be the fastest, and %v were", shape, best, fastest[:3])
		}
	}
	if found != len(problems) {
		t.Errorf("%d of %d problems were measured", found, len(problems))
	}
}
