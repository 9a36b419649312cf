package tensor

import (
	"fmt"
	"math"
	"math/bits"
)

// BitOp is the operation that combines single bits before they are counted.
type BitOp uint8

// The operations of .b1 products.
const (
	XOR BitOp = iota
	AND
)

// Integer multiplies matrices of integers or of single bits into s32. All targets give the
// same results. A sum that does not fit wraps around, or is clamped with .satfinite.
type Integer struct {
	a, b Kind
	op   BitOp
	sat  bool
	// The decoded factors, and the sums of one panel: see integer_simd.go.
	rowPairs, colPairs, sums []uint32
	// The decoded factors for processors for which package simd has no loops: see
	// integer_plain.go.
	rows, cols []int64
}

// NewInteger returns the product of factors of type s8 or u8, s4 or u4, or b1. The two
// factors must have the same width. Only b1 uses op, and sat must be false for b1.
func NewInteger(a, b Kind, op BitOp, sat bool) (*Integer, error) {
	whole := a >= S8 && b >= S8 && a < kinds && b < kinds
	switch {
	case !whole || a.Bits() != b.Bits():
		return nil, fmt.Errorf("s32.%v.%v: the factors must both be s8 or u8, both s4 or u4, or both b1", a, b)
	case a == B1 && sat:
		return nil, fmt.Errorf("s32.b1.b1: products of single bits do not have .satfinite")
	}
	return &Integer{a: a, b: b, op: op, sat: sat}, nil
}

// MulAdd computes d = c + a·b: a has m rows and b has n columns of k elements, packed as for
// [Float.LoadA]. d and c have rows of n elements. A nil c means zero. d and c may be the same
// slice.
func (x *Integer) MulAdd(d []uint32, m, n, k int, a, b, c []uint32) {
	if x.a == B1 {
		x.countBits(d, m, n, k/32, a, b, c)
		return
	}
	if vector && m%2 == 0 && n%panel == 0 {
		x.mulAddPairs(d, m, n, k, a, b, c)
		return
	}
	x.mulAddPlain(d, m, n, k, a, b, c)
}

func (x *Integer) countBits(d []uint32, m, n, words int, a, b, c []uint32) {
	for i := range m {
		row := a[i*words:][:words]
		for j := range n {
			col := b[j*words:][:len(row)]
			sum := 0
			for e, v := range row {
				if x.op == XOR {
					sum += bits.OnesCount32(v ^ col[e])
				} else {
					sum += bits.OnesCount32(v & col[e])
				}
			}
			d[i*n+j] = x.result(int64(sum), c, i*n+j)
		}
	}
}

func (x *Integer) result(sum int64, c []uint32, at int) uint32 {
	if c != nil {
		sum += int64(int32(c[at]))
	}
	if x.sat {
		sum = min(max(sum, math.MinInt32), math.MaxInt32)
	}
	return uint32(sum)
}
