package lab

import (
	"context"
	"math"
	"runtime"
	"sync"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// plain is a direct computation of attention with the roundings that a kernel of the same
// precision cannot avoid: logits are float32, the weights are rounded before they are
// multiplied with V, and O is rounded. Sums are exact, or rounded after each addition if the
// kernel claims accumulators in f16. The errors of kernels are compared with
// its error.
type plain struct {
	*rowsTensor
	// spread is the error that these roundings cause in each element, root mean square. With
	// many keys the actual error is about as large. With few keys it may happen to be zero,
	// although a kernel that rounds in another order has an error.
	spread *rowsTensor
	// logits is the largest error of a logit that tensor cores cause by truncating products of
	// one-byte numbers, if all are truncated in the same direction.
	logits  float64
	oneByte bool // whether both products are of one-byte numbers, whose sums tensor cores truncate
}

// plainRow holds what the rows of a head share.
type plainRow struct {
	k, v     [][]float64
	bias     []float64 // by key; nil if there is none
	scale    float64
	softcap  float64
	sink     float64 // -∞ if there is none
	toP, toO func(float64) float64
	toSum    func(float64) float64 // nil if sums are exact
	scaleP   float64
	weight   float64 // the relative error of a rounded weight, root mean square
	last     float64 // the last bit that sums of products keep, relative to the largest term
}

func newPlain(ctx context.Context, a *Subject, in *inputs, rows []ref.Row) (*plain, error) {
	out := &plain{rowsTensor: newRows(in.shape.O(), rows), spread: newRows(in.shape.O(), rows)}
	logits := make([]float64, len(rows))
	p := a.varied(in.vary).At(in.shape)
	one := plainRow{scale: p.LogitScale(), softcap: p.Softcap, sink: math.Inf(-1), weight: spreadOf(a.P())}
	one.toP, one.scaleP = rounder(a.P())
	one.toO, _ = rounder(a.Problem.Output)
	if a.Accumulator() != problem.F32 {
		one.toSum, _ = rounder(a.Accumulator())
	}
	if _, ok := a.P().FP8(); ok { // both products are of one-byte numbers
		one.last, out.oneByte = 1.0/(1<<13), true
	}
	heads := rowsByHead(in.shape, rows)
	parallelIn(len(heads), mostMatrices/(8*in.shape.Skv*(in.shape.D+in.shape.DimV())), func(n int) {
		list := heads[n]
		if ctx.Err() != nil {
			return
		}
		head := one
		b, h := rows[list[0]].B, in.shape.HeadKV(rows[list[0]].H)
		head.k, head.v = matrix(in.k, b, h), matrix(in.v, b, h)
		parallel(len(list), func(n int) {
			i := list[n]
			at := rows[i]
			q := make([]float64, in.shape.D)
			in.q.Row(at.B, at.H, at.S, q)
			row := head // each row sees different keys
			first, last := p.Sees(at.B, at.S)
			row.k, row.v = head.k[first:max(first, last)], head.v[first:max(first, last)]
			if in.bias != nil {
				row.bias = in.bias.Of(at)[first:max(first, last)]
			}
			if in.mask != nil {
				row.k, row.v, row.bias = visible(in, at, first, row.k), visible(in, at, first, row.v), visible(in, at, first, row.bias)
			}
			if in.sinks != nil {
				row.sink = in.sinks[at.H]
			}
			logits[i] = row.compute(q, out.row(i), out.spread.row(i))
		})
	})
	for _, x := range logits {
		out.logits = max(out.logits, x)
	}
	return out, ctx.Err()
}

// mostMatrices is the number of bytes that heads of K and V may take together while the plain
// computation uses them.
const mostMatrices = 1 << 30

// rowsByHead returns the indices of rows, grouped by the head of K and V that they need.
func rowsByHead(s problem.Shape, rows []ref.Row) (heads [][]int) {
	place := map[[2]int]int{}
	for i, r := range rows {
		head := [2]int{r.B, s.HeadKV(r.H)}
		at, ok := place[head]
		if !ok {
			at = len(heads)
			place[head], heads = at, append(heads, nil)
		}
		heads[at] = append(heads[at], i)
	}
	return heads
}

// visible returns the rows of K or V, or the biases, from key first on, that the mask does not hide.
func visible[T any](in *inputs, at ref.Row, first int, rows []T) (list []T) {
	m := in.mask
	for j, row := range rows {
		if m.Visible[(at.B*m.Sq+at.S)*m.Skv+first+j] {
			list = append(list, row)
		}
	}
	return list
}

// compute writes a row of O and the spread of each element. It returns the largest error of a
// logit.
func (p *plainRow) compute(q []float64, to, spread []float64) (worst float64) {
	logits, moved := make([]float64, len(p.k)), make([]float64, len(p.k))
	most := p.sink
	for j := range logits {
		dot, cut, cutAll := p.dot(q, p.k[j])
		logits[j], moved[j] = p.cap(float64(float32(dot*p.scale))), cut*p.scale
		if p.bias != nil {
			logits[j] += p.bias[j]
		}
		most, worst = max(most, logits[j]), max(worst, cutAll*p.scale)
	}
	if math.IsInf(most, -1) {
		return 0 // the row sees no key
	}
	sum := math.Exp(p.sink - most)
	for j, x := range logits {
		w := math.Exp(x - most)
		sum += w
		rounded := p.toP(w*p.scaleP) / p.scaleP
		for i, x := range p.v[j] {
			to[i] += rounded * x
			if p.toSum != nil {
				to[i] = p.toSum(to[i])
			}
		}
		logits[j] = w
	}
	for i := range to {
		to[i] = p.toO(to[i] / sum)
	}
	// A kernel that divides by the sum of the rounded weights has no error where all rows of V
	// are equal. The spread is the larger one of both kinds of kernels.
	other := make([]float64, len(spread))
	for j, w := range logits {
		off := moved[j]
		if w < 1 { // the largest is exact
			off = math.Hypot(off, p.weight)
		}
		share := w / sum * off
		for i, x := range p.v[j] {
			spread[i] += share * share * x * x
			other[i] += share * share * (x - to[i]) * (x - to[i])
		}
	}
	for i := range spread {
		spread[i] = math.Sqrt(max(spread[i], other[i]))
	}
	return worst
}

// truncated is the share of O that tensor cores lose when they truncate the sums of a tile of keys in one
// direction, and the sums of tiles are added in f32. The kernels of attest with tiles of up to 192 keys lose up
// to 1.3 of 1024. A kernel that adds up all keys in the tensor cores loses 7 % of 4096 keys.
const truncated = 1.0 / 1024

// truncate adds to the spread what the tensor cores lose of a V whose mean is not zero. Other inputs do not
// show it.
func (p *plain) truncate() {
	if !p.oneByte {
		return
	}
	for i, x := range p.o {
		p.spread.o[i] = math.Hypot(p.spread.o[i], truncated*x)
	}
}

// cap bounds a logit.
func (p *plainRow) cap(x float64) float64 {
	if p.softcap == 0 {
		return x
	}
	return float64(float32(p.softcap * math.Tanh(x/p.softcap)))
}

// dot returns the product of two rows and the error that truncation in tensor cores causes:
// root mean square, and if all terms are truncated in the same direction. Tensor cores add 32
// terms to the sum so far and align all of them to the largest.
func (p *plainRow) dot(q, k []float64) (dot, cut, cutAll float64) {
	const terms = 32
	for i := 0; i < len(q); i += terms {
		part, largest := 0.0, math.Abs(dot)
		for j := i; j < min(i+terms, len(q)); j++ {
			t := q[j] * k[j]
			part, largest = part+t, max(largest, math.Abs(t))
			if p.toSum != nil {
				part = p.toSum(dot+part) - dot
			}
		}
		dot += part
		cut, cutAll = cut+largest*largest, cutAll+largest
	}
	// The truncated part is uniform between 0 and the last bit. The last bit is on average 0.72
	// of its upper bound, which assumes that the largest term is a power of 2.
	return dot, p.last * 0.72 * math.Sqrt(terms/3.0*cut), p.last * terms / 2 * cutAll
}

// spreadOf returns the relative error of rounding to a format, root mean square. A step is the
// power of 2 below the number, divided by 2 to the number of bits of the fraction.
func spreadOf(f problem.Format) float64 {
	return math.Ldexp(gate.Spread, -f.FractionBits())
}

// rounder returns a function that rounds to a format, and the factor that weights are
// multiplied by before. Weights are at most 1, so the factor uses the range of one-byte
// formats.
func rounder(f problem.Format) (round func(float64) float64, scale float64) {
	switch f {
	case problem.F16:
		return func(x float64) float64 { return float64(fp8.FromF16(fp8.F16(float32(x)))) }, 1
	case problem.BF16:
		return func(x float64) float64 { return float64(fp8.FromBF16(fp8.BF16(float32(x)))) }, 1
	case problem.F32:
		return func(x float64) float64 { return float64(float32(x)) }, 1
	}
	format, _ := f.FP8()
	return func(x float64) float64 { return format.Decode(format.EncodeSatfinite(x)) }, 256
}

// matrix returns the rows of a head.
func matrix(t ref.Tensor, b, h int) [][]float64 {
	d := t.Dims()
	m, all := make([][]float64, d.S), make([]float64, d.S*d.D)
	const piece = 1024
	parallel((d.S+piece-1)/piece, func(n int) {
		for s := n * piece; s < min((n+1)*piece, d.S); s++ {
			m[s] = all[s*d.D : (s+1)*d.D : (s+1)*d.D]
			t.Row(b, h, s, m[s])
		}
	})
	return m
}

// parallel calls do for 0 to n-1 on all cores.
func parallel(n int, do func(i int)) { parallelIn(n, n, do) }

// parallelIn is parallel with at most some calls at a time, but at least one.
func parallelIn(n, most int, do func(i int)) {
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), n, max(most, 1))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wg.Wait()
}

// rowsTensor holds some rows of a tensor. The others are NaN.
type rowsTensor struct {
	dims  fp8.Dims
	rows  []ref.Row
	index map[ref.Row]int
	o     []float64
}

func newRows(d fp8.Dims, rows []ref.Row) *rowsTensor {
	t := &rowsTensor{d, rows, make(map[ref.Row]int, len(rows)), make([]float64, len(rows)*d.D)}
	for i, r := range rows {
		t.index[r] = i
	}
	return t
}

func (t *rowsTensor) Dims() fp8.Dims { return t.dims }

func (t *rowsTensor) row(i int) []float64 { return t.o[i*t.dims.D : (i+1)*t.dims.D] }

func (t *rowsTensor) Row(b, h, s int, to []float64) {
	if i, ok := t.index[ref.Row{B: b, H: h, S: s}]; ok {
		copy(to, t.row(i))
		return
	}
	for i := range to {
		to[i] = math.NaN()
	}
}
