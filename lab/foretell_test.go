package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// prediction returns what is predicted of a kernel against its baseline on a small shape.
func prediction(t *testing.T, s, baseline *Subject) *record.Prediction {
	t.Helper()
	m, err := newMeasurement(s, Plan{Baseline: baseline, Predict: problem.Square(1, 2, 128, 64)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if err := m.foretell(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m.r.Prediction
}

// TestForetell predicts a kernel with a superfluous barrier, which cannot pay, and another kernel.
func TestForetell(t *testing.T) {
	preset := func(name string) *Subject {
		s, err := Preset(name, problem.Attention{Shape: problem.Square(1, 2, 128, 64)}, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := preset("stage3b")
	text := strings.Replace(base.PTX, "\tbar.sync 0;\n", "\tbar.sync 0;\n\tbar.sync 0;\n", 1)
	if text == base.PTX {
		t.Fatal("the kernel has no barrier")
	}
	twice, err := External("twice", text, base.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	p := prediction(t, twice, base)
	if p == nil || p.Kernel < p.Baseline || p.Baseline/p.Free > 1.005 || p.Baseline/p.Free < 1 {
		t.Errorf("one more barrier: %+v", p)
	}
	if p := prediction(t, preset("stage3a"), base); p == nil || p.Kernel < p.Baseline || p.Free > 0.9*p.Baseline {
		t.Errorf("a kernel with more changes: %+v", p)
	}
	if p := prediction(t, base, base); p != nil {
		t.Errorf("the same kernel has the prediction %+v", p)
	}
}

func TestCommon(t *testing.T) {
	x, y := strings.Fields("a b c d e"), strings.Fields("a x c e y")
	if got := common(x, y); !slices.Equal(got, [][2]int{{0, 0}, {2, 2}, {4, 3}}) {
		t.Errorf("%v", got)
	}
}
