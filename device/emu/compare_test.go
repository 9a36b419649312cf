package emu

import (
	"fmt"
	"testing"
)

// TestSetpF32 tests every operator, with NaN and both zeros among the operands.
func TestSetpF32(t *testing.T) {
	const one, two, nan, negZero32 = 0x3f800000, 0x40000000, 0x7fc00000, 0x80000000
	pairs := [][2]uint64{{one, two}, {one, one}, {two, one}, {one, nan}, {nan, nan}, {0, negZero32}}
	for op, want := range map[string]string{
		"eq": "010001", "ne": "101000", "lt": "100000", "le": "110001", "gt": "001000", "ge": "011001",
		"equ": "010111", "neu": "101110", "ltu": "100110", "leu": "110111", "gtu": "001110", "geu": "011111",
		"num": "111001", "nan": "000110",
	} {
		for _, mod := range []string{"", ".ftz"} {
			c := scalarCase{text: fmt.Sprintf("setp.%s%s.f32 %%p, %%a, %%b; selp.u32 %%d, 1, 0, %%p;", op, mod), regs: [4]int{32, 32, 32}}
			for i, p := range pairs {
				c.rows = append(c.rows, in2(p[0], p[1], uint64(want[i]-'0')))
			}
			c.run(t)
		}
	}
}

// TestSetpInt compares small, large and negative numbers of every type.
func TestSetpInt(t *testing.T) {
	for _, bits := range []int{16, 32, 64} {
		minus := uint64(1)<<bits - 1
		for op, want := range map[string]string{ // (1, 2) (1, 1) (2, 1) (-1, 1)
			"eq.b": "0100", "ne.b": "1011", "lt.u": "1000", "le.u": "1100", "gt.u": "0011", "ge.u": "0111",
			"lo.u": "1000", "ls.u": "1100", "hi.u": "0011", "hs.u": "0111",
			"eq.s": "0100", "ne.s": "1011", "lt.s": "1001", "le.s": "1101", "gt.s": "0010", "ge.s": "0110",
		} {
			c := scalarCase{text: fmt.Sprintf("setp.%s%d %%p, %%a, %%b; selp.u32 %%d, 1, 0, %%p;", op, bits), regs: [4]int{32, bits, bits}}
			for i, p := range [][2]uint64{{1, 2}, {1, 1}, {2, 1}, {minus, 1}} {
				c.rows = append(c.rows, in2(p[0], p[1], uint64(want[i]-'0')))
			}
			c.run(t)
		}
	}
}

func TestCompare(t *testing.T) {
	h, r, d := [4]int{16, 16, 16}, [4]int{32, 32, 32, 32}, [4]int{64, 64, 64, 64}
	both := " selp.u32 %d, 1, 0, %p; @%q add.u32 %d, %d, 2;"
	q := "setp.ne.u32 %q, %c, 0; "
	runCases(t, []scalarCase{
		{"setp.lt.u32 %p|%q, %a, %b;" + both, r, []row{in2(1, 2, 1), in2(2, 1, 2)}},
		{q + "setp.lt.and.u32 %p|%q, %a, %b, %q;" + both, r, []row{in3(1, 2, 1, 1), in3(2, 1, 1, 2), in3(1, 2, 0, 0)}},
		{q + "setp.lt.or.s32 %p|%q, %a, %b, !%q;" + both, r, []row{in3(1, 2, 1, 1), in3(2, 1, 1, 2), in3(1, 2, 0, 3)}},
		{q + "setp.lt.xor.s32 %p|%q, %a, %b, %q;" + both, r, []row{in3(1, 2, 1, 2), in3(2, 1, 1, 1), in3(1, 2, 0, 1)}},
		{q + "setp.eq.and.b64 %p, %a, %b, !%q; selp.u64 %d, 1, 0, %p;", [4]int{64, 64, 64, 32}, []row{in3(7, 7, 0, 1), in3(7, 7, 1, 0)}},
		{"setp.eq.f16x2 %p|%q, %a, %b;" + both, r, []row{in2(0x3c004000, 0x3c003c00, 2), in2(0x3c004000, 0x40004000, 1)}},
		{"setp.gtu.bf16x2 %p|%q, %a, %b;" + both, r, []row{in2(0x7fff3f80, 0x3f803f80, 2)}},
		{"setp.lt.ftz.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", r, []row{in2(0x80000001, 0, 0), in2(0x80800000, 0, 1)}},
		{"setp.ge.f64 %p, %a, %b; selp.u64 %d, 1, 0, %p;", d, []row{in2(0x3ff0000000000000, 0x3fe0000000000000, 1)}},
		{"set.lt.u32.s16 %d, %a, %b;", [4]int{32, 16, 16}, []row{in2(0xffff, 0, 0xffffffff), in2(0, 0, 0)}},
		{"set.lt.f32.u16 %d, %a, %b;", [4]int{32, 16, 16}, []row{in2(0xffff, 0, 0), in2(0, 1, 0x3f800000)}},
		{"set.eq.f16.f16 %d, %a, %b;", h, []row{in2(0x8000, 0, 0x3c00), in2(0x7e00, 0x7e00, 0)}},
		{"set.ne.u16.bf16 %d, %a, %b;", h, []row{in2(0x3f80, 0x4000, 0xffff), in2(0x3f80, 0x3f80, 0)}},
		{"set.lt.f16x2.f16x2 %d, %a, %b;", r, []row{in2(0x3c004000, 0x40003c00, 0x3c000000)}},
		{"set.lt.bf16x2.bf16x2 %d, %a, %b;", r, []row{in2(0x40003f80, 0x3f804000, 0x3f80)}},
		{"set.lt.s32.f16x2 %d, %a, %b;", r, []row{in2(0x3c004000, 0x40003c00, 0xffff0000)}},
		{q + "set.lt.xor.u32.f64 %d, %a, %b, %q;", [4]int{32, 64, 64, 32}, []row{in3(0, 0x3ff0000000000000, 0, 0xffffffff), in3(0, 0x3ff0000000000000, 1, 0)}},
		{q + "selp.b64 %d, %a, %b, !%q;", [4]int{64, 64, 64, 32}, []row{in3(5, 6, 0, 5), in3(5, 6, 1, 6)}},
		{q + "selp.s16 %d, %a, %b, %q;", [4]int{16, 16, 16, 32}, []row{in3(0xffff, 6, 1, 0xffff)}},
		{"slct.u32.s32 %d, %a, %b, %c;", r, []row{in3(5, 6, 0, 5), in3(5, 6, 0xffffffff, 6)}},
		{"slct.f64.f32 %d, %a, %b, %c;", [4]int{64, 64, 64, 32}, []row{in3(5, 6, 0x80000000, 5), in3(5, 6, 0x80000001, 6), in3(5, 6, 0x7fc00000, 6)}},
		{"slct.ftz.b16.f32 %d, %a, %b, %c;", [4]int{16, 16, 16, 32}, []row{in3(5, 6, 0x80000001, 5)}},
	})
}
