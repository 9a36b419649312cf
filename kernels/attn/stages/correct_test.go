package stages

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// bounds are the largest errors that a kernel may have.
type bounds struct{ max, mean float64 }

// exact returns the bounds against float64 over the same quantised inputs, N(0,1): the errors
// of rounding P and O. They do not depend on the format of the inputs. bf16 has three bits
// less than f16, and O is larger if there are fewer keys.
func exact(p problem.Attention) bounds {
	b := bounds{8e-4, 6e-5}
	if p.Sq < 32 {
		b = bounds{1e-3, 2e-4}
	}
	if p.Output == problem.BF16 {
		b.max, b.mean = 8*b.max, 8*b.mean
	}
	return b
}

// judge compares a result with float64.
func judge(t testing.TB, r result, q, k, v ref.Tensor, b bounds) *ref.Errors {
	t.Helper()
	want, err := ref.Attention(t.Context(), q, k, v, ref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := want.Compare(r.Tensor(t), ref.CompareOptions{Tol: b.max})
	if err != nil {
		t.Fatal(err)
	}
	if e.Max > b.max || e.Mean > b.mean {
		t.Errorf("max %g and mean %g, at most %g and %g are right: %v", e.Max, e.Mean, b.max, b.mean, e)
	}
	if r.LSE != nil {
		e, err := want.CompareLSE(r.LSE, ref.CompareOptions{Tol: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		if e.Max > 1e-5 {
			t.Errorf("lse: %v", e)
		}
	}
	return e
}

// variant returns the problem with one of the formats and outputs, by its number.
func variant(p problem.Attention, i int) problem.Attention {
	p.Format = []problem.Format{problem.U8, problem.E4M3, problem.E5M2}[i%3]
	p.Output = []problem.Format{problem.F16, problem.BF16}[i/3%2]
	p.LSE = i%2 == 0
	return p
}

// TestLengths runs every preset on lengths around the tile sizes and on several heads, with a
// mix of formats and outputs.
func TestLengths(t *testing.T) {
	lengths := []int{1, 17, 31, 33, 63, 65, 100, 127, 129}
	if *full {
		lengths = append(lengths, 1000)
	}
	turn := 0
	for _, d := range []int{64, 128} {
		for _, preset := range Presets(d) {
			for i, s := range lengths {
				if d == 128 && i%2 == 1 && !*full {
					continue
				}
				turn++
				p := variant(problem.Attention{Shape: problem.Square(1+turn%2, 2, s, d)}, turn)
				t.Run(fmt.Sprintf("%s/d%d/s%d/%s/%s", preset.Name, d, s, p.Format, p.Output), func(t *testing.T) {
					in := normal(t, p, uint64(turn))
					r := newBench(t, emulator(t, ptx.SM90, 0), in).run(preset.Config, ptx.SM89)
					judge(t, r, in.Q, in.K, in.V, exact(p))
				})
			}
		}
	}
}

// TestFormats runs every preset on the smallest shape in every format and output.
func TestFormats(t *testing.T) {
	for _, preset := range Presets(64) {
		for i := range 6 {
			p := variant(problem.Attention{Shape: problem.Square(1, 1, 32, 64)}, i)
			t.Run(fmt.Sprintf("%s/%s/%s", preset.Name, p.Format, p.Output), func(t *testing.T) {
				in := normal(t, p, 0)
				r := newBench(t, emulator(t, ptx.SM89, 0), in).run(preset.Config, ptx.SM89)
				judge(t, r, in.Q, in.K, in.V, exact(p))
			})
		}
	}
}

// original holds the bounds of u8 with its consistent quantiser, N(0,1), against float64
// over the inputs before quantisation. The errors come from V and average out over the keys.
var original = map[string]bounds{
	"small": {0.03, 0.004}, "mission256": {0.018, 0.0016}, "mission": {0.012, 0.001}, "long": {0.007, 0.0006},
}

// TestOriginalInputs: on the named shapes, the errors against float64 over the inputs before
// quantisation are as small as u8 allows.
func TestOriginalInputs(t *testing.T) {
	shapes, seeds := []string{"small", "mission"}, 1
	presets := []string{"stage3b"}
	if *full {
		shapes, seeds = append(shapes, "mission256", "long"), 3
		presets = nil
		for _, p := range Presets(64) {
			presets = append(presets, p.Name)
		}
	}
	for _, name := range shapes {
		shape, err := problem.ParseShape(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, preset := range presets {
			for seed := range seeds {
				t.Run(fmt.Sprintf("%s/%s/seed%d", name, preset, seed), func(t *testing.T) {
					c, err := FindPreset(preset, shape.D)
					if err != nil {
						t.Fatal(err)
					}
					in := normal(t, problem.Attention{Shape: problem.Square(shape.B, shape.Hq, shape.Sq, shape.D), Format: problem.U8}, uint64(seed))
					r := newBench(t, emulator(t, ptx.SM90, 0), in).run(c.Config, ptx.SM89)
					o := in.Original
					e := judge(t, r, o.Q, o.K, o.V, original[name])
					t.Logf("max %.5f, mean %.6f", e.Max, e.Mean)
				})
			}
		}
	}
}

// TestDistributions runs difficult inputs on a kernel of each kind. If a few keys have all the
// weight of a row, O is as large as V, and so is the error of rounding P.
func TestDistributions(t *testing.T) {
	for _, dist := range ref.Distributions() {
		for _, name := range []string{"stage0", "stage2", "stage5-persistent"} {
			t.Run(dist.Name+"/"+name, func(t *testing.T) {
				c, err := FindPreset(name, 64)
				if err != nil {
					t.Fatal(err)
				}
				in := generate(t, dist.Name, problem.Attention{Shape: problem.Square(1, 2, 150, 64), Format: problem.E4M3}, 3)
				r := newBench(t, emulator(t, ptx.SM90, 0), in).run(c.Config, ptx.SM89)
				most := bounds{1e-2, 1e-3}
				if dist.Name == "large-v" { // O is as much larger as V
					most = bounds{ref.Large * 1e-2, ref.Large * 1e-3}
				}
				judge(t, r, in.Q, in.K, in.V, most)
			})
		}
	}
}
