package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	buildIn("half", buildHalfArith, "add", "sub", "mul")
	buildIn("half", buildHalfFma, "fma")
	buildIn("half", buildHalfSign, "abs", "neg")
	buildIn("half", buildHalfExtreme, "min", "max")
}

// isBF16 reports whether an instruction works on bf16, alone or packed.
func isBF16(x *inst) bool {
	t := x.Type("d")
	return t == ptx.BF16 || t == ptx.BF16x2
}

// half2 and half3 build an operation that computes both halves of all lanes. The upper half
// of a register with one 16-bit float is zero, and every operation that uses half2 or half3
// has the result zero for operands that are zero.

func half2(d *decoder, x *inst, k lanes2) exec {
	dst, src := halfOperands(d, x)
	return whole2(dst, src("a"), src("b"), k)
}

func half3(d *decoder, x *inst, k lanes3) exec {
	dst, src := halfOperands(d, x)
	return whole3(dst, src("a"), src("b"), src("c"), k)
}

// halfOperands returns the destination of an operation on 16-bit floats, and a function that
// returns a source.
func halfOperands(d *decoder, x *inst) (dst slot, src func(name string) slot) {
	if x.Type("d").Bits() == 32 {
		return dstOf[uint32](d, x, "d").s, func(name string) slot { return srcOf[uint32](d, x, name).s }
	}
	return dstOf[uint16](d, x, "d").s, func(name string) slot { return srcOf[uint16](d, x, name).s }
}

// halfArith are the sums and products by format: f16 and bf16.
var halfArith = map[string][2]lanes2{
	"add": {addF16Lanes, addBF16Lanes},
	"sub": {subF16Lanes, subBF16Lanes},
	"mul": {mulF16Lanes, mulBF16Lanes},
}

func buildHalfArith(d *decoder, x *inst) exec {
	if isBF16(x) {
		return half2(d, x, halfArith[x.Op.Name][1])
	}
	k := halfArith[x.Op.Name][0]
	if x.Has("ftz") {
		var again func(a, b uint16) uint16
		if x.Op.Name == "mul" {
			again = scalar.MulFtzF16
		}
		k = flushHalves2(k, again)
	}
	if x.Has("sat") {
		k = then2(k, satF16Lanes)
	}
	return half2(d, x, k)
}

func buildHalfFma(d *decoder, x *inst) exec {
	k := fmaF16Lanes
	switch oob := x.Has("oob"); {
	case isBF16(x) && oob:
		k = eachHalf3(scalar.FmaOobBF16)
	case isBF16(x):
		k = fmaBF16Lanes
	case oob:
		k = eachHalf3(scalar.FmaOobF16)
	case x.Has("ftz"):
		k = fmaFtzF16Lanes
	}
	switch {
	case x.Has("sat"):
		k = then3(k, satF16Lanes)
	case x.Has("relu"):
		k = then3(k, reluLanes)
	}
	return half3(d, x, k)
}

// halfSigns are the tables of neg and abs: of f16, of f16 with .ftz, and of bf16.
var halfSigns = map[string][3]func() *halfTable{
	"neg": {tabulate(scalar.NegF16), tabulate(flushed16(scalar.NegF16)), tabulate(scalar.NegBF16)},
	"abs": {tabulate(scalar.AbsF16), tabulate(flushed16(scalar.AbsF16)), tabulate(scalar.AbsBF16)},
}

func flushed16(fn func(a uint16) uint16) func(a uint16) uint16 {
	return func(a uint16) uint16 { return scalar.FtzF16(fn(scalar.FtzF16(a))) }
}

func buildHalfSign(d *decoder, x *inst) exec {
	which := 0
	switch {
	case isBF16(x):
		which = 2
	case x.Has("ftz"):
		which = 1
	}
	return lookUp(d, x, halfSigns[x.Op.Name][which]())
}

// halfExtremes are min and max, without and with .NaN.
var halfExtremes = map[string][2]func(d, a, b *machine.Lanes32, inf uint32){
	"min": {min16Lanes, minNaN16Lanes},
	"max": {max16Lanes, maxNaN16Lanes},
}

func buildHalfExtreme(d *decoder, x *inst) exec {
	inf, nan := uint32(infF16), 0
	if isBF16(x) {
		inf = infBF16
	}
	if x.Has("NaN") {
		nan = 1
	}
	extreme := halfExtremes[x.Op.Name][nan]
	k := func(d, a, b *machine.Lanes32) { extreme(d, a, b, inf) }
	if x.Has("xorsign") {
		k = xorSignHalves(k)
	}
	if x.Has("ftz") {
		k = flushHalves2(k, nil)
	}
	return half2(d, x, k)
}
