package gate

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestHeldByArithmetic derives the error of rounding Q, K and V from the steps of the formats,
// without rounding anything, and compares Held with it.
//
// A number that is rounded to a step h is off by h/√12, root mean square. To the first
// order in these errors, with weights p, logits z = Σ q·k/√D and O = Σ p·v,
//
//	δz_j = Σ (δq·k_j + q·δk_j)/√D
//	δO   = Σ p_j·(δv_j + (v_j - O)·δz_j)
//
// so the inputs determine the variance of every element of O. Held must be above the mean error
// that follows, with room for rounded weights, which make it 2/√3 as large, and not far above.
func TestHeldByArithmetic(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	for _, c := range []struct {
		format string
		shape  problem.Shape
	}{
		{"e4m3", problem.Square(1, 1, 512, 64)}, {"e5m2", problem.Square(1, 1, 512, 64)}, {"u8", problem.Square(1, 1, 512, 64)},
		{"e4m3", problem.Square(2, 3, 100, 64)}, {"u8", problem.Square(2, 3, 33, 64)}, {"u8", problem.Square(1, 2, 200, 128)},
	} {
		held, ok := Held(problem.Attention{Shape: c.shape, Format: problem.Format(c.format)}, "normal", all(c.shape))
		if !ok {
			t.Fatalf("nothing is held of %s", c.format)
		}
		in, err := ref.Generate("normal", 7, c.shape)
		if err != nil {
			t.Fatal(err)
		}
		sigma := deviations(in, c.shape, c.format)
		mean := 0.0
		for _, s := range sigma {
			mean += s * math.Sqrt(2/math.Pi) / float64(len(sigma))
		}
		t.Logf("%s on %v: mean %.3g, %.3g is held, %.2f times as much", c.format, c.shape, mean, held, held/mean)
		if held < 1.2*mean || held > 1.8*mean {
			t.Errorf("%s on %v: mean %.3g, and %.3g is held", c.format, c.shape, mean, held)
		}
	}
}

// TestHeldCausal wants a larger bound for causal rows, since some see few keys.
func TestHeldCausal(t *testing.T) {
	s := problem.Square(1, 1, 512, 64)
	full, _ := Held(problem.Attention{Shape: s, Format: problem.E4M3}, "normal", all(s))
	causal, ok := Held(problem.Attention{Shape: s, Format: problem.E4M3, Causal: true}, "normal", all(s))
	if !ok || causal < 1.8*full || causal > 2.2*full {
		t.Errorf("%g, causal %g", full, causal)
	}
	if _, ok := Held(problem.Attention{Shape: s, Format: problem.E4M3}, "outliers", all(s)); ok {
		t.Error("outliers are not from N(0,1)")
	}
}

// TestHeldFewRows compares 512 rows of a long causal output, including the first ones, which see few
// keys. A right kernel (192x128) had a mean error of 0.00128 there on an H200.
func TestHeldFewRows(t *testing.T) {
	s := problem.Square(2, 16, 16384, 128)
	few := &record.Case{Shape: s, Errors: &ref.Errors{Elements: 512 * s.D}}
	held, ok := Held(problem.Attention{Shape: s, Format: problem.E4M3, Causal: true}, "normal", rowsOf(few.Of(problem.Attention{}), few))
	if !ok || held < 1.2*0.00128 || held > 1.8*0.00128 {
		t.Errorf("%.3g is held", held)
	}
	if n := len(rowsOf(few.Of(problem.Attention{}), few)); n != 512 {
		t.Errorf("%d rows", n)
	}
}

func all(s problem.Shape) []ref.Row { return ref.Rows(problem.Attention{Shape: s}, s.Q().Rows(), 0) }

// steps returns the distance between neighbouring values of a format for each number of a head.
func steps(x []float32, format string) []float64 {
	var most float64
	for _, v := range x {
		most = max(most, math.Abs(float64(v)))
	}
	out := make([]float64, len(x))
	for i, v := range x {
		if format == "u8" {
			out[i] = most / 127
			continue
		}
		largest, least, bits := 448.0, 0x1p-6, 3
		if format == "e5m2" {
			largest, least, bits = 57344, 0x1p-14, 2
		}
		_, exp := math.Frexp(max(math.Abs(float64(v))*largest/most, least)) // in [1/2, 1) · 2^exp
		out[i] = math.Ldexp(most/largest, exp-1-bits)
	}
	return out
}

