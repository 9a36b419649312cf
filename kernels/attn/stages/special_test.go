package stages

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// kinds are presets for every way to compute.
var kinds = []string{"stage0", "stage1", "stage2", "stage3a", "stage3b", "stage5-persistent"}

// config is a preset's Config for heads of 64.
func config(t testing.TB, name string) Config {
	t.Helper()
	preset, err := FindPreset(name, 64)
	if err != nil {
		t.Fatal(err)
	}
	return preset.Config
}

// TestScales has factors of any sign: a negative and a zero scale, and heads whose
// scales differ by orders of magnitude.
func TestScales(t *testing.T) {
	p := problem.Attention{Shape: problem.Square(2, 3, 70, 64), Format: problem.E4M3, LSE: true}
	for _, scale := range []float32{-0.125, 0, 0.03} {
		in := normal(t, p, 8)
		in.Q.Scales[1] *= 20
		in.V.Scales[2] *= 1e-3
		for _, name := range kinds {
			b := newBench(t, emulator(t, ptx.SM90, 0), in)
			b.Values = expr.Env{"scale": expr.Float(float64(scale))}
			r := b.run(config(t, name), ptx.SM89)
			want := float64(scale)
			if scale == 0 {
				want = 1e-300 // ref takes 0 for 1/√D
			}
			res, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.Options{Scale: want})
			if err != nil {
				t.Fatal(err)
			}
			e, err := res.Compare(r.Tensor(t), ref.CompareOptions{Tol: 2e-3})
			if err != nil {
				t.Fatal(err)
			}
			if e.Max > 2e-3 {
				t.Errorf("%s, scale %v: %v", name, scale, e)
			}
		}
	}
}

// TestNaN puts a NaN into one row of Q: that row comes out NaN, the others as before.
func TestNaN(t *testing.T) {
	const row = 33
	p := problem.Attention{Shape: problem.Square(1, 1, 70, 64), Format: problem.E4M3}
	for _, name := range append(kinds, "fast exp") {
		c := config(t, "stage3b")
		if name == "fast exp" {
			c.FastExp = true
		} else {
			c = config(t, name)
		}
		in := normal(t, p, 9)
		clean := newBench(t, emulator(t, ptx.SM90, 0), in).run(c, ptx.SM89)
		in.Q.Data[row*64+5] = 0x7f
		got := newBench(t, emulator(t, ptx.SM90, 0), in).run(c, ptx.SM89)
		for i := range p.Sq {
			a, b := make([]float64, 64), make([]float64, 64)
			got.Tensor(t).Row(0, 0, i, a)
			clean.Tensor(t).Row(0, 0, i, b)
			for j := range a {
				if i == row && !math.IsNaN(a[j]) || i != row && a[j] != b[j] {
					t.Fatalf("%s: (%d, %d) is %v, without the NaN %v", name, i, j, a[j], b[j])
				}
			}
		}
	}
}

// TestMinusInfinity has keys whose score is -∞ for every query. They count as little as masked
// keys. If all scores of a row are -∞, its output is 0 and its LSE -∞, as in the reference.
func TestMinusInfinity(t *testing.T) {
	p := problem.Attention{Shape: problem.Square(1, 1, 150, 64), Format: problem.E5M2, LSE: true}
	for what, hidden := range map[string]func(key int) bool{
		"all keys":   func(int) bool { return true },
		"first keys": func(key int) bool { return key < 70 },
		"last keys":  func(key int) bool { return key >= 70 },
	} {
		in := normal(t, p, 10)
		in.Hide(hidden)
		for _, name := range kinds {
			r := newBench(t, emulator(t, ptx.SM90, 0), in).run(config(t, name), ptx.SM89)
			kerneltest.JudgeHidden(t, name+", "+what, in, r, what == "all keys", 5e-3)
		}
	}
}

// TestBankConflicts counts bank conflicts. At D = 64 there are none if 16 bytes are decoded
// at a time, padded or swizzled. Reusing the score buffer, whose rows are laid out for f32,
// has some.
func TestBankConflicts(t *testing.T) {
	conflicts := map[string]uint64{}
	for _, preset := range Presets(64) {
		c := count.New()
		dev, err := emu.New(ptx.SM90, emu.Options{Observer: c})
		if err != nil {
			t.Fatal(err)
		}
		in := normal(t, problem.Attention{Shape: problem.Square(1, 1, 128, 64), Format: problem.U8}, 1)
		newBench(t, dev, in).run(preset.Config, ptx.SM89)
		conflicts[preset.Name] = c.Launches()[0].Shared.Conflicts
		if preset.Config.VectorDequant && conflicts[preset.Name] > 0 {
			t.Errorf("%s has %d conflicts", preset.Name, conflicts[preset.Name])
		}
	}
	if !(conflicts["stage3a"] > conflicts["stage2"]) {
		t.Errorf("stage3a has %d conflicts, stage2 %d", conflicts["stage3a"], conflicts["stage2"])
	}
}
