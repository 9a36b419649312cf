package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/operand"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

// sameFloat returns a conversion of a format to itself. With a mode such as .rni it rounds
// to an integer, else only the modifiers change the value. Plain conversions are moves,
// but the hardware implements some of them by adding zero, which replaces a NaN.
func sameFloat(x *inst, t ptx.Type) func(a uint64) uint64 {
	fn := func(a uint64) uint64 { return a }
	switch {
	case x.Mod("irnd") != "":
		fn = toIntegral(roundOf(x), t)
	case t == ptx.F16:
		fn = func(a uint64) uint64 { return uint64(scalar.CvtF16F16(uint16(a))) }
	case t == ptx.BF16:
		fn = func(a uint64) uint64 { return uint64(scalar.AddBF16(uint16(a), negZero>>16)) }
	case x.Has("ftz"):
		fn = func(a uint64) uint64 { return uint64(scalar.CvtFtzF32F32(uint32(a))) }
	}
	if x.Has("ftz") {
		fn = flushFirst(fn)
	}
	return resultModifiers(x, t, fn)
}

// toIntegral returns the function that rounds to an integer in the same float format.
func toIntegral(r scalar.Round, t ptx.Type) func(a uint64) uint64 {
	switch t {
	case ptx.F16:
		return func(a uint64) uint64 { return uint64(scalar.RintF16(r, uint16(a))) }
	case ptx.BF16:
		return func(a uint64) uint64 { return uint64(scalar.RintBF16(r, uint16(a))) }
	case ptx.F32:
		return func(a uint64) uint64 { return uint64(scalar.RintF32(r, uint32(a))) }
	}
	return func(a uint64) uint64 { return scalar.RintF64(r, a) }
}

// negZero is the f32 -0. Adding it leaves every number unchanged.
const negZero = 1 << 31

// flushFirst returns fn, a conversion from f32, with .ftz.
func flushFirst(fn func(a uint64) uint64) func(a uint64) uint64 {
	return func(a uint64) uint64 { return fn(uint64(scalar.FtzF32(uint32(a)))) }
}

// floatToFloat returns a conversion between two formats.
func floatToFloat(x *inst, dt, at ptx.Type) func(a uint64) uint64 {
	var fn func(a uint64) uint64
	switch r := roundOf(x); dt {
	case ptx.F64:
		fn = toF64(at)
	case ptx.F32:
		fn = toF32(r, at)
	case ptx.F16:
		fn = toF16(r, at)
	case ptx.BF16:
		fn = toBF16(r, at)
	}
	if fn == nil {
		return nil
	}
	return resultModifiers(x, dt, flush(x, dt, at, fn))
}

// flush adds .ftz to a conversion between formats. For conversions to f16, ptxas drops
// .ftz. For others, flushing is a separate step through the adder.
func flush(x *inst, dt, at ptx.Type, fn func(a uint64) uint64) func(a uint64) uint64 {
	r, exact := roundOf(x), fn
	switch {
	case !x.Has("ftz"):
	case dt == ptx.F32 && at == ptx.F64:
		return func(a uint64) uint64 { return uint64(scalar.CvtFtzF32F64R(r, a)) }
	case dt == ptx.F32 && at == ptx.BF16:
		return func(a uint64) uint64 { return uint64(scalar.CvtFtzF32F32(uint32(exact(a)))) }
	case dt == ptx.F64 && at == ptx.F32:
		return func(a uint64) uint64 { return exact(uint64(scalar.CvtFtzF32F32(uint32(a)))) }
	case at == ptx.F32 && dt != ptx.F16:
		return flushFirst(fn)
	}
	return fn
}

func toF64(at ptx.Type) func(a uint64) uint64 {
	switch at {
	case ptx.F32:
		return func(a uint64) uint64 { return scalar.CvtF64F32(uint32(a)) }
	case ptx.F16:
		return func(a uint64) uint64 { return scalar.CvtF64F16(uint16(a)) }
	case ptx.BF16:
		return func(a uint64) uint64 { return scalar.CvtF64BF16(uint16(a)) }
	}
	return nil
}

func toF32(r scalar.Round, at ptx.Type) func(a uint64) uint64 {
	switch {
	case at == ptx.F64 && r == scalar.RN:
		return func(a uint64) uint64 { return uint64(scalar.CvtF32F64(a)) }
	case at == ptx.F64:
		return func(a uint64) uint64 { return uint64(scalar.CvtF32F64R(r, a)) }
	case at == ptx.F16:
		return func(a uint64) uint64 { return uint64(scalar.CvtF32F16(uint16(a))) }
	case at == ptx.BF16:
		return func(a uint64) uint64 { return uint64(scalar.CvtF32BF16(uint16(a))) }
	}
	return nil
}

func toF16(r scalar.Round, at ptx.Type) func(a uint64) uint64 {
	switch {
	case at == ptx.F32 && r == scalar.RN:
		return func(a uint64) uint64 { return uint64(scalar.CvtF16F32(uint32(a))) }
	case at == ptx.F32:
		return func(a uint64) uint64 { return uint64(scalar.CvtF16F32R(r, uint32(a))) }
	case at == ptx.F64:
		return func(a uint64) uint64 { return uint64(scalar.CvtF16F64R(r, a)) }
	case at == ptx.BF16:
		return func(a uint64) uint64 { return uint64(scalar.CvtF16BF16R(r, uint16(a))) }
	}
	return nil
}

