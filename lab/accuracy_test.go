package lab

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestAccuracy compares a kernel with a library that computes exactly from the bytes and scales that it is given, so it
// adds no error, and with one that rounds its output.
func TestAccuracy(t *testing.T) {
	if !beside(t) {
		t.Skip("no Python")
	}
	libraries := &Libraries{}
	t.Cleanup(libraries.Close)
	plan := AccuracyPlan{
		Device: newCard(), Seed: 5, Distributions: []string{"normal", "heads", "zeros"}, Libraries: libraries,
		Shapes: []problem.Named{{Shape: problem.Square(2, 3, 33, 64)}},
		Rivals: []RivalChoice{{Library: "values", Implementation: "right"}, {Library: "values", Implementation: "coarse"}, {Library: "values", Implementation: "third"}, {Library: "nothing"}},
	}
	r, err := Accuracy(t.Context(), preset(t, "stage2"), plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Accuracy; len(a.Cases) != 3 || len(a.Notes) != 1 || !strings.HasPrefix(a.Notes[0], "nothing: ") {
		t.Fatalf("%+v", a)
	}
	for _, c := range r.Accuracy.Cases {
		if c.Rows != 2*3*33 || c.Seed != 5 || len(c.Rivals) != 3 || c.Kernel.Name != "stage2" {
			t.Fatalf("%+v", c)
		}
		right, coarse, none := c.Rivals[0], c.Rivals[1], c.Rivals[2]
		if right.Name != "values right f16" || right.Version != "1.0, nvcc 12.4" || !strings.Contains(right.Note, "given") || !strings.Contains(none.Why, "no implementation") {
			t.Errorf("%+v", c.Rivals)
		}
		if c.Distribution == "zeros" {
			if (c.Kernel.Total != record.Spread{}) || (right.Added != record.Spread{}) {
				t.Errorf("%+v", c)
			}
			continue
		}
		if !(right.Added.RMSE < 1e-6 && c.Kernel.Added.RMSE > 1e-5 && c.Kernel.Added.RMSE < 0.02 && coarse.Added.RMSE > 0.01 && coarse.Added.Max <= 1.0/32+1e-6) {
			t.Errorf("%s: added errors of the kernel %+v, of the exact library %+v, of the coarse one %+v", c.Distribution, c.Kernel.Added, right.Added, coarse.Added)
		}
		if !(right.Total.RMSE > 0.005 && c.Kernel.Total.RMSE > 0.005 && right.Total.Max >= right.Total.RMSE) {
			t.Errorf("%s: total errors of the kernel %+v, of the exact library %+v", c.Distribution, c.Kernel.Total, right.Total)
		}
	}
}

// TestAccuracyRows wants rows from all heads, spread evenly, each at most once.
func TestAccuracyRows(t *testing.T) {
	for _, n := range []int{1, 6, 64, 1000} {
		s := problem.Square(2, 3, 100, 64)
		rows := evenRows(s, n)
		seen, last := map[any]bool{}, 0
		for _, r := range rows {
			if seen[r] || r.B >= 2 || r.H >= 3 || r.S >= 100 {
				t.Errorf("%d rows: %v", n, r)
			}
			seen[r] = true
			last = max(last, r.S)
		}
		if len(rows) != min(n, 600) || n >= 64 && last < 90 || rows[0].S > 50 {
			t.Errorf("%d rows: %v", n, rows)
		}
	}
}

// TestAccuracyFormats refuses inputs whose bytes a rival cannot take with a scale per head.
func TestAccuracyFormats(t *testing.T) {
	p := AccuracyPlan{Device: newCard(), Distributions: []string{"normal"}, Libraries: &Libraries{}, Shapes: []problem.Named{{Shape: problem.Square(1, 1, 33, 64)}}}
	s, err := Preset("stage2", problem.Attention{Format: problem.U8}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Accuracy(t.Context(), s, p, nil); err == nil || !strings.Contains(err.Error(), "e4m3 and e5m2") {
		t.Error(err)
	}
}
