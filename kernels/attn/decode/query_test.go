package decode

import (
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestQueryFormats measures what the format of Q does to the error, with K and V in e4m3. The
// reference has the same K and V, but Q before rounding. Q in 16 bits, whose products with K are
// exact, must have at most a quarter of the error of Q in e4m3 with any scale.
func TestQueryFormats(t *testing.T) {
	for _, distribution := range []string{"normal", "outliers"} {
		p := attends(1, 8, 2, 2, 600, 128)
		errorOf := func(format problem.Format, s problem.Scaling) float64 {
			p := p
			p.FormatQ, p.Scaling = format, s
			in := generate(t, distribution, p.Filled(), 3)
			b := newBench(t, emulator(t, ptx.SM90, 0, nil), in)
			want, err := ref.Attention(t.Context(), in.Original.Q, in.K, in.V, in.Options())
			if err != nil {
				t.Fatal(err)
			}
			e, err := want.Compare(b.run(Default(p, h200)).Tensor(t), ref.CompareOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return e.RMSE
		}
		f16, bf16 := errorOf(problem.F16, problem.PerHead), errorOf(problem.BF16, problem.PerHead)
		perHead, perTensor := errorOf("", problem.PerHead), errorOf("", problem.PerTensor)
		t.Logf("%s: root mean square error with Q in f16 %.2g, bf16 %.2g, e4m3 per head %.2g, e4m3 per tensor %.2g", distribution, f16, bf16, perHead, perTensor)
		if 4*f16 > min(perHead, perTensor) || 4*bf16 > min(perHead, perTensor) {
			t.Errorf("%s: errors %.2g and %.2g with Q in 16 bits, %.2g and %.2g in e4m3", distribution, f16, bf16, perHead, perTensor)
		}
	}
}

// TestQueriesOfAnyMagnitude has rows of Q in bf16 beyond the range of f16.
func TestQueriesOfAnyMagnitude(t *testing.T) {
	for _, by := range []float64{0x1p60, 0x1p-60, 0x1p-120} {
		p := attends(1, 4, 1, 2, 200, 64)
		p.FormatQ, p.LSE, p.Scale = problem.BF16, true, 0.125/by
		in := generate(t, "normal", p, 5)
		for i := range in.Original.Q.Data {
			in.Original.Q.Data[i] *= float32(by)
		}
		judge(t, p.String(), in, newBench(t, emulator(t, ptx.SM90, 0, nil), in).run(Default(p, h200)))
	}
}

// TestZeroScales has keys whose scale of V is 0: they count in the sum of the softmax, but not in
// the output.
func TestZeroScales(t *testing.T) {
	for _, all := range []bool{false, true} {
		p := attends(1, 4, 1, 1, 100, 64)
		p.Scaling, p.LSE = problem.PerToken, true
		in := generate(t, "normal", p.Filled(), 6)
		for i := range in.V.Scales {
			if all || i < 40 || i%3 == 0 {
				in.V.Scales[i] = 0
			}
		}
		judge(t, p.String(), in, newBench(t, emulator(t, ptx.SM90, 0, nil), in).run(Default(p, h200)))
	}
}
