package emu

import "testing"

func TestInteger(t *testing.T) {
	const (
		min32 = 0x80000000
		min64 = 1 << 63
		ones  = 1<<64 - 1
	)
	h, r, d := [4]int{16, 16, 16, 16}, [4]int{32, 32, 32, 32}, [4]int{64, 64, 64, 64}
	runCases(t, []scalarCase{
		{"add.u16 %d, %a, %b;", h, []row{in2(0xffff, 2, 1), in2(0x7fff, 1, 0x8000)}},
		{"add.s32 %d, %a, %b;", r, []row{in2(0xffffffff, 2, 1)}},
		{"add.sat.s32 %d, %a, %b;", r, []row{in2(0x7fffffff, 1, 0x7fffffff), in2(min32, 0xffffffff, min32), in2(3, 4, 7)}},
		{"add.u16x2 %d, %a, %b;", r, []row{in2(0x0001ffff, 0x00020001, 0x00030000)}},
		{"sub.s64 %d, %a, %b;", d, []row{in2(0, 1, ones)}},
		{"sub.u16 %d, %a, 1;", h, []row{in1(0, 0xffff)}},
		{"sad.s16 %d, %a, %b, %c;", h, []row{in3(0xfffe, 3, 10, 15), in3(3, 0xfffe, 0xffff, 4)}},
		{"mul.lo.s16 %d, %a, %b;", h, []row{in2(0xffff, 5, 0xfffb)}},
		{"mul.hi.s16 %d, %a, %b;", h, []row{in2(0xffff, 5, 0xffff), in2(0x4000, 4, 1)}},
		{"mul.hi.u32 %d, %a, %b;", r, []row{in2(0xffffffff, 0xffffffff, 0xfffffffe)}},
		{"mul.hi.s64 %d, %a, %b;", d, []row{in2(ones, 5, ones), in2(min64, min64, 1<<62)}},
		{"mul.wide.s16 %d, %a, %b;", [4]int{32, 16, 16}, []row{in2(0xffff, 3, 0xfffffffd)}},
		{"mul.wide.s32 %d, %a, -2;", [4]int{64, 32}, []row{in1(7, ones-13)}},
		{"mul.wide.u32 %d, %a, %b;", [4]int{64, 32, 32}, []row{in2(0xffffffff, 0xffffffff, 0xfffffffe00000001)}},
		{"mad.lo.u32 %d, %a, %b, %c;", r, []row{in3(0x10000, 0x10000, 9, 9), in3(3, 4, 5, 17)}},
		{"mad.hi.s32 %d, %a, %b, %c;", r, []row{in3(0xffffffff, 1, 3, 2)}},
		{"mad.hi.sat.s32 %d, %a, %b, %c;", r, []row{in3(0x40000000, 0x40000000, 0x7fffffff, 0x7fffffff)}},
		{"mad.wide.u16 %d, %a, %b, %c;", [4]int{32, 16, 16, 32}, []row{in3(0xffff, 0xffff, 1, 0xfffe0002)}},
		{"mad.wide.s32 %d, %a, %b, %c;", [4]int{64, 32, 32, 64}, []row{in3(0xffffffff, 2, 1, ones)}},
		{"mul24.lo.s32 %d, %a, %b;", r, []row{in2(0x01ffffff, 3, 0xfffffffd)}},
		{"mad24.hi.u32 %d, %a, %b, %c;", r, []row{in3(0xff800000, 0x200, 1, 0x10001)}},
		{"div.s32 %d, %a, %b;", r, []row{in2(0xfffffff9, 2, 0xfffffffd), in2(min32, 0xffffffff, min32)}},
		{"rem.s64 %d, %a, %b;", d, []row{in2(ones-6, 4, ones-2)}},
		{"rem.u16 %d, %a, %b;", h, []row{in2(0xffff, 0x100, 0xff)}},
		{"abs.s16 %d, %a;", h, []row{in1(0xffff, 1), in1(0x8000, 0x8000)}},
		{"neg.s64 %d, %a;", d, []row{in1(1, ones), in1(min64, min64)}},
		{"min.s16 %d, %a, %b;", h, []row{in2(0xffff, 1, 0xffff)}},
		{"max.u16 %d, %a, %b;", h, []row{in2(0xffff, 1, 0xffff)}},
		{"min.s32 %d, %a, %b;", r, []row{in2(0xffffffff, 1, 0xffffffff)}},
		{"max.relu.s32 %d, %a, %b;", r, []row{in2(0xffffffff, 0xfffffffe, 0), in2(5, 3, 5)}},
		{"min.relu.s16x2 %d, %a, %b;", r, []row{in2(0xffff0007, 0x00010003, 3)}},
		{"max.u16x2 %d, %a, %b;", r, []row{in2(0xffff0007, 0x00010003, 0xffff0007)}},
		{"max.s16x2 %d, %a, %b;", r, []row{in2(0xffff0007, 0x00010003, 0x00010007)}},
		{"dp4a.s32.u32 %d, %a, %b, %c;", r, []row{in3(0xff010203, 0x02040608, 10, 10-2+4+12+24)}},
		{"dp2a.hi.u32.u32 %d, %a, %b, %c;", r, []row{in3(0x00020003, 0x05070000, 1, 1+3*7+2*5)}},
		{"vabsdiff4.u32.u32.u32 %d, %a, %b, %c;", r, []row{in3(0xff010203, 0x02040608, 10, 0xfd030405)}},
		{"vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", r, []row{in3(0xff010203, 0x02040608, 10, 10+0xfd+3+4+5)}},
		{"vabsdiff2.u32.u32.u32 %d, %a, %b, %c;", r, []row{in3(0x00020003, 0xffff0001, 1, 0xfffd0002)}},
		{"vabsdiff2.u32.u32.u32.add %d, %a, %b, %c;", r, []row{in3(0x00020003, 0xffff0001, 1, 1+0xfffd+2)}},
	})
}

