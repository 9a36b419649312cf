package scalar

import (
	"cmp"
	"math"
)

// Cmp is a comparison operator of setp and set: the set of relations for which it is true.
// To evaluate it, intersect it with the relation of the operands.
type Cmp uint8

const (
	less Cmp = 1 << iota
	equal
	greater
	unordered
)

// The comparison operators. LO, LS, HI and HS are the unsigned names of LT, LE, GT and GE.
// Operators that end in U are also true if an operand is NaN.
const (
	LT = less
	EQ = equal
	GT = greater
	LE = less | equal
	GE = greater | equal
	NE = less | greater

	LO, LS, HI, HS = LT, LE, GT, GE

	EQU = EQ | unordered
	NEU = NE | unordered
	LTU = LT | unordered
	LEU = LE | unordered
	GTU = GT | unordered
	GEU = GE | unordered

	NUM = less | equal | greater
	NAN = unordered
)

// CmpInt compares integers. Their Go type determines whether they are signed.
func CmpInt[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](op Cmp, a, b T) bool {
	return op&(1<<(cmp.Compare(a, b)+1)) != 0
}

// CmpF64 is setp.f64.
func CmpF64(op Cmp, a, b uint64) bool {
	return op&relation(math.Float64frombits(a), math.Float64frombits(b)) != 0
}

// CmpF32 is setp.f32. For .ftz the operands are flushed first.
func CmpF32(op Cmp, a, b uint32) bool {
	return op&relation(math.Float32frombits(a), math.Float32frombits(b)) != 0
}

// CmpF16 is setp.f16.
func CmpF16(op Cmp, a, b uint16) bool { return op&relation(floatF16(a), floatF16(b)) != 0 }

// CmpBF16 is setp.bf16.
func CmpBF16(op Cmp, a, b uint16) bool { return op&relation(floatBF16(a), floatBF16(b)) != 0 }

func relation[T float32 | float64](a, b T) Cmp {
	switch {
	case a < b:
		return less
	case a > b:
		return greater
	case a == b:
		return equal
	}
	return unordered
}