// deviations returns the standard deviations of the elements of O.
func deviations(in *ref.Inputs, s problem.Shape, format string) (sigma []float64) {
	n, d := s.Skv, s.D
	for head := range s.B * s.Hq {
		part := func(x *ref.Floats) []float32 { return x.Data[head*n*d : (head+1)*n*d] }
		q, k, v := part(in.Q), part(in.K), part(in.V)
		hq, hk, hv := steps(q, format), steps(k, format), steps(v, format)
		p, g := make([]float64, n), make([]float64, n)
		for r := range n {
			sum := 0.0
			for j := range n {
				var z, vz float64
				for c := range d {
					a, b := float64(q[r*d+c]), float64(k[j*d+c])
					z += a * b
					da, db := hq[r*d+c]*b, a*hk[j*d+c]
					vz += da*da + db*db
				}
				p[j], g[j] = math.Exp(z/math.Sqrt(float64(d))), vz/12/float64(d)
				sum += p[j]
			}
			o, own := make([]float64, d), make([]float64, d)
			for j := range n {
				p[j] /= sum
				for c := range d {
					o[c] += p[j] * float64(v[j*d+c])
				}
			}
			for j := range n {
				for c := range d {
					h, away := hv[j*d+c], float64(v[j*d+c])-o[c]
					own[c] += p[j] * p[j] * (h*h/12 + away*away*g[j])
				}
			}
			for _, x := range own {
				sigma = append(sigma, math.Sqrt(x))
			}
		}
	}
	return sigma
}

// TestOneRow wants a single wrong row to be red, except with outliers.
func TestOneRow(t *testing.T) {
	e := func(mean float64) *ref.Errors {
		return &ref.Errors{Max: 4 * mean, Mean: mean, RMSE: mean, Elements: 6400}
	}
	for _, x := range []struct {
		distribution string
		causal       bool
		mean         float64
		red          bool
	}{
		{"normal", true, 0.03, true}, {"uniform", true, 0.03, true}, {"normal", true, 0.01, false},
		{"normal", false, 0.03, true}, {"large-logits", true, 0.03, true}, {"outliers", true, 0.03, false},
	} {
		c := &record.Case{
			Shape: problem.Square(1, 1, 100, 64), Distribution: x.distribution, Errors: e(0.001), Plain: e(0.001), Dequantised: e(0.001), PlainDequantised: e(0.001),
			WorstRow: &record.RowError{Row: ref.Row{S: 99}, Mean: ref.Float(x.mean), Plain: 0.002},
		}
		if why := Within(Tolerance, problem.Attention{Format: problem.E4M3, Causal: x.causal}, c); (len(why) > 0) != x.red {
			t.Errorf("%+v: %q", x, why)
		}
	}
}

// TestNearTheTolerance wants a kernel to pass slightly above a tolerance if rounding alone comes
// near it, and to fail otherwise.
func TestNearTheTolerance(t *testing.T) {
	for _, x := range []struct {
		max, mean   float64
		bad         int
		plainMax    float64
		plainMean   float64
		plainBad    int
		red         bool
		description string
	}{
		{0.064, 0.01, 0, 0.059, 0.01, 0, false, "max, beside rounding's"},
		{0.064, 0.01, 0, 0.03, 0.01, 0, true, "max"},
		{0.05, 0.0205, 0, 0.05, 0.0199, 0, false, "mean, beside rounding's"},
		{0.05, 0.0205, 0, 0.05, 0.015, 0, true, "mean"},
		{0.07, 0.01, 2, 0.065, 0.01, 1, false, "two of 128"},
		{0.07, 0.01, 6, 0.065, 0.01, 0, true, "six of 128"},
	} {
		e := func(most, mean float64, bad int) *ref.Errors {
			return &ref.Errors{Max: most, Mean: mean, RMSE: mean, Elements: 128, Bad: bad, BadShare: float64(bad) / 128}
		}
		c := &record.Case{
			Shape: problem.Square(1, 1, 2, 64), Distribution: "uniform", Errors: e(x.max, x.mean, x.bad), Plain: e(x.plainMax, x.plainMean, x.plainBad),
			Dequantised: e(0.001, 0.001, 0), PlainDequantised: e(0.001, 0.001, 0),
		}
		if why := Within(Tolerance, problem.Attention{Format: problem.E4M3}, c); (len(why) > 0) != x.red {
			t.Errorf("%s: %q", x.description, why)
		}
	}
}
