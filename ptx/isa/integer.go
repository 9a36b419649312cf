package isa

import "slices"

const (
	ints      = "u16 u32 u64 s16 s32 s64"
	intsNoS32 = "u16 u32 u64 s16 s64"
	int32or64 = "u32 s32 u64 s64"
)

// integer lists the integer arithmetic.
var integer = &Family{
	Name:  "integer",
	Doc:   "integer arithmetic and dot products",
	Forms: slices.Concat(sums, products, quotients, extremes, carries, dots),
}

var sums = slices.Concat(
	inst("d = a + b",
		form("add.type =d, a, b", set("type", intsNoS32)),
		form("add{.sat}.s32 =d, a, b"),
		form("add.type =d, a, b", set("type", "u16x2 s16x2"), sm(90), isa(80))),
	inst("d = a - b",
		form("sub.type =d, a, b", set("type", intsNoS32)),
		form("sub{.sat}.s32 =d, a, b")),
	inst("d = |a - b| + c",
		form("sad.type =d, a, b, c", set("type", ints))),
)

var products = slices.Concat(
	inst("d = a · b: the low half, the high half, or all of the product",
		form("mul.mode.type =d, a, b", set("mode", "lo hi"), set("type", ints)),
		form("mul.wide.type =d:wide, a, b", set("type", "u16 u32 s16 s32"))),
	inst("d = a · b + c: with the low half, the high half, or all of the product",
		form("mad.mode.type =d, a, b, c", set("mode", "lo hi"), set("type", intsNoS32)),
		form("mad.lo.s32 =d, a, b, c"),
		form("mad.hi{.sat}.s32 =d, a, b, c"),
		form("mad.wide.type =d:wide, a, b, c:wide", set("type", "u16 u32 s16 s32"))),
	inst("d = a · b of 24-bit values: bits 0 to 31 (lo) or 16 to 47 (hi) of the product",
		form("mul24.mode.type =d, a, b", set("mode", "lo hi"), set("type", "u32 s32"))),
	inst("d = a · b + c of 24-bit a and b: with bits 0 to 31 (lo) or 16 to 47 (hi) of the product",
		form("mad24.mode.u32 =d, a, b, c", set("mode", "lo hi")),
		form("mad24.lo.s32 =d, a, b, c"),
		form("mad24.hi{.sat}.s32 =d, a, b, c")),
)

var quotients = slices.Concat(
	inst("d = a / b, towards zero",
		form("div.type =d, a, b", set("type", ints))),
	inst("d = a mod b, with the sign of a",
		form("rem.type =d, a, b", set("type", ints))),
)

var extremes = slices.Concat(
	inst("d = |a|",
		form("abs.type =d, a", set("type", "s16 s32 s64"))),
	inst("d = -a",
		form("neg.type =d, a", set("type", "s16 s32 s64"))),
	inst("d = min(a, b); with .relu at least 0", smaller("min")...),
	inst("d = max(a, b); with .relu at least 0", smaller("max")...),
)

// smaller returns the integer forms that min and max have in common.
func smaller(op string) []*Form {
	return []*Form{
		form(op+".type =d, a, b", set("type", intsNoS32)),
		form(op+"{.relu}.s32 =d, a, b", need("relu", 90, 80)),
		form(op+".u16x2 =d, a, b", sm(90), isa(80)),
		form(op+"{.relu}.s16x2 =d, a, b", sm(90), isa(80)),
	}
}

// carries lists the instructions that read or write the carry flag CC.CF. PTX has their
// 32-bit forms longer than their 64-bit forms.
var carries = slices.Concat(
	inst("d = a + b, carry out to CC.CF", carry("add.cc.type =d, a, b")),
	inst("d = a + b + CC.CF; with .cc carry out to CC.CF", carry("addc{.cc}.type =d, a, b")),
	inst("d = a - b, borrow out to CC.CF", carry("sub.cc.type =d, a, b")),
	inst("d = a - (b + CC.CF); with .cc borrow out to CC.CF", carry("subc{.cc}.type =d, a, b")),
	inst("d = half of a · b, + c, carry out to CC.CF",
		carry("mad.mode.cc.type =d, a, b, c", set("mode", "lo hi"))),
	inst("d = half of a · b, + c + CC.CF; with .cc carry out to CC.CF",
		carry("madc.mode{.cc}.type =d, a, b, c", set("mode", "lo hi"))),
)

func carry(syntax string, opts ...option) *Form {
	return form(syntax, append(opts, set("type", int32or64), need("u64 s64", 0, 43))...)
}

// dots lists the dot products. The accumulator is unsigned only if both factors are.
var dots = slices.Concat(
	inst("d = c + the dot product of four bytes of a and of b",
		form("dp4a.u32.u32 =d:u32, a:b32, b:b32, c:u32", sm(61), isa(50)),
		form("dp4a.atype.btype =d:s32, a:b32, b:b32, c:s32", set("atype", "u32 s32"), set("btype", "u32 s32"),
			when("atype=u32", "btype=s32"), sm(61), isa(50))),
	inst("d = c + the dot product of two halves of a and two bytes, low or high, of b",
		form("dp2a.mode.u32.u32 =d:u32, a:b32, b:b32, c:u32", set("mode", "lo hi"), sm(61), isa(50)),
		form("dp2a.mode.atype.btype =d:s32, a:b32, b:b32, c:s32", set("mode", "lo hi"), set("atype", "u32 s32"),
			set("btype", "u32 s32"), when("atype=u32", "btype=s32"), sm(61), isa(50))),
)
