package ops

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/operand"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	build("cvt", buildCvt)
}

// buildCvt builds cvt. Registers may be wider than the types: a source uses its low
// bits, a result is extended by its sign or by zeros.
func buildCvt(d *decoder, x *inst) exec {
	if x.Has("pack") {
		return buildCvtPack(d, x)
	}
	if x.Arg("b") != nil {
		return buildCvtTwo(d, x)
	}
	dt, at := x.Type("d"), x.Type("a")
	if e := widenWord(d, x, dt, at); e != nil {
		return e
	}
	fn := conversion(x, dt, at)
	if fn == nil {
		d.Fail("%w", errNoBuilder)
		return nil
	}
	to, from, width := d.LoadDst(x.Arg("d"), dt), d.StoreSrc(x.Arg("a"), at), operand.RegisterBits(x.Arg("d"), dt)
	if to.Width == machine.W32 && from.Width == machine.W32 && to.Signed == 0 {
		cut := uint32(uint64(1)<<width - 1)
		return func(f *frame, m uint32) {
			rd, ra := &f.R32[to.Slot], &f.R32[from.Slot]
			for ; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m) & 31
				rd[l] = uint32(fn(uint64(ra[l]))) & cut
			}
		}
	}
	return func(f *frame, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			to.Set(f, l, fn(from.Get(f, l)), width)
		}
	}
}

// widenWord builds cvt between 32 and 64 bits, which programs need for nearly every
// address. It returns nil for other conversions.
func widenWord(d *decoder, x *inst, dt, at ptx.Type) exec {
	exact := func(o *ptx.Operand, t ptx.Type) bool {
		return o.Kind != ptx.RegOperand || o.Sym.Type.Bits() == t.Bits()
	}
	if x.Has("sat") || !dt.Integer() || !at.Integer() || !exact(x.Arg("d"), dt) || !exact(x.Arg("a"), at) {
		return nil
	}
	switch {
	case dt.Bits() == 64 && at == ptx.S32:
		return hotWiden1(d, x, extendS32Lanes)
	case dt.Bits() == 64 && at == ptx.U32:
		return hotWiden1(d, x, extendU32Lanes)
	case dt.Bits() == 32 && at.Bits() == 64:
		rd, ra := d.Dst(x.Arg("d"), dt), d.Src64(x.Arg("a"), at)
		return func(f *frame, m uint32) {
			for a := &f.R64[ra]; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m) & 31
				f.R32[rd][l] = uint32(a[l])
			}
		}
	}
	return nil
}

// conversion returns the function that converts the bits of a value from type at to type
// dt with the instruction's modifiers, or nil if there is none.
func conversion(x *inst, dt, at ptx.Type) func(a uint64) uint64 {
	switch {
	case dt.Integer() && at.Integer():
		return intToInt(x, intOf(dt), intOf(at))
	case dt.Integer():
		return floatToInt(x, intOf(dt), at)
	case at.Integer():
		return intToFloat(x, dt, intOf(at))
	case dt == ptx.E4M3x2 || dt == ptx.E5M2x2 || at == ptx.E4M3x2 || at == ptx.E5M2x2:
		return fp8Pair(x, dt, at)
	case dt == ptx.TF32:
		return toTF32(x)
	case dt == at:
		return sameFloat(x, dt)
	}
	return floatToFloat(x, dt, at)
}

func intOf(t ptx.Type) scalar.Int {
	return map[ptx.Type]scalar.Int{
		ptx.U8: scalar.U8, ptx.U16: scalar.U16, ptx.U32: scalar.U32, ptx.U64: scalar.U64,
		ptx.S8: scalar.S8, ptx.S16: scalar.S16, ptx.S32: scalar.S32, ptx.S64: scalar.S64,
	}[t]
}

// roundOf returns the rounding mode of an instruction, .rn if it names none.
func roundOf(x *inst) scalar.Round {
	switch {
	case x.Has("rz") || x.Has("rzi"):
		return scalar.RZ
	case x.Has("rm") || x.Has("rmi"):
		return scalar.RM
	case x.Has("rp") || x.Has("rpi"):
		return scalar.RP
	}
	return scalar.RN
}

