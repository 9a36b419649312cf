package tensor

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSurveyIsPlain compares the assembly with the Go code. It ignores the exponents next to
// infinities and NaNs, which are not used.
func TestSurveyIsPlain(t *testing.T) {
	if !vector {
		t.Skip("this processor lacks the instructions that package simd needs")
	}
	const m, n = 5, 19
	for _, s := range specs() {
		f := mustFloat(t, s.arch, s.inst, s.a, s.b, s.d)
		rng := rand.New(rand.NewPCG(5, uint64(s.k)))
		for i, g := range generators {
			var rows, plainRows Rows
			var cols, plainCols Cols
			a, b := pack(s.a, g(rng, s.a, m*s.k)), pack(s.b, g(rng, s.b, n*s.k))
			f.LoadA(&rows, m, s.k, a)
			f.LoadB(&cols, n, s.k, b)
			vector = false
			f.LoadA(&plainRows, m, s.k, a)
			f.LoadB(&plainCols, n, s.k, b)
			vector = true
			if !equalSurvey(&rows.factor, &plainRows.factor) {
				t.Errorf("%v, generator %d: rows differ", s, i)
			}
			if !equalSurvey(&cols.factor, &plainCols.factor) {
				t.Errorf("%v, generator %d: columns differ", s, i)
			}
			for e, v := range rows.large {
				if want := plainRows.large[e]; v != want && want == want {
					t.Errorf("%v, generator %d: a larger element is %v, want %v", s, i, v, want)
				}
			}
		}
	}
}

func equalSurvey(x, y *factor) bool {
	return slices.Equal(x.signs, y.signs) && slices.Equal(x.low, y.low) &&
		(slices.Contains(x.low, noFast) || slices.Equal(x.exps, y.exps))
}
