package stages

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// rows is the online softmax of a lane's rows, one of each a row slot:
//
//	m  the largest score so far
//	l  the sum of 2^(c·S-c·m) over the lane's own columns
//
// All lanes of a row have the same m. Their l are added up once, at the end.
type rows struct {
	g    *gen
	m, l []*build.Var[build.F32]
}

func (g *gen) newRows(slots int) rows {
	return rows{g, build.Vars(tile.NegInf(g.k), slots), build.Vars(g.k.F32(0), slots)}
}

// Every operation names its rounding, so that no compiler fuses a product with a sum
// and all stages, on all devices, give the same bits.

// step takes the next tile of scores, of which the first n columns count, and turns
// it into P. It returns α, by which sums of earlier tiles shrink:
//
//	m' = max(m, rowmax S)    S is -∞ from column n on
//	α = 2^(c·m-c·m')
//	P = 2^(c·S-c·m')         one fma and one exponential a score
//	l = α·l + ΣP
func (r rows) step(S *tile.Frag, c build.F32, n build.U32) (alpha []build.F32) {
	g := r.g
	k := g.k
	k.If(n.SetpLt(k.U32(uint32(g.c.TileN))), func() { // the last tile of most lengths
		S.KeepCols(g.w.Lane, n, tile.NegInf(k))
	})
	k.Comment("m' = max(m, rowmax S), α = 2^(c·m-c·m'), P = 2^(c·S-c·m'), l = α·l + ΣP")
	var shift []build.F32 // -c·m'
	for s, most := range S.RowMax() {
		m := r.m[s].Get()
		most = m.Max(most)
		shift = append(shift, most.Mul(c, build.Rn).Neg())
		alpha = append(alpha, g.exp2(m.Mul(c, build.Rn).Add(shift[s], build.Rn)))
		r.m[s].Set(most)
	}
	S.Map(func(s build.F32, slot int, _ tile.Pos) build.F32 { return g.exp2(s.FmaRn(c, shift[slot])) })
	for s, sum := range S.LaneSum() {
		r.l[s].Set(r.l[s].Get().FmaRn(alpha[s], sum))
	}
	return alpha
}

// end adds the lanes' sums up: what each row's output is multiplied by, and its
// logarithm of the sum of exponentials.
func (r rows) end(S *tile.Frag, c, vScale build.F32) (norm, lse []build.F32) {
	g := r.g
	var ls []build.F32
	for _, l := range r.l {
		ls = append(ls, l.Get())
	}
	for s, l := range S.AcrossLanes(ls, tile.Add) {
		norm = append(norm, vScale.DivRn(l))
		if g.p.LSE { // ln Σ e^x = (c·m + log₂ l)·ln 2
			const ln2 = 0.69314718
			logit := r.m[s].Get().FmaRn(c, l.Lg2Approx())
			lse = append(lse, logit.Mul(g.k.F32(ln2), build.Rn))
		}
	}
	return norm, lse
}

// exp2 is 2^x for x not much above 0.
func (g *gen) exp2(x build.F32) build.F32 {
	if g.c.FastExp {
		return g.polynomialExp2(x)
	}
	return x.Ex2Approx(build.Ftz)
}

// exp2Poly approximates 2^f on [-½, ½] to 3e-6 of its value, less than a hundredth of
// what rounding P to f16 costs. Its constant is 1, so that 2^0 is exact.
var exp2Poly = [5]float32{1, 0.69312419, 0.24024099, 0.05590642, 0.00958286}

// polynomialExp2 is 2^x on the FMA units, for x from -∞ to not much above 0: with i the whole number
// nearest x and f = x-i in [-½, ½], 2^f by a polynomial times 2^i by its exponent.
//
// Adding 1.5·2^23+127 rounds x to a whole number and leaves i+127, the exponent's
// code, in the low bits. From -127 down 2^i becomes the float with code 0, which is
// zero. A NaN stays one: max.NaN keeps it, and it is in f.
func (g *gen) polynomialExp2(x build.F32) build.F32 {
	k := g.k
	const magic = 1.5*(1<<23) + 127
	x = x.Max(k.F32(-127), build.NaN)
	code := x.Add(k.F32(magic), build.Rn)
	f := x.Sub(code.Sub(k.F32(magic), build.Rn), build.Rn)
	p := k.F32(exp2Poly[4]).FmaRn(f, k.F32(exp2Poly[3]))
	for i := 2; i >= 0; i-- {
		p = p.FmaRn(f, k.F32(exp2Poly[i]))
	}
	return p.Mul(build.Cast[build.F32](build.Cast[build.U32](code).Shl(k.U32(23))), build.Rn)
}
