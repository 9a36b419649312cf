package isa

import "slices"

var cvtTF32 = inst("d = a rounded to tf32: rna is to nearest, ties away from zero",
	form("cvt.rna{.satfinite}.tf32.f32 =d:tf32, a:f32", sm(80), isa(70), need("satfinite", 80, 81)),
	form("cvt.rnd{.relu}.tf32.f32 =d:tf32, a:f32", rnRz, sm(90), isa(78)))

var rnRz = set("rnd", "rn rz")

var cvtPacked = slices.Concat(
	inst("d = a (high half) and b (low half), rounded; .relu: at least 0, .satfinite: at most the largest finite value",
		form("cvt.rnd{.relu}{.satfinite}.f16x2.f32 =d:f16x2, a:f32, b:f32", rnRz, wider(), sm(80), isa(70), need("satfinite", 80, 81)),
		form("cvt.rnd{.relu}{.satfinite}.bf16x2.f32 =d:bf16x2, a:f32, b:f32", rnRz, sm(80), isa(70), need("satfinite", 80, 81))),
	inst("d = a (high byte) and b (low byte) as fp8, rounded to nearest, clamped to the largest finite value",
		form("cvt.rn.satfinite{.relu}.dtype.f32 =d:dtype, a:f32, b:f32", fp8D, fp8Needs)),
	inst("d = the halves of a as fp8, rounded to nearest, clamped to the largest finite value",
		form("cvt.rn.satfinite{.relu}.dtype.f16x2 =d:dtype, a:f16x2", fp8D, fp8Needs)),
	inst("d = the fp8 values of a as halves, exactly; .relu: at least 0",
		form("cvt.rn{.relu}.f16x2.atype =d:f16x2, a:atype", set("atype", "e4m3x2 e5m2x2"), fp8Needs)),
)

// fp8Needs has two alternatives, because PTX supported the fp8 conversions on sm_90 before it
// supported them on sm_89.
var fp8Needs = options(sm(89), isa(81), or(90, 78))

var fp8D = set("dtype", "e4m3x2 e5m2x2")

var cvtPack = inst("d = a and b clamped to the narrow type, packed with a in the higher place, above what c's low bits give",
	form("cvt.pack.sat.convertType.s32 =d:b32, a:s32, b:s32", set("convertType", "u16 s16"), wider(), sm(72), isa(65)),
	form("cvt.pack.sat.convertType.s32.b32 =d:b32, a:s32, b:s32, c:b32", set("convertType", "u8 s8 u4 s4 u2 s2"),
		wider(), sm(72), isa(65), need("u4 s4 u2 s2", 75, 65)))
