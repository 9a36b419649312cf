package isa

import "slices"

// compare lists the comparisons and selections.
var compare = &Family{
	Name:  "compare",
	Doc:   "comparisons and selections",
	Forms: slices.Concat(setps, setsWords, setsHalves, selects),
}

// The comparisons that each class of types has. Bits can only be compared for equality. lo,
// ls, hi and hs are the names for unsigned integers. The last eight comparisons of floats
// are also true when an operand is NaN.
var (
	bitsCmp     = set("cmp", "eq ne")
	unsignedCmp = set("cmp", "eq ne lt le gt ge lo ls hi hs")
	signedCmp   = set("cmp", "eq ne lt le gt ge")
	floatCmp    = set("cmp", "eq ne lt le gt ge equ neu ltu leu gtu geu num nan")
)

const (
	unsigneds = "u16 u32 u64"
	signeds   = "s16 s32 s64"
)

var setps = slices.Concat(
	inst("p = a cmp b, q = its complement",
		setp("", "p:pred{|q:pred}", "")...),
	inst("p = (a cmp b) bool c, q = !(a cmp b) bool c",
		setp(".bool", "p:pred{|q:pred}", ", c:pred!")...),
)

// setp returns the forms with or without the Boolean operation. For a packed type, p is the
// result of the low half and q the result of the high half.
func setp(boolean, p, c string) []*Form {
	head, tail := "setp.cmp"+boolean, " ="+p+", a, b"+c
	one, pair := " =p:pred, a, b"+c, " =p:pred|q:pred, a, b"+c
	return []*Form{
		form(head+".type"+tail, set("type", bitsTypes), bitsCmp),
		form(head+".type"+tail, set("type", unsigneds), unsignedCmp),
		form(head+".type"+tail, set("type", signeds), signedCmp),
		form(head+"{.ftz}.f32"+tail, floatCmp),
		form(head+".f64"+tail, floatCmp),
		form(head+"{.ftz}.f16"+one, floatCmp, sm(53), isa(42)),
		form(head+"{.ftz}.f16x2"+pair, floatCmp, sm(53), isa(42)),
		form(head+".bf16"+one, floatCmp, sm(90), isa(78)),
		form(head+".bf16x2"+pair, floatCmp, sm(90), isa(78)),
	}
}

const setDoc = "true is all ones, or 1.0 when d is a float"

var setsWords = slices.Concat(
	inst("d = a cmp b: "+setDoc, setWords("", "")...),
	inst("d = (a cmp b) bool c: "+setDoc, setWords(".bool", ", c:pred!")...),
)

func setWords(boolean, c string) []*Form {
	head, tail := "set.cmp"+boolean, " =d:dtype, a:stype, b:stype"+c
	dtype := set("dtype", "u32 s32 f32")
	return []*Form{
		form(head+".dtype.stype"+tail, dtype, set("stype", bitsTypes), bitsCmp),
		form(head+".dtype.stype"+tail, dtype, set("stype", unsigneds), unsignedCmp),
		form(head+".dtype.stype"+tail, dtype, set("stype", signeds), signedCmp),
		form(head+"{.ftz}.dtype.f32 =d:dtype, a:f32, b:f32"+c, dtype, floatCmp),
		form(head+".dtype.f64 =d:dtype, a:f64, b:f64"+c, dtype, floatCmp),
	}
}

var setsHalves = slices.Concat(
	inst("d = a cmp b, by half for a packed type: "+setDoc, setHalves("", "")...),
	inst("d = (a cmp b) bool c, by half for a packed type: "+setDoc, setHalves(".bool", ", c:pred!")...),
)

func setHalves(boolean, c string) []*Form {
	head := "set.cmp" + boolean
	integers, packed := set("dtype", "u16 s16 u32 s32"), set("dtype", "u32 s32")
	operands := func(d, s string) string { return " =d:" + d + ", a:" + s + ", b:" + s + c }
	fs := []*Form{
		form(head+"{.ftz}.f16.f16"+operands("f16", "f16"), floatCmp, sm(53), isa(42)),
		form(head+"{.ftz}.f16.f32"+operands("f16", "f32"), floatCmp, sm(53), isa(42)),
		form(head+"{.ftz}.f16x2.f16x2"+operands("f16x2", "f16x2"), floatCmp, sm(53), isa(42)),
		form(head+"{.ftz}.dtype.f16"+operands("dtype", "f16"), integers, floatCmp, sm(53), isa(65)),
		form(head+"{.ftz}.dtype.f16x2"+operands("dtype", "f16x2"), packed, floatCmp, sm(53), isa(65)),
		form(head+".bf16.bf16"+operands("bf16", "bf16"), floatCmp, sm(90), isa(78)),
		form(head+".bf16x2.bf16x2"+operands("bf16x2", "bf16x2"), floatCmp, sm(90), isa(78)),
		form(head+".dtype.bf16"+operands("dtype", "bf16"), integers, floatCmp, sm(90), isa(78)),
		form(head+".dtype.bf16x2"+operands("dtype", "bf16x2"), packed, floatCmp, sm(90), isa(78)),
	}
	for _, h := range []struct {
		dtype   string
		sm, isa option
	}{{"f16", sm(53), isa(42)}, {"bf16", sm(90), isa(78)}} {
		head, tail := head+"."+h.dtype, operands(h.dtype, "stype")
		fs = append(fs,
			form(head+".stype"+tail, set("stype", bitsTypes), bitsCmp, h.sm, h.isa),
			form(head+".stype"+tail, set("stype", unsigneds), unsignedCmp, h.sm, h.isa),
			form(head+".stype"+tail, set("stype", signeds), signedCmp, h.sm, h.isa),
			form(head+".f64"+operands(h.dtype, "f64"), floatCmp, h.sm, h.isa))
	}
	return append(fs,
		form(head+".bf16.stype"+operands("bf16", "stype"), set("stype", "f16 f32"), floatCmp, sm(90), isa(78)))
}

const wordTypes = bitsTypes + " " + ints + " f32 f64"

var selects = slices.Concat(
	inst("d = c ? a : b",
		form("selp.type =d, a, b, c:pred!", set("type", wordTypes))),
	inst("d = c ≥ 0 ? a : b",
		form("slct.dtype.s32 =d:dtype, a:dtype, b:dtype, c:s32", set("dtype", wordTypes)),
		form("slct{.ftz}.dtype.f32 =d:dtype, a:dtype, b:dtype, c:f32", set("dtype", wordTypes))),
)
