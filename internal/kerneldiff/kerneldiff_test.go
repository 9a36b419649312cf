package kerneldiff

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
)

var small = problem.Attention{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 1, Sq: 20, Skv: 96, D: 64}}

func inputs(t *testing.T, p problem.Attention) *Inputs {
	t.Helper()
	in, err := NewInputs(p, "normal", 1)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// clone returns a side that a test may spoil.
func clone(s *Side) *Side {
	c := &Side{Name: "spoiled", Weight: "f32"}
	for i := range s.P {
		c.P, c.O = append(c.P, slices.Clone(s.P[i])), append(c.O, slices.Clone(s.O[i]))
	}
	return c
}

// TestExplain spoils one value of the reference at a time.
func TestExplain(t *testing.T) {
	good := Reference(inputs(t, small))
	const row = 25 // head 1, row 5
	for _, c := range []struct {
		name, value, why string
		spoil            func(*Side)
		key              int
	}{
		{"row sum", "l", "all weights of the row are 1.5x", func(s *Side) { scale(s.P[row], 1.5) }, 0},
		{"rescaling", "m", "before 64", func(s *Side) { scale(s.P[row][:64], 0.5) }, 0},
		{"tile left out", "P", "the keys 32 to 63 are zero", func(s *Side) { scale(s.P[row][32:64], 0) }, 32},
		{"tile twice", "P", "only the keys 32 to 63 differ", func(s *Side) { scale(s.P[row][32:64], 2) }, 32},
		{"logits", "S", "The logits differ", func(s *Side) {
			for j := range s.P[row] {
				s.P[row][j] *= []float64{0.5, 2}[j%2]
			}
		}, 0},
		{"product", "O", "all weights agree", func(s *Side) { scale(s.O[row], 2) }, -1},
		{"nothing written", "P", "not a number", func(s *Side) { s.P[row][40] = math.NaN() }, 40},
	} {
		bad := clone(good)
		c.spoil(bad)
		r := Compare(bad, good, small, 16, 32)
		d := r.First
		if d == nil || d.Value != c.value || !strings.Contains(d.Why, c.why) || d.Head != 1 || d.Row != 5 || c.key < 0 && d.Key != -1 {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	if r := Compare(clone(good), good, small, 16, 32); r.First != nil || len(r.Tiles) != 4 || r.Tiles[0].Keys != "..." {
		t.Errorf("equal sides: %+v", r)
	}
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// TestObserve runs a kernel, and the same kernel with a doubled scale, on the emulator.
func TestObserve(t *testing.T) {
	p := problem.Attention{Shape: problem.Square(1, 1, 70, 64)}
	k, err := kernels.Build("stage3b", p, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	target, err := k.Target()
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.New(target, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	in := inputs(t, p)
	want := Reference(in)
	got, err := Observe(t.Context(), dev, k, problem.F16, in, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if r := Compare(got, want, in.problem, 64, 64); r.First != nil {
		t.Errorf("stage3b: %+v", r.First)
	}
	for i := range k.Launches[0].Args {
		if a := &k.Launches[0].Args[i]; a.Type == "f32" {
			a.Value = expr.Must("2*(" + a.Value.String() + ")")
		}
	}
	if got, err = Observe(t.Context(), dev, k, problem.F16, in, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	if r := Compare(got, want, in.problem, 64, 64); r.First == nil || r.First.Value != "S" {
		t.Errorf("stage3b with a doubled scale: %+v", r.First)
	}
}

func TestNewInputsRefuses(t *testing.T) {
	half, large := small, small
	half.Format = problem.F16
	large.Sq = 1 << 20
	for _, p := range []problem.Attention{half, large} {
		if _, err := NewInputs(p, "normal", 1); err == nil {
			t.Errorf("%s was accepted", p)
		}
	}
}
