package isa

import "slices"

// float lists the single and double precision arithmetic that IEEE 754 defines.
var float = &Family{
	Name:  "float",
	Doc:   "f32 and f64 arithmetic",
	Forms: slices.Concat(floatSums, floatProducts, floatQuotients, floatSigns, floatExtremes),
}

var floatSums = slices.Concat(
	inst("d = a + b",
		form("add{.rnd}{.ftz}{.sat}.f32 =d, a, b"),
		form("add{.rnd}.f64 =d, a, b")),
	inst("d = a - b",
		form("sub{.rnd}{.ftz}{.sat}.f32 =d, a, b"),
		form("sub{.rnd}.f64 =d, a, b")),
)

var floatProducts = slices.Concat(
	inst("d = a · b",
		form("mul{.rnd}{.ftz}{.sat}.f32 =d, a, b"),
		form("mul{.rnd}.f64 =d, a, b")),
	inst("d = a · b + c, rounded once",
		form("fma.rnd{.ftz}{.sat}.f32 =d, a, b, c"),
		form("fma.rnd.f64 =d, a, b, c")),
	inst("d = a · b + c, rounded once: another name of fma",
		form("mad.rnd{.ftz}{.sat}.f32 =d, a, b, c"),
		form("mad.rnd.f64 =d, a, b, c")),
)

var floatQuotients = inst("d = a / b: approx and full are fast, the others round as IEEE 754 asks",
	form("div.mode{.ftz}.f32 =d, a, b", set("mode", "approx full")),
	form("div.rnd{.ftz}.f32 =d, a, b"),
	form("div.rnd.f64 =d, a, b"))

var floatSigns = slices.Concat(
	inst("d = |a|",
		form("abs{.ftz}.f32 =d, a"),
		form("abs.f64 =d, a")),
	inst("d = -a",
		form("neg{.ftz}.f32 =d, a"),
		form("neg.f64 =d, a")),
	inst("d = |b| with the sign of a",
		form("copysign.type =d, a, b", set("type", "f32 f64"))),
	inst("p = a is of this kind",
		form("testp.op.type =p:pred, a", set("op", "finite infinite number notanumber normal subnormal"),
			set("type", "f32 f64"))),
)

var floatExtremes = slices.Concat(
	inst("d = min(a, b), the number when one is NaN, or with .NaN the NaN; .xorsign.abs: of magnitudes, with the product's sign",
		floatExtreme("min")...),
	inst("d = max(a, b), the number when one is NaN, or with .NaN the NaN; .xorsign.abs: of magnitudes, with the product's sign",
		floatExtreme("max")...),
)

func floatExtreme(op string) []*Form {
	return []*Form{
		form(op+"{.ftz}{.NaN}.f32 =d, a, b", need("NaN", 80, 70)),
		form(op+"{.ftz}{.NaN}.xorsign.abs.f32 =d, a, b", sm(86), isa(72)),
		form(op + ".f64 =d, a, b"),
	}
}
