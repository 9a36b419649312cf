package ref

import (
	"context"
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// Options select the kind of attention.
type Options struct {
	// Scale multiplies the logits. 0 selects 1/√D.
	Scale float64
	// Causal and Window hide keys, as in [problem.Attention].
	Causal bool
	Window problem.Window
	// Softcap, if it is not 0, turns each logit x into Softcap·tanh(x/Softcap).
	Softcap float64
	// Sinks, if not nil, holds one more logit for each head of Q. It has no value.
	Sinks []float64
	// Mask, if not nil, hides further keys.
	Mask *Mask
	// Bias, if not nil, is added to the logits.
	Bias *Bias
	// Batch holds the lengths of the sequences. Rows beyond a length are not computed.
	Batch problem.Batch
	// Hidden is the number of keys at the end that no row sees, as of a wrong kernel that
	// leaves them out.
	Hidden int
	// Rows are the rows of O to compute. Nil selects all rows.
	Rows []Row
}

// Mask says which keys each row of Q sees: [B,Sq,Skv], the same in all heads.
type Mask struct {
	Sq, Skv int
	Visible []bool
}

// Bytes returns the mask as it lies in memory: one byte per key, or one bit per key, in which case rows begin at
// whole bytes and unused bits are set.
func (m *Mask) Bytes(bits bool) []byte {
	pitch, at := m.Skv, func(key int) (int, byte) { return key, 1 }
	if bits {
		pitch, at = (m.Skv+7)/8, func(key int) (int, byte) { return key / 8, 1 << (key % 8) }
	}
	data := make([]byte, len(m.Visible)/m.Skv*pitch)
	for row := range len(m.Visible) / m.Skv {
		for key := range 8 * pitch {
			if i, bit := at(key); bits && key >= m.Skv || key < m.Skv && m.Visible[row*m.Skv+key] {
				data[row*pitch+i] |= bit
			}
		}
	}
	return data
}

// hides reports whether the mask hides a key from a row.
func (m *Mask) hides(batch, row, key int) bool {
	return m != nil && !m.Visible[(batch*m.Sq+row)*m.Skv+key]
}

// Bias is what is added to the logits: [B,Hq,Sq,Skv]. A bias of -∞ hides a key.
type Bias struct {
	Hq, Sq, Skv int
	Values      []float64
}

// Of returns the biases of all keys for a row.
func (b *Bias) Of(r Row) []float64 { return b.Values[((r.B*b.Hq+r.H)*b.Sq+r.S)*b.Skv:][:b.Skv] }

// For returns the options for a problem. The sinks, the mask and the bias are inputs and must be
// added.
func For(p problem.Attention) Options {
	return Options{Scale: p.Scale, Causal: p.Causal, Window: p.Window, Softcap: p.Softcap, Batch: p.Batch}
}

// problem returns the part of the problem that says which rows exist and which keys they see.
func (o Options) problem(s problem.Shape) problem.Attention {
	return problem.Attention{Shape: s, Causal: o.Causal, Window: o.Window, Batch: o.Batch}
}

func (o Options) scale(s problem.Shape) float64 {
	if o.Scale == 0 {
		return 1 / math.Sqrt(float64(s.D))
	}
	return o.Scale
}

// sees returns the keys that a row of Q sees: from first up to last, without last.
func (o Options) sees(s problem.Shape, row Row) (first, last int) {
	first, last = o.problem(s).Sees(row.B, row.S)
	return first, min(last, s.Skv-o.Hidden)
}

// logit returns the logit of a product of a row of Q and a row of K.
func (o Options) logit(dot float64) float64 {
	x := dot * o.Scale
	if o.Softcap != 0 {
		return o.Softcap * math.Tanh(x/o.Softcap)
	}
	return x
}

// start returns the maximum and the sum of a row before its first key.
func (o Options) start(head int) (m, l float64) {
	if o.Sinks == nil || math.IsInf(o.Sinks[head], -1) {
		return math.Inf(-1), 0
	}
	return o.Sinks[head], 1
}

// Row is the place of a row of Q and O.
type Row struct{ B, H, S int }

// Result holds rows of attention in float64.
type Result struct {
	Shape problem.Shape
	Rows  []Row
	O     []float64 // DV numbers per row
	LSE   []float64 // ln Σ exp(logit), one per row; -Inf for a row that is zero because no key has a weight

	place map[Row]int // the position of each row, unless all rows are present in order
}

// Dims returns the extents of the whole O.
func (r *Result) Dims() fp8.Dims { return r.Shape.O() }

// Row writes a row of O, so that a result can be compared with another. A row that
// was not computed is NaN.
func (r *Result) Row(b, h, s int, to []float64) {
	at, ok := r.Shape.Q().Row(b, h, s), true
	if r.place != nil {
		at, ok = r.place[Row{b, h, s}]
	}
	for i := range to {
		to[i] = math.NaN()
	}
	if ok {
		d := r.Shape.DimV()
		copy(to, r.O[at*d:][:d])
	}
}

// Attention computes softmax(Q·Kᵀ·scale)·V. A row that sees no key, or whose logits are all
// -∞, is zero and has an LSE of -∞.
//
// The error of the result is about 1e-14 of the largest magnitude of V. Its last bits may
// differ between architectures.
func Attention(ctx context.Context, q, k, v Tensor, opt Options) (*Result, error) {
	s, err := shapeOf(q, k, v)
	if err != nil {
		return nil, err
	}
	if err := opt.check(s); err != nil {
		return nil, err
	}
	opt.Scale = opt.scale(s)
	r := newResult(opt.problem(s), opt.Rows)
	heads, err := r.byHead()
	if err != nil {
		return nil, err
	}
	parallelIn(s.B*s.Hkv, mostExpanded/expandedBytes(s), func(kv int) {
		if len(heads[kv]) == 0 || ctx.Err() != nil {
			return
		}
		h := expand(s, k, v, kv/s.Hkv, kv%s.Hkv)
		groups := groupRows(heads[kv])
		parallel(len(groups), func(i int) {
			if ctx.Err() == nil {
				newSweep(h, q, opt).rows(r, groups[i])
			}
		})
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reference attention of %v: %w", s, err)
	}
	return r, nil
}

// mostExpanded is the number of bytes that expanded heads may take together. Rows are often picked from
// many heads, a few of each, so heads are computed beside each other.
const mostExpanded = 1 << 30

// expandedBytes returns the size of a head of K and V in float64.
func expandedBytes(s problem.Shape) int { return 8 * (s.Skv + tileKV) * (s.D + s.DimV()) }

func (o Options) check(s problem.Shape) error {
	if o.Sinks != nil && len(o.Sinks) != s.Hq {
		return fmt.Errorf("attention: %d sinks for %d heads of Q", len(o.Sinks), s.Hq)
	}
	if o.Mask != nil && len(o.Mask.Visible) != s.B*s.Sq*s.Skv {
		return fmt.Errorf("attention: a mask of %d elements for %v, which needs %d", len(o.Mask.Visible), s, s.B*s.Sq*s.Skv)
	}
	if o.Bias != nil && len(o.Bias.Values) != s.B*s.Hq*s.Sq*s.Skv {
		return fmt.Errorf("attention: a bias of %d elements for %v, which needs %d", len(o.Bias.Values), s, s.B*s.Hq*s.Sq*s.Skv)
	}
	for _, n := range []int{len(o.problem(s).QueryLengths()), len(o.problem(s).KeyLengths())} {
		if n != s.B {
			return fmt.Errorf("attention: %d lengths for a batch of %d", n, s.B)
		}
	}
	return nil
}

func newResult(p problem.Attention, rows []Row) *Result {
	s := p.Shape
	r := &Result{Shape: s, Rows: rows}
	if len(rows) == 0 {
		r.Rows = allRows(p)
	}
	if len(rows) > 0 || len(r.Rows) < s.Q().Rows() {
		r.place = map[Row]int{}
		for i, at := range r.Rows {
			r.place[at] = i
		}
	}
	r.O, r.LSE = make([]float64, len(r.Rows)*s.DimV()), make([]float64, len(r.Rows))
	return r
}

func shapeOf(q, k, v Tensor) (problem.Shape, error) {
	dq, dk, dv := q.Dims(), k.Dims(), v.Dims()
	switch {
	case dk.B != dv.B || dk.H != dv.H || dk.S != dv.S:
		return problem.Shape{}, fmt.Errorf("attention: K is %v and V is %v: only the columns may differ", dk, dv)
	case dq.B != dk.B || dq.D != dk.D:
		return problem.Shape{}, fmt.Errorf("attention: Q is %v and K is %v: batch and columns must be the same", dq, dk)
	}
	s := problem.Shape{B: dq.B, Hq: dq.H, Hkv: dk.H, Sq: dq.S, Skv: dk.S}
	s = s.WithHeadDim(problem.HeadDim{D: dq.D, DV: dv.D})
	return s, s.Check()
}

func allRows(p problem.Attention) []Row {
	rows := make([]Row, 0, p.Rows())
	for b, n := range p.QueryLengths() {
		for h := range p.Hq {
			for i := range n {
				rows = append(rows, Row{b, h, i})
			}
		}
	}
	return rows
}

// byHead returns the indices of the rows, grouped by the head of K and V that they need.
func (r *Result) byHead() ([][]int, error) {
	s := r.Shape
	heads := make([][]int, s.B*s.Hkv)
	for i, row := range r.Rows {
		if row.B < 0 || row.B >= s.B || row.H < 0 || row.H >= s.Hq || row.S < 0 || row.S >= s.Sq {
			return nil, fmt.Errorf("row %v is outside of %v", row, s.Q())
		}
		kv := row.B*s.Hkv + s.HeadKV(row.H)
		heads[kv] = append(heads[kv], i)
	}
	return heads, nil
}

// tileKV is the number of keys that are processed together, so that a tile of K or V stays
// in the cache.
const tileKV = 128

// head is one head of K and V in float64, in tiles. V is transposed, so that both products
// multiply rows with rows.
type head struct {
	shape problem.Shape
	k     []float64 // [tile][key][column of K]
	v     []float64 // [tile][column of V][key]
}

func expand(s problem.Shape, k, v Tensor, b, h int) *head {
	tiles := (s.Skv + tileKV - 1) / tileKV
	dv := s.DimV()
	x := &head{s, make([]float64, tiles*tileKV*s.D), make([]float64, tiles*tileKV*dv)}
	parallel(tiles, func(t int) {
		row := make([]float64, dv)
		for j := range min(tileKV, s.Skv-t*tileKV) {
			key := t*tileKV + j
			k.Row(b, h, key, x.k[key*s.D:][:s.D])
			v.Row(b, h, key, row)
			for c, value := range row {
				x.v[(t*dv+c)*tileKV+j] = value
			}
		}
	})
	return x
}

// lanes is the number of rows of Q that are processed together.
const lanes = 4

func groupRows(rows []int) (groups [][]int) {
	for len(rows) > lanes {
		groups = append(groups, rows[:lanes])
		rows = rows[lanes:]
	}
	return append(groups, rows)
}

// sweep computes up to four rows with the online softmax.
type sweep struct {
	*head
	opt  Options
	from Tensor
	q    []float64 // [lane][column of Q]
	p    []float64 // [lane][key]: logits, then weights
	o    []float64 // [lane][column of V]
	m, l [lanes]float64
	at   [lanes]Row
	// The keys that a lane sees: from first up to last, without last.
	first, last [lanes]int
}

func newSweep(h *head, q Tensor, opt Options) *sweep {
	return &sweep{head: h, opt: opt, from: q, q: make([]float64, lanes*h.shape.D), p: make([]float64, lanes*tileKV), o: make([]float64, lanes*h.shape.DimV())}
}

func (w *sweep) rows(r *Result, which []int) {
	d, dv := w.shape.D, w.shape.DimV()
	first, last := w.shape.Skv, 0
	for i, at := range which {
		row := r.Rows[at]
		w.from.Row(row.B, row.H, row.S, w.q[i*d:][:d])
		w.m[i], w.l[i] = w.opt.start(row.H)
		w.at[i] = row
		w.first[i], w.last[i] = w.opt.sees(w.shape, row)
		first, last = min(first, w.first[i]), max(last, w.last[i])
	}
	for at := first / tileKV * tileKV; at < last; at += tileKV {
		w.tile(at, len(which))
	}
	for i, at := range which {
		r.LSE[at] = w.m[i] + math.Log(w.l[i])
		if w.l[i] == 0 {
			continue // no key has a weight: the row stays zero
		}
		for j, o := range w.o[i*dv:][:dv] {
			r.O[at*dv+j] = o / w.l[i]
		}
	}
}

// tile adds the keys from first on to the first n lanes.
func (w *sweep) tile(first, n int) {
	d, dv := w.shape.D, w.shape.DimV()
	dots(w.q, w.k[first*d:][:tileKV*d], d, func(lane, key int, s float64) {
		w.p[lane*tileKV+key] = w.opt.logit(s)
	})
	var alpha [lanes]float64
	for i := range n {
		if w.opt.Bias != nil {
			for key, b := range w.opt.Bias.Of(w.at[i])[first:min(first+tileKV, w.shape.Skv)] {
				w.p[i*tileKV+key] += b
			}
		}
		if w.opt.Mask != nil {
			w.hide(i, first)
		}
		alpha[i] = w.softmax(i, w.p[i*tileKV:][:tileKV], w.first[i]-first, w.last[i]-first)
	}
	dots(w.p, w.v[first*dv:][:tileKV*dv], tileKV, func(lane, col int, s float64) {
		o := &w.o[lane*dv+col]
		*o = *o*alpha[lane] + s
	})
}

// hide gives a logit of -∞ to the keys of a tile that the mask hides from a lane.
func (w *sweep) hide(lane, first int) {
	at := w.at[lane]
	for key := range min(tileKV, w.shape.Skv-first) {
		if w.opt.Mask.hides(at.B, at.S, first+key) {
			w.p[lane*tileKV+key] = math.Inf(-1)
		}
	}
}

// softmax turns the logits of the keys that a lane sees, from first up to last, into weights,
// and returns the factor for the sums of earlier tiles.
func (w *sweep) softmax(lane int, p []float64, first, last int) (alpha float64) {
	first = min(max(first, 0), len(p))
	last = max(min(last, len(p)), first)
	clear(p[:first])
	clear(p[last:])
	seen := p[first:last]
	if len(seen) == 0 {
		return 1
	}
	before := w.m[lane]
	m := before
	for _, s := range seen {
		m = max(m, s)
	}
	if math.IsInf(m, -1) { // every logit so far is -∞: no key has a weight
		clear(seen)
		return 1
	}
	sum := 0.0
	for i, s := range seen {
		seen[i] = math.Exp(s - m)
		sum += seen[i]
	}
	alpha = math.Exp(before - m)
	w.l[lane] = w.l[lane]*alpha + sum
	w.m[lane] = m
	return alpha
}

// dots computes the products of the four rows of a, n numbers each, with all rows of b. It
// takes two rows of b at a time, so that eight sums stay in registers.
func dots(a, b []float64, n int, take func(lane, row int, s float64)) {
	a0, a1, a2, a3 := a[:n], a[n:][:n], a[2*n:][:n], a[3*n:][:n]
	row := 0
	for ; (row+2)*n <= len(b); row += 2 {
		b0, b1 := b[row*n:][:n], b[(row+1)*n:][:n]
		var s00, s10, s20, s30, s01, s11, s21, s31 float64
		for i, x := range b0 {
			y := b1[i]
			s00 += a0[i] * x
			s10 += a1[i] * x
			s20 += a2[i] * x
			s30 += a3[i] * x
			s01 += a0[i] * y
			s11 += a1[i] * y
			s21 += a2[i] * y
			s31 += a3[i] * y
		}
		for lane, s := range [lanes][2]float64{{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}} {
			take(lane, row, s[0])
			take(lane, row+1, s[1])
		}
	}
	for ; (row+1)*n <= len(b); row++ { // an odd DV leaves one
		for lane, q := range [lanes][]float64{a0, a1, a2, a3} {
			s := 0.0
			for i, x := range b[row*n:][:n] {
				s += q[i] * x
			}
			take(lane, row, s)
		}
	}
}

var _ Tensor = (*fp8.Tensor)(nil)
