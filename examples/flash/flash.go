package flash

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

const (
	headDim = 64
	threads = 64
)

// Kernel computes attention with e4m3 inputs. Each thread computes one query row: it reads the keys
// one after the other, and corrects its sums whenever it meets a larger score.
func Kernel() (*kernel.Kernel, error) {
	k := build.New("flash", ptx.SM89)
	k.Version(8, 1) // the first with conversions of e4m3 on sm_89
	q, keys, v := pairs(k, "q"), pairs(k, "k"), pairs(k, "v")
	qs, ks, vs := build.ParamGlobal[build.F32](k, "qs"), build.ParamGlobal[build.F32](k, "ks"), build.ParamGlobal[build.F32](k, "vs")
	o := build.ParamGlobal[build.F16](k, "o")
	h, hkv, sq, skv, scale := k.ParamU32("H"), k.ParamU32("Hkv"), k.ParamU32("Sq"), k.ParamU32("Skv"), k.ParamF32("scale")

	row, head, batch := k.CtaidX().MadLo(threads, k.TidX()), k.CtaidY(), k.CtaidZ()
	headKV := head.Div(h.Div(hkv)) // heads of a group share keys
	k.If(row.SetpLt(sq), func() {
		at := batch.MadLo(h, head).MadLo(sq, row)
		first := batch.MadLo(hkv, headKV).MulLo(skv)

		// Scores are powers of two, so that one ex2 gives a weight.
		factor := scale.Mul(qs.At(head).Ld()).Mul(ks.At(headKV).Ld()).Mul(k.F32(math.Log2E))
		query := load(q, at)
		largest, sum := build.NewVar(k.F32(float32(math.Inf(-1)))), build.NewVar(k.F32(0))
		out := make([]*build.Var[build.F32], headDim)
		for i := range out {
			out[i] = build.NewVar(k.F32(0))
		}
		k.Loop(k.U32(0), skv, k.U32(1), func(j build.U32) {
			score := k.F32(0)
			for i, x := range load(keys, first.Add(j)) {
				score = query[i].FmaRn(x, score)
			}
			score = score.Mul(factor)
			larger := largest.Get().Max(score)
			shrink := largest.Get().Sub(larger).Ex2Approx()
			weight := score.Sub(larger).Ex2Approx()
			largest.Set(larger)
			sum.Set(sum.Get().FmaRn(shrink, weight))
			for i, x := range load(v, first.Add(j)) {
				out[i].Set(out[i].Get().Mul(shrink).Add(weight.Mul(x)))
			}
		})
		factor = vs.At(headKV).Ld().DivRn(sum.Get())
		for i := range out {
			o.At(at.MulLo(headDim)).Plus(i).St(out[i].Get().Mul(factor).CvtRnF16())
		}
	})
	return abi.Attention{
		Problem: problem.Attention{Shape: problem.Shape{D: headDim}, Format: problem.E4M3, Output: problem.F16},
		P:       problem.F32,
		Grid:    []string{"cdiv(Sq, 64)", "H", "B"}, Block: []string{"64"},
	}.Kernel(k)
}

// pairs declares a pointer to an operand of FP8, read as pairs of elements.
func pairs(k *build.Kernel, name string) build.Global[build.U16] {
	return build.ParamGlobal[build.U16](k, name)
}

// load returns a row as floats.
func load(p build.Global[build.U16], row build.U32) (x []build.F32) {
	p = p.At(row.MulLo(headDim / 2))
	for i := range headDim / 2 {
		lo, hi := build.Unpack2[build.F16](build.Mov[build.E4M3x2](p.Plus(i).Ld()).CvtRnF16x2())
		x = append(x, lo.CvtF32(), hi.CvtF32())
	}
	return x
}
