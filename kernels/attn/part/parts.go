package part

import "github.com/GOATnote-Inc/attest/build"

// Partial is the attention of four columns of a row over some of its keys: the reference of
// its weights as [Softmax] has it, their sum, and O before normalisation. O = o/l with a
// log-sum-exp is such a result too: its reference is -log₂e·lse and its sum is 1.
type Partial struct {
	Reference, L build.F32
	O            [4]build.F32
}

// partsAtOnce is the number of partial results that a thread loads before it uses the first, so
// that their latencies overlap.
const partsAtOnce = 16

// SumParts returns the sums of parts partial results, at least one, which load loads by their
// numbers. Part i has the weight 2^(r - r_i), where r is the smallest reference, which
// SumParts returns. Sums run over the parts in their order, so equal parts give equal bits. It
// takes some parts at a time and makes the sums so far relative to the new reference.
func SumParts(k *build.Kernel, parts build.U32, load func(i build.U32) Partial) (reference, l build.F32, o [4]build.F32) {
	last := parts.Sub(1)
	least, sum, sums := build.NewVar(k.F32(Unseen)), build.NewVar(k.F32(0)), build.Vars(k.F32(0), len(o))
	k.Loop(0, parts, partsAtOnce, func(n build.U32) {
		var list [partsAtOnce]Partial
		exists := func(i int) build.Pred { return n.Add(i).SetpLe(last) }
		r := least.Get()
		for i := range list { // a part beyond the last one counts as a row without keys
			list[i] = load(n.Add(i).Min(last))
			list[i].Reference = list[i].Reference.Selp(Unseen, exists(i))
			r = r.Min(list[i].Reference, build.NaN)
		}
		w := r.Sub(least.Get(), build.Rn).Ex2Approx(build.Ftz)
		least.Set(r)
		l, o := sum.Get().Mul(w, build.Rn), o
		for e := range o {
			o[e] = sums[e].Get().Mul(w, build.Rn)
		}
		for i, p := range list {
			w, exists := r.Sub(p.Reference, build.Rn).Ex2Approx(build.Ftz), exists(i)
			l = p.L.FmaRn(w, l).Selp(l, exists)
			for e, x := range p.O {
				o[e] = x.FmaRn(w, o[e]).Selp(o[e], exists)
			}
		}
		sum.Set(l)
		for e := range o {
			sums[e].Set(o[e])
		}
	})
	for e := range o {
		o[e] = sums[e].Get()
	}
	return least.Get(), sum.Get(), o
}