// TestCarry adds, subtracts and multiplies 64-bit numbers with 32-bit instructions.
func TestCarry(t *testing.T) {
	split := "{ .reg .b32 al, ah, bl, bh, x, y; mov.b64 {al, ah}, %a; mov.b64 {bl, bh}, %b; "
	join := " mov.b64 %d, {x, y}; }"
	d := [4]int{64, 64, 64}
	a, b := uint64(0xfedcba9876543210), uint64(0x89abcdef8fffffff)
	lo := uint64(uint32(a)) * uint64(uint32(b))
	runCases(t, []scalarCase{
		{split + "add.cc.u32 x, al, bl; addc.u32 y, ah, bh;" + join, d, []row{in2(a, b, a+b), in2(b, a, a+b), in2(1, 2, 3)}},
		{split + "sub.cc.u32 x, al, bl; subc.u32 y, ah, bh;" + join, d, []row{in2(a, b, a-b), in2(b, a, b-a), in2(5, 2, 3)}},
		// The middle words of a product: the carry goes into the next word.
		{split + "mul.lo.u32 x, al, bl; mul.hi.u32 y, al, bl; mad.lo.cc.u32 y, al, bh, y; madc.hi.u32 x, al, bh, 0;" + join, d,
			[]row{in2(a, b, middle(lo, a, b)), in2(b, a, middle(lo, b, a))}},
		{"add.cc.u64 %d, %a, %b; addc.u64 %d, 0, 0;", d, []row{in2(a, b, 1), in2(1, 2, 0)}},
		{"add.cc.s32 %d, %a, %b; addc.cc.s32 %d, %a, %b; addc.s32 %d, 0, 0;", [4]int{32, 32, 32}, []row{in2(0xffffffff, 1, 1), in2(1, 1, 0)}},
	})
}

// middle returns the expected result for products: the second word in the low half, and the
// high half of al·bh with the carry above it.
func middle(lo, a, b uint64) uint64 {
	cross := uint64(uint32(a)) * (b >> 32)
	sum := lo>>32 + uint64(uint32(cross))
	return uint64(uint32(sum))<<32 | uint64(uint32(cross>>32+sum>>32))
}