func toBF16(r scalar.Round, at ptx.Type) func(a uint64) uint64 {
	switch {
	case at == ptx.F32 && r == scalar.RN:
		return func(a uint64) uint64 { return uint64(scalar.CvtBF16F32(uint32(a))) }
	case at == ptx.F32:
		return func(a uint64) uint64 { return uint64(scalar.CvtBF16F32R(r, uint32(a))) }
	case at == ptx.F64:
		return func(a uint64) uint64 { return uint64(scalar.CvtBF16F64R(r, a)) }
	case at == ptx.F16:
		return func(a uint64) uint64 { return uint64(scalar.CvtBF16F16R(r, uint16(a))) }
	}
	return nil
}

func toTF32(x *inst) func(a uint64) uint64 {
	if x.Has("rna") {
		return resultModifiers(x, ptx.TF32, func(a uint64) uint64 { return uint64(scalar.CvtRnaTF32F32(uint32(a))) })
	}
	r := roundOf(x)
	return resultModifiers(x, ptx.TF32, func(a uint64) uint64 { return uint64(scalar.CvtTF32F32(r, uint32(a))) })
}

// fp8Pair returns a conversion between a pair of fp8 values and a pair of halves.
func fp8Pair(x *inst, dt, at ptx.Type) func(a uint64) uint64 {
	if dt == ptx.F16x2 {
		from := scalar.CvtF16E4M3
		if at == ptx.E5M2x2 {
			from = scalar.CvtF16E5M2
		}
		if x.Has("relu") {
			exact := from
			from = func(a uint8) uint16 { return scalar.ReluF16(exact(a)) }
		}
		return func(a uint64) uint64 { return uint64(pack16(from(uint8(a)), from(uint8(a>>8)))) }
	}
	to := scalar.CvtE4M3F16
	if dt == ptx.E5M2x2 {
		to = scalar.CvtE5M2F16
	}
	last := fp8Relu(x, dt)
	return func(a uint64) uint64 {
		return uint64(last(to(uint16(a>>16))))<<8 | uint64(last(to(uint16(a))))
	}
}

func fp8Relu(x *inst, dt ptx.Type) func(a uint8) uint8 {
	switch {
	case !x.Has("relu"):
		return func(a uint8) uint8 { return a }
	case dt == ptx.E5M2x2:
		return scalar.ReluE5M2
	}
	return scalar.ReluE4M3
}

// buildCvtTwo builds cvt of two f32 into a packed type. The first goes into the high part.
func buildCvtTwo(d *decoder, x *inst) exec {
	dt := x.Type("d")
	if e := convertTwoLanes(d, x, dt); e != nil {
		return e
	}
	var fn func(a uint32) uint32
	shift := 16
	switch dt {
	case ptx.E4M3x2, ptx.E5M2x2:
		to, last := scalar.CvtE4M3F32, fp8Relu(x, dt)
		if dt == ptx.E5M2x2 {
			to = scalar.CvtE5M2F32
		}
		shift = 8
		fn = func(a uint32) uint32 { return uint32(last(to(a))) }
	default:
		half := ptx.F16
		if dt == ptx.BF16x2 {
			half = ptx.BF16
		}
		one := floatToFloat(x, half, ptx.F32)
		fn = func(a uint32) uint32 { return uint32(one(uint64(a))) }
	}
	ra, rb := srcOf[uint32](d, x, "a"), srcOf[uint32](d, x, "b")
	to, width := d.LoadDst(x.Arg("d"), dt), operand.RegisterBits(x.Arg("d"), dt)
	return func(f *frame, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			to.Set(f, l, uint64(fn(ra.get(f, l))<<shift|fn(rb.get(f, l))), width)
		}
	}
}

// buildCvtPack builds cvt.pack: a above b, both clamped to the narrow type, and above
// them the low bits of c.
func buildCvtPack(d *decoder, x *inst) exec {
	t := x.Mod("convertType")
	n := map[byte]int{'2': 2, '4': 4, '8': 8, '6': 16}[t[len(t)-1]]
	lo, hi := int32(0), int32(1)<<n-1
	if t[0] == 's' {
		lo, hi = -1<<(n-1), 1<<(n-1)-1
	}
	part := func(a int32) uint32 { return uint32(min(max(a, lo), hi)) & (1<<n - 1) }
	ra, rb := srcOf[int32](d, x, "a"), srcOf[int32](d, x, "b")
	above := regOf[uint32]{d.Const32(0)}
	if x.Arg("c") != nil {
		above = srcOf[uint32](d, x, "c")
	}
	to, width := d.LoadDst(x.Arg("d"), x.Type("d")), operand.RegisterBits(x.Arg("d"), x.Type("d"))
	return func(f *frame, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			v := part(ra.get(f, l))<<n | part(rb.get(f, l)) | above.get(f, l)<<(2*n)
			to.Set(f, l, uint64(v), width)
		}
	}
}
