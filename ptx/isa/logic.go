package isa

import "slices"

// logic lists the operations on bits.
var logic = &Family{
	Name:  "logic",
	Doc:   "bitwise logic, shifts, permutes and bit fields",
	Forms: slices.Concat(bitwise, shifts, bitCounts, bitFields),
}

const bitsTypes = "b16 b32 b64"

var bitwise = slices.Concat(
	inst("d = a & b",
		form("and.type =d, a, b", set("type", bitsTypes)),
		form("and.pred =d, a:pred!, b:pred!")),
	inst("d = a | b",
		form("or.type =d, a, b", set("type", bitsTypes)),
		form("or.pred =d, a:pred!, b:pred!")),
	inst("d = a ^ b",
		form("xor.type =d, a, b", set("type", bitsTypes)),
		form("xor.pred =d, a:pred!, b:pred!")),
	inst("d = ~a",
		form("not.type =d, a", set("type", bitsTypes)),
		form("not.pred =d, a:pred!")),
	inst("d = a == 0 ? 1 : 0", form("cnot.type =d, a", set("type", bitsTypes))),
	inst("d = the function of a, b and c whose truth table is immLut; p = (d != 0) bool q",
		form("lop3.b32 =d, a, b, c, immLut:imm(0..255)", sm(50), isa(43)),
		form("lop3.bool.b32 =d|p:pred, a, b, c, immLut:imm(0..255), q:pred!", set("bool", "or and"), sm(70), isa(82))),
)

var shifts = slices.Concat(
	inst("d = a << b; 0 when b exceeds the width",
		form("shl.type =d, a, b:u32", set("type", bitsTypes))),
	inst("d = a >> b, filled with the sign when a is signed",
		form("shr.type =d, a, b:u32", set("type", bitsTypes+" "+ints))),
	inst("d = 32 bits of b:a shifted left (l: its high word) or right (r: its low word) by c",
		form("shf.dir.mode.b32 =d, a, b, c:u32", set("dir", "l r"), set("mode", "clamp wrap"), isa(31))),
	inst("d = four bytes picked from b:a by the selectors in c, or by mode and the low bits of c",
		form("prmt.b32{.mode} =d, a, b, c", set("mode", "f4e b4e rc8 ecl ecr rc16"))),
)

var bitCounts = slices.Concat(
	inst("d = the number of ones in a",
		form("popc.type =d:u32, a", set("type", "b32 b64"))),
	inst("d = the number of zeros before the first one of a",
		form("clz.type =d:u32, a", set("type", "b32 b64"))),
	inst("d = the place of the highest bit of a that is not sign; with .shiftamt the shift that brings it to the top",
		form("bfind{.shiftamt}.type =d:u32, a", set("type", int32or64))),
	inst("d = the place of the offset-th one of mask, counted from bit base",
		form("fns.b32 =d, mask, base, offset:s32", isa(60))),
	inst("d = a with its bits in reverse",
		form("brev.type =d, a", set("type", "b32 b64"))),
)

var bitFields = slices.Concat(
	inst("d = the field of c bits at bit b of a, extended by zeros or by its sign",
		form("bfe.type =d, a, b:u32, c:u32", set("type", int32or64))),
	inst("f = b with its field of d bits at bit c replaced by a",
		form("bfi.type =f, a, b, c:u32, d:u32", set("type", "b32 b64"))),
	inst("d = b ones from bit a",
		form("bmsk.mode.b32 =d, a, b", set("mode", "clamp wrap"), sm(70), isa(76))),
	inst("d = the low b bits of a, extended by zeros or by their sign",
		form("szext.mode.type =d, a, b:u32", set("mode", "clamp wrap"), set("type", "u32 s32"), sm(70), isa(76))),
)
