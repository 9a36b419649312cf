package ops

import (
	"math"
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/sfu"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	buildIn("approx", buildRcp, "rcp")
	buildIn("approx", buildSqrt, "sqrt")
	buildIn("approx", buildRsqrt, "rsqrt")
	buildIn("approx", unary(sfu.FuncSin), "sin")
	buildIn("approx", unary(sfu.FuncCos), "cos")
	buildIn("approx", unary(sfu.FuncLg2), "lg2")
	buildIn("approx", unary(sfu.FuncEx2), "ex2")
	buildIn("approx", unary(sfu.FuncTanh), "tanh")
	buildIn("half", halfElementary(sfu.Ex2F16, sfu.Ex2BF16), "ex2")
	buildIn("half", halfElementary(sfu.TanhF16, sfu.TanhBF16), "tanh")
}

// unary builds an approximate function of f32.
func unary(fn sfu.Func) builder {
	return func(d *decoder, x *inst) exec {
		ftz := x.Has("ftz")
		rd, ra := dstOf[uint32](d, x, "d").s, srcOf[uint32](d, x, "a").s
		return func(f *frame, m uint32) {
			fn.Lanes(f.Result32(rd, m), &f.R32[ra], ftz)
			f.Commit32(rd, m)
		}
	}
}

func buildRcp(d *decoder, x *inst) exec {
	r := roundOf(x)
	switch wide, approx := x.Type("d") == ptx.F64, x.Has("approx"); {
	case wide && approx:
		return op1(d, x, rcpHigh)
	case wide && r == scalar.RN:
		return op1(d, x, scalar.RcpF64)
	case wide:
		return op1(d, x, func(a uint64) uint64 { return scalar.RcpF64R(r, a) })
	case approx:
		return unary(sfu.FuncRcp)(d, x)
	case x.Has("ftz"):
		return op1(d, x, func(a uint32) uint32 { return scalar.RcpFtzF32R(r, a) })
	case r == scalar.RN:
		return op1(d, x, scalar.RcpF32)
	}
	return op1(d, x, func(a uint32) uint32 { return scalar.RcpF32R(r, a) })
}

func buildSqrt(d *decoder, x *inst) exec {
	r := roundOf(x)
	switch wide := x.Type("d") == ptx.F64; {
	case wide && r == scalar.RN:
		return op1(d, x, scalar.SqrtF64)
	case wide:
		return op1(d, x, func(a uint64) uint64 { return scalar.SqrtF64R(r, a) })
	case x.Has("approx"):
		return unary(sfu.FuncSqrt)(d, x)
	case r == scalar.RN:
		return op1(d, x, flushed1(x, scalar.SqrtF32))
	}
	return op1(d, x, flushed1(x, func(a uint32) uint32 { return scalar.SqrtF32R(r, a) }))
}

func buildRsqrt(d *decoder, x *inst) exec {
	switch {
	case x.Type("d") != ptx.F64:
		return unary(sfu.FuncRsqrt)(d, x)
	case x.Has("ftz"):
		return op1(d, x, rsqrtHigh)
	}
	return op1(d, x, rsqrtF64)
}

// halfElementary builds an approximate function of 16-bit floats.
func halfElementary(f16, bf16 func(a uint16) uint16) builder {
	tables := [2]func() *halfTable{tabulate(f16), tabulate(bf16)}
	return func(d *decoder, x *inst) exec {
		if isBF16(x) {
			return lookUp(d, x, tables[1]())
		}
		return lookUp(d, x, tables[0]())
	}
}

// lookUp builds a function of one 16-bit float, or of both halves of a packed pair, whose results are
// in a table.
func lookUp(d *decoder, x *inst, table *halfTable) exec {
	packed := x.Type("d").Bits() == 32
	dst, src := halfOperands(d, x)
	from := src("a")
	return func(f *frame, m uint32) {
		to, a := f.Result32(dst, m), &f.R32[from]
		if packed {
			for l, v := range a {
				to[l] = uint32(table[uint16(v)]) | uint32(table[uint16(v>>16)])<<16
			}
		} else {
			for l, v := range a {
				to[l] = uint32(table[uint16(v)])
			}
		}
		f.Commit32(dst, m)
	}
}

// halfTable holds the results of a function of 16 bits.
type halfTable [1 << 16]uint16

// tabulate returns a function that returns the table of fn. Its first call fills the table.
func tabulate(fn func(a uint16) uint16) func() *halfTable {
	return sync.OnceValue(func() *halfTable {
		t := new(halfTable)
		for a := range t {
			t[a] = fn(uint16(a))
		}
		return t
	})
}

// buildFastDiv builds div.full and div.approx as ptxas compiles them: it multiplies by the
// reciprocal, after it has scaled the operands out of the range where the reciprocal is
// subnormal. div.full also scales large divisors. Most divisors need no scale, and the lanes of
// those are computed together.
func buildFastDiv(d *decoder, x *inst) exec {
	k := divLanes(x.Has("full"), x.Has("ftz"))
	return whole2(dstOf[uint32](d, x, "d").s, srcOf[uint32](d, x, "a").s, srcOf[uint32](d, x, "b").s, k)
}

func divLanes(full, ftz bool) lanes2 {
	mul, mulLanes := scalar.MulF32, mulF32Lanes
	low, high := uint32(leastDivisor), uint32(math.MaxUint32) // divisors from low to high need no scale
	if ftz {
		mul, mulLanes, low = scalar.MulFtzF32, mulFtzLanes, 0
	}
	if full {
		high = largeDivisor
	}
	return func(d, a, b *machine.Lanes32) {
		var inverse, t machine.Lanes32
		sfu.FuncRcp.Lanes(&inverse, b, true)
		mulLanes(&t, &inverse, a)
		for l, v := range b {
			if v&^negZero-low <= high-low {
				continue
			}
			if scale := divScale(v, full, ftz); scale != 0 {
				t[l] = mul(sfu.Rcp(mul(v, scale), true), mul(a[l], scale))
			}
		}
		*d = t
	}
}

const (
	leastDivisor = 0x00800000 // 2^-126
	largeDivisor = 0x7e800000 // 2^126
)

// divScale returns the number by which a fast division multiplies both operands, or 0 for none.
func divScale(b uint32, full, ftz bool) uint32 {
	switch mag := b &^ negZero; {
	case full && mag > largeDivisor && mag <= 0x7f800000:
		return 0x3e800000 // 2^-2
	case !ftz && mag < leastDivisor:
		return 0x4b800000 // 2^24
	}
	return 0
}
