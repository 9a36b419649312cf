package emu

import "testing"

func TestLogic(t *testing.T) {
	h, r, d := [4]int{16, 16, 16, 16}, [4]int{32, 32, 32, 32}, [4]int{64, 64, 64, 64}
	shift16, shift64 := [4]int{16, 16, 32}, [4]int{64, 64, 32}
	pq := "setp.ne.u32 %p, %a, 0; setp.ne.u32 %q, %b, 0; "
	sel := " selp.u32 %d, 1, 0, %p;"
	truth := func(v00, v01, v10, v11 uint64) []row {
		return []row{in2(0, 0, v00), in2(0, 1, v01), in2(1, 0, v10), in2(1, 1, v11)}
	}
	runCases(t, []scalarCase{
		{"and.b16 %d, %a, %b;", h, []row{in2(0xff0f, 0x0ff0, 0x0f00)}},
		{"or.b32 %d, %a, %b;", r, []row{in2(0xf0, 0x0f, 0xff)}},
		{"xor.b64 %d, %a, %b;", d, []row{in2(1<<63|1, 1, 1<<63)}},
		{"not.b16 %d, %a;", h, []row{in1(1, 0xfffe)}},
		{"not.b64 %d, %a;", d, []row{in1(1, 1<<64-2)}},
		{"cnot.b32 %d, %a;", r, []row{in1(0, 1), in1(2, 0)}},
		{pq + "and.pred %p, %p, !%q;" + sel, r, truth(0, 0, 1, 0)},
		{pq + "or.pred %p, !%p, %q;" + sel, r, truth(1, 1, 0, 1)},
		{pq + "xor.pred %p, %p, %q;" + sel, r, truth(0, 1, 1, 0)},
		{pq + "not.pred %p, %p;" + sel, r, truth(1, 1, 0, 0)},
		{"lop3.b32 %d, %a, %b, %c, 0xca;", r, []row{in3(0xff00, 0x1234, 0xabcd, 0x12cd)}},
		{"setp.eq.u32 %q, %c, 1; lop3.or.b32 %d|%p, %a, %b, 0, 0xc0, %q; selp.u32 %d, 1, 0, %p;", r,
			[]row{in3(1, 2, 0, 0), in3(3, 2, 0, 1), in3(1, 2, 1, 1)}},
		{"setp.eq.u32 %q, %c, 1; lop3.and.b32 _|%p, %a, %b, 0, 0xc0, !%q; selp.u32 %d, 1, 0, %p;", r,
			[]row{in3(3, 2, 0, 1), in3(3, 2, 1, 0), in3(1, 2, 0, 0)}},
		{"shl.b16 %d, %a, %b;", shift16, []row{in2(0x8001, 1, 2), in2(1, 16, 0)}},
		{"shl.b32 %d, %a, %b;", r, []row{in2(1, 31, 1<<31), in2(1, 32, 0), in2(1, 0xffffffff, 0)}},
		{"shl.b64 %d, %a, %b;", shift64, []row{in2(1, 63, 1<<63), in2(1, 64, 0)}},
		{"shr.s16 %d, %a, %b;", shift16, []row{in2(0x8000, 15, 0xffff), in2(0x8000, 99, 0xffff), in2(0x7fff, 99, 0)}},
		{"shr.u16 %d, %a, %b;", shift16, []row{in2(0x8000, 15, 1)}},
		{"shr.s32 %d, %a, %b;", r, []row{in2(1<<31, 40, 0xffffffff), in2(8, 2, 2)}},
		{"shr.b32 %d, %a, %b;", r, []row{in2(1<<31, 31, 1), in2(1<<31, 32, 0)}},
		{"shr.s64 %d, %a, %b;", shift64, []row{in2(1<<63, 64, 1<<64-1)}},
		{"shf.l.wrap.b32 %d, %a, %b, %c;", r, []row{in3(0x80000000, 1, 33, 3)}},
		{"shf.r.clamp.b32 %d, %a, %b, %c;", r, []row{in3(1, 0xabc, 40, 0xabc)}},
		{"prmt.b32 %d, %a, %b, 0x7410;", r, []row{in2(0x33221100, 0x77665544, 0x77441100)}},
		{"prmt.b32.ecl %d, %a, %b, %c;", r, []row{in3(0x33221100, 0x77665544, 1, 0x33221111)}},
		{"popc.b64 %d, %a;", [4]int{32, 64}, []row{in1(1<<64-1, 64)}},
		{"clz.b32 %d, %a;", r, []row{in1(0, 32), in1(1, 31)}},
		{"brev.b32 %d, %a;", r, []row{in1(1, 1<<31)}},
		{"bfind.s32 %d, %a;", r, []row{in1(0xffffffff, 0xffffffff), in1(0xfffffffb, 2)}},
		{"bfind.shiftamt.u64 %d, %a;", [4]int{32, 64}, []row{in1(1, 63)}},
		{"fns.b32 %d, %a, %b, %c;", r, []row{in3(0xff, 3, 2, 4), in3(0xff, 3, 0xfffffffe, 2), in3(0, 0, 1, 0xffffffff)}},
		{"bfe.s32 %d, %a, %b, %c;", r, []row{in3(0xf0, 4, 4, 0xffffffff), in3(0x70, 4, 4, 7)}},
		{"bfe.u64 %d, %a, %b, %c;", [4]int{64, 64, 32, 32}, []row{in3(0xabcd<<32, 32, 8, 0xcd)}},
		{"bfi.b32 %d, %a, %b, 4, 8;", r, []row{in2(0x5a, 0xffffffff, 0xfffff5af)}},
		{"bmsk.clamp.b32 %d, %a, %b;", r, []row{in2(4, 8, 0xff0)}},
		{"szext.wrap.s32 %d, %a, %b;", r, []row{in2(0xff, 0x24, 0xffffffff)}},
		{"szext.clamp.u32 %d, %a, %b;", r, []row{in2(0xff, 0x24, 0xff)}},
	})
}
