package isa

import "slices"

// approx lists the approximate functions of the special function units, and the exact
// instructions that share their opcodes.
var approx = &Family{
	Name:  "approx",
	Doc:   "reciprocals, roots and elementary functions of f32 and f64",
	Forms: slices.Concat(reciprocals, roots, elementary),
}

var reciprocals = inst("d = 1 / a",
	form("rcp.approx{.ftz}.f32 =d, a"),
	form("rcp.rnd{.ftz}.f32 =d, a"),
	form("rcp.rnd.f64 =d, a"),
	form("rcp.approx.ftz.f64 =d, a"))

var roots = slices.Concat(
	inst("d = √a",
		form("sqrt.approx{.ftz}.f32 =d, a"),
		form("sqrt.rnd{.ftz}.f32 =d, a"),
		form("sqrt.rnd.f64 =d, a")),
	inst("d = 1 / √a",
		form("rsqrt.approx{.ftz}.f32 =d, a"),
		form("rsqrt.approx{.ftz}.f64 =d, a")),
)

var elementary = slices.Concat(
	inst("d = sin a", form("sin.approx{.ftz}.f32 =d, a")),
	inst("d = cos a", form("cos.approx{.ftz}.f32 =d, a")),
	inst("d = log₂ a", form("lg2.approx{.ftz}.f32 =d, a")),
	inst("d = 2ᵃ", form("ex2.approx{.ftz}.f32 =d, a")),
	inst("d = tanh a", form("tanh.approx.f32 =d, a", sm(75), isa(70))),
)
