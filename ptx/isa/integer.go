package isa

import "slices"

// integer is whole-number arithmetic.
var integer = &Family{
	Name: "integer",
	Doc:  "integer arithmetic, bit fields and dot products",
	Forms: slices.Concat(
		inst("d = a + b",
			form("add.type =d, a, b", set("type", "u16 u32 u64 s16 s64")),
			form("add{.sat}.s32 =d, a, b"),
			form("add.type =d, a, b", set("type", "u16x2 s16x2"), sm(90), isa(80))),
		inst("d = a · b, the low or high half or all of the product",
			form("mul.mode.type =d, a, b", set("mode", "lo hi"), set("type", "u16 u32 u64 s16 s32 s64")),
			form("mul.wide.type =d:wide, a, b", set("type", "u16 u32 s16 s32"))),
	),
}
