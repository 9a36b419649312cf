package lab

import (
	"context"
	"math"
	"runtime"
	"sync"

	"attest/fp8"
	"attest/lab/abi"
	"attest/ref"
)

// plain is attention as one would write it down, with the roundings that a kernel of
// the same precision cannot avoid: logits are float32, the weights are rounded before
// they are multiplied with V, and O is rounded. Sums are exact. Its error is what a
// kernel's is held against.
func plain(ctx context.Context, a *abi.ABI, in *inputs, rows []ref.Row) (*rowsTensor, error) {
	out := newRows(in.shape.Q(), rows)
	toP, scaleP := rounder(a.P)
	toO, _ := rounder(a.Output)
	byHead := map[[2]int][]int{}
	for i, r := range rows {
		byHead[[2]int{r.B, r.H}] = append(byHead[[2]int{r.B, r.H}], i)
	}
	scale := 1 / math.Sqrt(float64(in.shape.D))
	for head, list := range byHead {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k, v := matrix(in.k, head[0], in.shape.HeadKV(head[1])), matrix(in.v, head[0], in.shape.HeadKV(head[1]))
		parallel(len(list), func(n int) {
			at := rows[list[n]]
			q := make([]float64, in.shape.D)
			in.q.Row(at.B, at.H, at.S, q)
			plainRow(q, k, v, visible(a, in.shape, at.S), scale, toP, scaleP, toO, out.row(list[n]))
		})
	}
	return out, nil
}

// visible is how many keys a row sees.
func visible(a *abi.ABI, s ref.Shape, row int) int {
	if a.Causal {
		return min(max(row+s.Skv-s.Sq+1, 0), s.Skv)
	}
	return s.Skv
}

func plainRow(q []float64, k, v [][]float64, keys int, scale float64, toP func(float64) float64, scaleP float64, toO func(float64) float64, to []float64) {
	logits := make([]float64, keys)
	most := math.Inf(-1)
	for j := range logits {
		var dot float64
		for i, x := range k[j] {
			dot += q[i] * x
		}
		logits[j] = float64(float32(dot * scale))
		most = max(most, logits[j])
	}
	var sum float64
	for j, x := range logits {
		w := math.Exp(x - most)
		sum += w
		p := toP(w*scaleP) / scaleP
		for i, x := range v[j] {
			to[i] += p * x
		}
	}
	for i := range to {
		if sum > 0 {
			to[i] = toO(to[i] / sum)
		}
	}
}

// rounder rounds to a format. Weights, which are at most 1, are scaled up to fill the
// formats of one byte before.
func rounder(f abi.Format) (round func(float64) float64, scale float64) {
	switch f {
	case abi.F16:
		return func(x float64) float64 { return float64(fp8.FromF16(fp8.F16(float32(x)))) }, 1
	case abi.BF16:
		return func(x float64) float64 { return float64(fp8.FromBF16(fp8.BF16(float32(x)))) }, 1
	case abi.F32:
		return func(x float64) float64 { return float64(float32(x)) }, 1
	}
	format, _ := f.FP8()
	return func(x float64) float64 { return format.Decode(format.EncodeSatfinite(x)) }, 256
}

// matrix is the rows of a head.
func matrix(t ref.Tensor, b, h int) [][]float64 {
	d := t.Dims()
	m := make([][]float64, d.S)
	for s := range m {
		m[s] = make([]float64, d.D)
		t.Row(b, h, s, m[s])
	}
	return m
}

// parallel does n things on all cores.
func parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), n)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wg.Wait()
}

// rowsTensor is some rows of a tensor; the others are NaN.
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
