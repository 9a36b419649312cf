package isa

import "slices"

// half lists the arithmetic on 16-bit floats, with one or two of them per register.
var half = &Family{
	Name:  "half",
	Doc:   "f16, bf16 and their packed pairs",
	Forms: slices.Concat(halfSums, halfFma, halfSigns, halfExtremes, halfElementary),
}

var (
	f16s  = set("type", "f16 f16x2")
	bf16s = set("type", "bf16 bf16x2")
)

var halfSums = slices.Concat(
	inst("d = a + b", halfSum("add")...),
	inst("d = a - b", halfSum("sub")...),
	inst("d = a · b", halfSum("mul")...),
)

func halfSum(op string) []*Form {
	return []*Form{
		form(op+"{.rn}{.ftz}{.sat}.type =d, a, b", f16s, sm(53), isa(42)),
		form(op+"{.rn}.type =d, a, b", bf16s, sm(90), isa(78)),
	}
}

var halfFma = inst("d = a · b + c, rounded once; .sat keeps it in [0, 1], .relu at least 0; .oob: 0 where a or b is the out-of-bounds NaN",
	form("fma.rn{.ftz}{.sat}.type =d, a, b, c", f16s, set("sat", "sat relu"), sm(53), isa(42), need("relu", 80, 70)),
	form("fma.rn{.relu}.type =d, a, b, c", bf16s, sm(80), isa(70)),
	form("fma.rn.oob{.relu}.type =d, a, b, c", set("type", "f16 f16x2 bf16 bf16x2"), sm(90), isa(81)))

var halfSigns = slices.Concat(
	inst("d = |a|",
		form("abs{.ftz}.type =d, a", f16s, sm(53), isa(65)),
		form("abs.type =d, a", bf16s, sm(80), isa(70))),
	inst("d = -a",
		form("neg{.ftz}.type =d, a", f16s, sm(53), isa(60)),
		form("neg.type =d, a", bf16s, sm(80), isa(70))),
)

var halfExtremes = slices.Concat(
	inst("d = min(a, b), the number when one is NaN, or with .NaN the NaN; .xorsign.abs: of magnitudes, with the product's sign",
		halfExtreme("min")...),
	inst("d = max(a, b), the number when one is NaN, or with .NaN the NaN; .xorsign.abs: of magnitudes, with the product's sign",
		halfExtreme("max")...),
)

func halfExtreme(op string) []*Form {
	return []*Form{
		form(op+"{.ftz}{.NaN}.type =d, a, b", f16s, sm(80), isa(70)),
		form(op+"{.ftz}{.NaN}.xorsign.abs.type =d, a, b", f16s, sm(86), isa(72)),
		form(op+"{.NaN}.type =d, a, b", bf16s, sm(80), isa(70)),
		form(op+"{.NaN}.xorsign.abs.type =d, a, b", bf16s, sm(86), isa(72)),
	}
}

var halfElementary = slices.Concat(
	inst("d = 2ᵃ",
		form("ex2.approx.type =d, a", f16s, sm(75), isa(70)),
		form("ex2.approx.ftz.type =d, a", bf16s, sm(90), isa(78))),
	inst("d = tanh a",
		form("tanh.approx.type =d, a", f16s, sm(75), isa(70)),
		form("tanh.approx.type =d, a", bf16s, sm(90), isa(78))),
)