func intToInt(x *inst, dst, src scalar.Int) func(a uint64) uint64 {
	if x.Has("sat") {
		return func(a uint64) uint64 { return scalar.CvtIntSat(dst, src, a) }
	}
	return func(a uint64) uint64 { return scalar.CvtInt(dst, src, a) }
}

// floatToInt always clamps, so .sat changes nothing.
func floatToInt(x *inst, dst scalar.Int, at ptx.Type) func(a uint64) uint64 {
	r := roundOf(x)
	switch at {
	case ptx.F16:
		return func(a uint64) uint64 { return scalar.CvtIntF16(r, dst, uint16(a)) }
	case ptx.BF16:
		return func(a uint64) uint64 { return scalar.CvtIntBF16(r, dst, uint16(a)) }
	case ptx.F32:
		if x.Has("ftz") {
			return func(a uint64) uint64 { return scalar.CvtIntF32(r, dst, scalar.FtzF32(uint32(a))) }
		}
		return func(a uint64) uint64 { return scalar.CvtIntF32(r, dst, uint32(a)) }
	}
	return func(a uint64) uint64 { return scalar.CvtIntF64(r, dst, a) }
}

// intToFloat never produces a subnormal, so .ftz changes nothing.
func intToFloat(x *inst, dt ptx.Type, src scalar.Int) func(a uint64) uint64 {
	r := roundOf(x)
	var fn func(a uint64) uint64
	switch {
	case dt == ptx.F32 && r == scalar.RN:
		fn = func(a uint64) uint64 { return uint64(scalar.CvtF32Int(src, a)) }
	case dt == ptx.F32:
		fn = func(a uint64) uint64 { return uint64(scalar.CvtF32IntR(r, src, a)) }
	case dt == ptx.F64 && r == scalar.RN:
		fn = func(a uint64) uint64 { return scalar.CvtF64Int(src, a) }
	case dt == ptx.F64:
		fn = func(a uint64) uint64 { return scalar.CvtF64IntR(r, src, a) }
	case dt == ptx.F16:
		fn = func(a uint64) uint64 { return uint64(scalar.CvtF16IntR(r, src, a)) }
	default:
		fn = func(a uint64) uint64 { return uint64(scalar.CvtBF16IntR(r, src, a)) }
	}
	return resultModifiers(x, dt, fn)
}

// resultModifiers returns fn followed by the modifiers of a float result.
func resultModifiers(x *inst, dt ptx.Type, fn func(a uint64) uint64) func(a uint64) uint64 {
	then := func(last func(a uint64) uint64) {
		first := fn
		fn = func(a uint64) uint64 { return last(first(a)) }
	}
	if x.Has("satfinite") {
		then(satfinite(dt))
	}
	if x.Has("relu") {
		then(relu(dt))
	}
	if x.Has("sat") {
		then(sat(dt))
	}
	return fn
}

func sat(t ptx.Type) func(a uint64) uint64 {
	switch t {
	case ptx.F16:
		return func(a uint64) uint64 { return uint64(scalar.SatF16(uint16(a))) }
	case ptx.F32:
		return func(a uint64) uint64 { return uint64(scalar.SatF32(uint32(a))) }
	}
	return scalar.SatF64
}

func relu(t ptx.Type) func(a uint64) uint64 {
	switch t {
	case ptx.F16:
		return func(a uint64) uint64 { return uint64(scalar.ReluF16(uint16(a))) }
	case ptx.BF16:
		return func(a uint64) uint64 { return uint64(scalar.ReluBF16(uint16(a))) }
	}
	return func(a uint64) uint64 { return uint64(scalar.ReluTF32(uint32(a))) }
}

func satfinite(t ptx.Type) func(a uint64) uint64 {
	switch t {
	case ptx.F16:
		return func(a uint64) uint64 { return uint64(scalar.SatfiniteF16(uint16(a))) }
	case ptx.BF16:
		return func(a uint64) uint64 { return uint64(scalar.SatfiniteBF16(uint16(a))) }
	}
	return func(a uint64) uint64 { return uint64(scalar.SatfiniteTF32(uint32(a))) }
}
