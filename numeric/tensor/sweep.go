package tensor

import (
	"math"
	"unsafe"

	"github.com/GOATnote-Inc/attest/numeric/simd"
)

// vector is set if products use the loops of package simd. Tests clear it.
var vector = simd.Has

// wideVector is set if products use the loops for AVX-512 where they can. Tests clear it.
var wideVector = simd.HasWide

// twinVector is set if products use the loops on two rows at a time where they can. Tests clear it.
var twinVector = simd.HasTwins

// sweepRows is the number of rows that are multiplied at a time if c is added or the result
// is rounded afterwards. These rows are buffered, because d and c may be the same slice.
const sweepRows = 16

// sweep multiplies the rows from i to last-1 with panel p in assembly and returns the number
// of rows that it completed. It stops before a row that add must compute. It returns 0 if assembly
// cannot be used.
func (f *Float) sweep(d []uint32, a *Rows, b *Cols, c []uint32, p, i, last int) int {
	n, at := b.lines, i*b.lines+p*panel
	if !vector || i >= last || at+panel > i*n+n || f.rule.half && a.blocks > 1 {
		return 0
	}
	row, col := i*a.blocks, p*b.blocks
	s := simd.Sweep{
		Rows: int64(last - i), Blocks: int64(a.blocks), Length: int64(a.length),
		AExps: &a.exps[row*a.length], X: &a.large[row*a.length], ASigns: &a.signs[row], ALow: &a.low[row],
		Y: &b.val[col*panel*b.length], BSigns: &b.signs[col*panel], BLow: &b.low[col*panel],
		Keep: int64(f.rule.keep), Cut: math.MaxUint64 << (52 - f.rule.frac),
		Floor: 1023 + floorExp, Least: int64(1023 + f.rule.minExpC()),
	}
	if f.a.wide() {
		s.BExps = &b.exps[2*col*b.length]
	} else {
		s.BExps = &b.exps[col*b.length]
	}
	if c != nil {
		c = c[at:]
	}
	switch {
	case f.rule.half:
		sweepHalf(&s, &b.buffer, d[at:], c, n)
	case f.rule.twoPass:
		sweepTwoPass(&s, &b.buffer, d[at:], c, n)
	default:
		sweepF32(&s, d[at:], c, n, f.a.wide())
	}
	return int(s.Done)
}

// sweepBuffer holds rows of accumulators and of sums. It is a part of Cols, because local
// variables to which a simd.Sweep points are on the heap.
type sweepBuffer struct {
	wider [sweepRows * panel]uint32  // accumulators as f32
	f32   [sweepRows * panel]uint32  // sums
	f64   [sweepRows * panel]float64 // sums of f16 results, before they are rounded
}

// zeroC holds the accumulators of a row if c is nil.
var zeroC [2 * panel]uint32

// inPairs reports whether two rows can be multiplied at a time: with the loops for AVX-512 if wide is set, else
// with those on twins. A last odd row is left out.
func inPairs(s *simd.Sweep, wide bool) bool {
	if s.Rows < 2 || wide && (!wideVector || s.Length%8 != 0) || !wide && !twinVector {
		return false
	}
	s.Rows &^= 1
	return true
}

// sweepF32 computes f32 results. d and c have rows of n elements.
func sweepF32(s *simd.Sweep, d, c []uint32, n int, wide bool) {
	s.C, s.D, s.DStep = &zeroC[0], unsafe.Pointer(&d[0]), int64(4*n)
	if c != nil {
		s.C, s.CStep = &c[0], s.DStep
	}
	switch {
	case wide && inPairs(s, true):
		s.Wide16()
	case wide && inPairs(s, false):
		s.Twin16()
	case wide:
		s.Run16()
	case inPairs(s, true):
		s.Wide8()
	case inPairs(s, false):
		s.Twin8()
	default:
		s.Run8()
	}
}

// lanes are the numbers that one addition of package simd adds.
type lanes = [32]uint32

// sweepTwoPass computes the products without c and then adds c.
func sweepTwoPass(s *simd.Sweep, buffer *sweepBuffer, d, c []uint32, n int) {
	sums := &buffer.f32
	s.Rows = min(s.Rows, sweepRows)
	sweepF32(s, sums[:], nil, panel, false)
	row := 0
	if c != nil && n == panel {
		const rows = len(lanes{}) / panel
		for ; row+rows <= int(s.Done); row += rows {
			simd.AddF32((*lanes)(d[row*n:]), (*lanes)(sums[row*n:]), (*lanes)(c[row*n:]))
		}
	}
	for r := row; r < int(s.Done); r++ {
		to, sum := d[r*n:][:panel], sums[r*panel:][:panel]
		if c == nil {
			copy(to, sum)
			continue
		}
		for l, v := range c[r*n:][:panel] {
			to[l] = bitsF32(float64(math.Float32frombits(sum[l]) + math.Float32frombits(v)))
		}
	}
}

// sweepHalf computes f16 results: it converts c to f32 before the products and rounds the
// sums to f16 afterwards.
func sweepHalf(s *simd.Sweep, buffer *sweepBuffer, d, c []uint32, n int) {
	sums, wider := &buffer.f64, &buffer.wider
	s.Rows = min(s.Rows, sweepRows)
	s.C, s.CStep, s.D, s.DStep = &wider[0], 4*panel, unsafe.Pointer(&sums[0]), 8*panel
	if c == nil {
		clear(wider[:])
	} else {
		_ = c[(s.Rows-1)*int64(n)+panel-1]
		simd.WidenF16(&wider[0], &c[0], 4*n, int(s.Rows))
	}
	switch {
	case inPairs(s, true):
		s.WideHalf8()
	case inPairs(s, false):
		s.TwinHalf8()
	default:
		s.RunHalf8()
	}
	if s.Done > 0 {
		_ = d[(s.Done-1)*int64(n)+panel-1]
		simd.RoundF16(&d[0], 4*n, &sums[0], int(s.Done))
	}
}
