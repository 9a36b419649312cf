package isa

import "slices"

// convert lists the forms of cvt. They are grouped by the kinds of the two types, because
// the kinds decide which rounding modes are legal.
var convert = &Family{
	Name:  "convert",
	Doc:   "conversions between types",
	Forms: slices.Concat(cvtIntegers, cvtFloats, cvtTF32, cvtPacked, cvtPack),
}

const cvtInts = "u8 u16 u32 u64 s8 s16 s32 s64"

var (
	intD = set("dtype", cvtInts)
	intA = set("atype", cvtInts)
)

// cvtIntegers has .sat only where the source has values that the destination cannot hold.
var cvtIntegers = slices.Concat(
	inst("d = a as another integer: extended, cut, or with .sat clamped",
		form("cvt{.sat}.dtype.atype =d:dtype, a:atype", intD, intA, wider(),
			when("sat=sat, atype=u8", "dtype=s8"),
			when("sat=sat, atype=u16", "dtype=u8 s8 s16"),
			when("sat=sat, atype=u32", "dtype=u8 u16 s8 s16 s32"),
			when("sat=sat, atype=u64", "dtype=u8 u16 u32 s8 s16 s32 s64"),
			when("sat=sat, atype=s8", "dtype=u8 u16 u32 u64"),
			when("sat=sat, atype=s16", "dtype=u8 u16 u32 u64 s8"),
			when("sat=sat, atype=s32", "dtype=u8 u16 u32 u64 s8 s16"),
			when("sat=sat, atype=s64", "dtype=u8 u16 u32 u64 s8 s16 s32"))),
	inst("d = a rounded to an integer and clamped to the range of d",
		form("cvt.irnd{.ftz}{.sat}.dtype.f32 =d:dtype, a:f32", intD, wider()),
		form("cvt.irnd{.sat}.dtype.atype =d:dtype, a:atype", intD, set("atype", "f16 f64"), wider()),
		form("cvt.irnd.dtype.bf16 =d:dtype, a:bf16", set("dtype", ints), sm(90), isa(78))),
	inst("d = a as a float; with .sat in [0, 1]",
		form("cvt.rnd{.ftz}{.sat}.f32.atype =d:f32, a:atype", intA, wider()),
		form("cvt.rnd{.sat}.dtype.atype =d:dtype, a:atype", set("dtype", "f16 f64"), intA, wider()),
		form("cvt.rnd.bf16.atype =d:bf16, a:atype", set("atype", ints), sm(90), isa(78))),
)

// cvtFloats has a rounding mode only for conversions that lose precision, and .ftz only for
// conversions from or to f32. Registers for the alternate formats must have exactly the size
// of the format.
var cvtFloats = slices.Concat(
	inst("d = a rounded to an integer, still a float",
		form("cvt.irnd{.ftz}{.sat}.f32.f32 =d, a", wider()),
		form("cvt.irnd{.sat}.f64.f64 =d, a", wider()),
		form("cvt.irnd{.sat}.f16.f16 =d, a", wider()),
		form("cvt.irnd.bf16.bf16 =d, a", sm(90), isa(78))),
	inst("d = a; with .ftz a subnormal becomes 0, with .sat d is in [0, 1]",
		form("cvt{.ftz}{.sat}.f32.f32 =d, a", wider()),
		form("cvt{.sat}.f64.f64 =d, a", wider()),
		form("cvt{.sat}.f16.f16 =d, a", wider()),
		form("cvt.bf16.bf16 =d, a", sm(90), isa(78))),
	inst("d = a in a wider format",
		form("cvt{.ftz}{.sat}.f64.f32 =d:f64, a:f32", wider()),
		form("cvt{.ftz}{.sat}.f32.f16 =d:f32, a:f16", wider()),
		form("cvt{.sat}.f64.f16 =d:f64, a:f16", wider()),
		form("cvt{.rnd}{.ftz}.f32.bf16 =d:f32, a:bf16", sm(80), isa(71), need("ftz", 90, 78)),
		form("cvt{.rnd}.f64.bf16 =d:f64, a:bf16", sm(90), isa(78))),
	inst("d = a rounded to a narrower format; .sat: in [0, 1], .relu: at least 0, .satfinite: at most the largest finite value",
		form("cvt.rnd{.ftz}{.sat}.f32.f64 =d:f32, a:f64", wider()),
		form("cvt.rnd{.ftz}{.sat}{.relu}{.satfinite}.f16.f32 =d:f16, a:f32", wider(), reluSatfinite,
			when("relu=relu", "sat=-"), when("satfinite=satfinite", "sat=-")),
		form("cvt.rnd{.sat}.f16.f64 =d:f16, a:f64", wider()),
		form("cvt.rnd{.ftz}{.relu}{.satfinite}.bf16.f32 =d:bf16, a:f32", sm(80), isa(70), reluSatfinite),
		form("cvt.rnd.bf16.f64 =d:bf16, a:f64", sm(90), isa(78)),
		form("cvt.rnd.bf16.f16 =d:bf16, a:f16", sm(90), isa(78)),
		form("cvt.rnd.f16.bf16 =d:f16, a:bf16", sm(90), isa(78))),
)

// reluSatfinite holds the modifiers of the conversions for tensor cores. These conversions
// round to nearest or towards zero and keep subnormals.
var reluSatfinite = options(
	need("relu", 80, 70), need("satfinite", 80, 81),
	when("relu=relu", "rnd=rn rz"), when("relu=relu", "ftz=-"),
	when("satfinite=satfinite", "rnd=rn rz"), when("satfinite=satfinite", "ftz=-"))
