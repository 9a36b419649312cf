package emu

import "testing"

func TestConvertInt(t *testing.T) {
	h, r, d := [4]int{16, 16}, [4]int{32, 32}, [4]int{64, 64}
	runCases(t, []scalarCase{
		{"cvt.u64.u32 %d, %a;", [4]int{64, 32}, []row{in1(0xffffffff, 0xffffffff)}},
		{"cvt.s64.s32 %d, %a;", [4]int{64, 32}, []row{in1(0xffffffff, 1<<64-1)}},
		{"cvt.u64.s32 %d, %a;", [4]int{64, 32}, []row{in1(0xffffffff, 1<<64-1)}},
		{"cvt.s64.u32 %d, %a;", [4]int{64, 32}, []row{in1(0xffffffff, 0xffffffff)}},
		{"cvt.u32.u64 %d, %a;", [4]int{32, 64}, []row{in1(0x123456789a, 0x3456789a)}},
		{"cvt.s32.s16 %d, %a;", [4]int{32, 16}, []row{in1(0xfffe, 0xfffffffe)}},
		{"cvt.s16.s32 %d, %a;", [4]int{16, 32}, []row{in1(0xfffffffe, 0xfffe)}},
		{"cvt.u16.u64 %d, %a;", [4]int{16, 64}, []row{in1(0x123456789a, 0x789a)}},
		// Registers that are wider than the types.
		{"cvt.s8.s32 %d, %a;", r, []row{in1(0x180, 0xffffff80)}},
		{"cvt.u8.u32 %d, %a;", r, []row{in1(0x180, 0x80)}},
		{"cvt.s8.s8 %d, %a;", h, []row{in1(0x280, 0xff80)}},
		{"cvt.s32.s8 %d, %a;", [4]int{64, 64}, []row{in1(0x180, 1<<64-128)}},
		{"cvt.u32.s8 %d, %a;", [4]int{64, 32}, []row{in1(0x180, 0xffffff80)}},
		{"cvt.sat.u8.s32 %d, %a;", r, []row{in1(300, 255), in1(0xffffffff, 0)}},
		{"cvt.sat.s16.u64 %d, %a;", [4]int{16, 64}, []row{in1(1<<40, 0x7fff)}},
		{"cvt.sat.s8.s16 %d, %a;", h, []row{in1(0x8000, 0xff80)}},
		{"cvt.rni.s32.f32 %d, %a;", r, []row{in1(0x40200000, 2), in1(0x7f800000, 0x7fffffff), in1(0xc0600000, 0xfffffffc), in1(0x7fc00000, 0)}},
		{"cvt.rzi.u32.f32 %d, %a;", r, []row{in1(0xbf800000, 0), in1(0x4f800000, 0xffffffff)}},
		{"cvt.rpi.ftz.s32.f32 %d, %a;", r, []row{in1(1, 0), in1(0x00800000, 1)}},
		{"cvt.rmi.s64.f64 %d, %a;", d, []row{in1(0xbfe0000000000000, 1<<64-1)}},
		{"cvt.rzi.s16.f16 %d, %a;", h, []row{in1(0xc580, 0xfffb)}},
		{"cvt.rni.u16.bf16 %d, %a;", h, []row{in1(0x4020, 2)}},
		{"cvt.rzi.s8.f32 %d, %a;", r, []row{in1(0xc3800000, 0xffffff80)}},
		{"cvt.rn.f32.u32 %d, %a;", r, []row{in1(0xffffffff, 0x4f800000)}},
		{"cvt.rz.f32.u32 %d, %a;", r, []row{in1(0xffffffff, 0x4f7fffff)}},
		{"cvt.rn.f32.s8 %d, %a;", r, []row{in1(0x1ff, 0xbf800000)}},
		{"cvt.rn.sat.f32.s32 %d, %a;", r, []row{in1(7, 0x3f800000), in1(0xffffffff, 0)}},
		{"cvt.rn.f64.s64 %d, %a;", d, []row{in1(1<<64-2, 0xc000000000000000)}},
		{"cvt.rp.f16.u16 %d, %a;", h, []row{in1(2049, 0x6801)}},
		{"cvt.rn.bf16.s32 %d, %a;", [4]int{16, 32}, []row{in1(0xffffffff, 0xbf80)}},
	})
}

func TestConvertFloat(t *testing.T) {
	h, r, d := [4]int{16, 16}, [4]int{32, 32}, [4]int{64, 64}
	two := [4]int{32, 32, 32}
	runCases(t, []scalarCase{
		{"cvt.rni.f32.f32 %d, %a;", r, []row{in1(0x40200000, 0x40000000), in1(0xbe800000, 0x80000000)}},
		{"cvt.rpi.sat.f64.f64 %d, %a;", d, []row{in1(0x3fe0000000000000, 0x3ff0000000000000), in1(0x4010000000000000, 0x3ff0000000000000)}},
		{"cvt.rzi.f16.f16 %d, %a;", h, []row{in1(0x3e00, 0x3c00)}},
		{"cvt.rmi.bf16.bf16 %d, %a;", h, []row{in1(0xbf00, 0xbf80)}},
		{"cvt.f32.f32 %d, %a;", r, []row{in1(1, 1), in1(0x7f800001, 0x7f800001)}},
		{"cvt.ftz.f32.f32 %d, %a;", r, []row{in1(0x80000001, 0x80000000), in1(0x7f800001, 0x7fffffff)}},
		{"cvt.sat.f32.f32 %d, %a;", r, []row{in1(0x40000000, 0x3f800000), in1(0x7fc00000, 0), in1(0x80000000, 0)}},
		{"cvt.f16.f16 %d, %a;", h, []row{in1(0x7e01, 0x7fff), in1(0x8000, 0x8000)}},
		{"cvt.bf16.bf16 %d, %a;", h, []row{in1(0x7fc1, 0x7fff), in1(0x8000, 0x8000), in1(0x8001, 0x8001)}},
		{"cvt.f64.f32 %d, %a;", [4]int{64, 32}, []row{in1(0x3f800000, 0x3ff0000000000000), in1(1, 0x36a0000000000000)}},
		{"cvt.ftz.f64.f32 %d, %a;", [4]int{64, 32}, []row{in1(0x80000001, 1<<63)}},
		{"cvt.f32.f16 %d, %a;", [4]int{32, 16}, []row{in1(1, 0x33800000), in1(0xfc00, 0xff800000)}},
		{"cvt.f32.bf16 %d, %a;", [4]int{32, 16}, []row{in1(0x3f81, 0x3f810000)}},
		{"cvt.ftz.f32.bf16 %d, %a;", [4]int{32, 16}, []row{in1(1, 0)}},
		{"cvt.f64.f16 %d, %a;", [4]int{64, 16}, []row{in1(0x3c00, 0x3ff0000000000000)}},
		{"cvt.rn.f32.f64 %d, %a;", [4]int{32, 64}, []row{in1(0x3ff0000010000001, 0x3f800001), in1(0x3ff0000010000000, 0x3f800000)}},
		{"cvt.rp.ftz.f32.f64 %d, %a;", [4]int{32, 64}, []row{in1(1, 0)}},
		{"cvt.rn.f16.f32 %d, %a;", [4]int{16, 32}, []row{in1(0x3f801000, 0x3c00), in1(0x3f801001, 0x3c01), in1(0x477ff000, 0x7c00)}},
		{"cvt.rz.f16.f32 %d, %a;", [4]int{16, 32}, []row{in1(0x477ff000, 0x7bff)}},
		{"cvt.rn.satfinite.f16.f32 %d, %a;", [4]int{16, 32}, []row{in1(0xff800000, 0xfbff)}},
		{"cvt.rn.relu.bf16.f32 %d, %a;", [4]int{16, 32}, []row{in1(0xbf800000, 0), in1(0x3f808000, 0x3f80), in1(0xffc00000, 0x7fff)}},
		{"cvt.rn.bf16.f16 %d, %a;", h, []row{in1(0x3c00, 0x3f80)}},
		{"cvt.rz.f16.bf16 %d, %a;", h, []row{in1(0x4780, 0x7bff)}},
		{"cvt.rna.tf32.f32 %d, %a;", r, []row{in1(0x3f801000, 0x3f802000), in1(0x3f800fff, 0x3f800000)}},
		{"cvt.rn.relu.tf32.f32 %d, %a;", r, []row{in1(0x3f801000, 0x3f800000), in1(0xbf801000, 0)}},
		{"cvt.rn.f16x2.f32 %d, %a, %b;", two, []row{in2(0x3f800000, 0xc0000000, 0x3c00c000)}},
		{"cvt.rz.relu.satfinite.bf16x2.f32 %d, %a, %b;", two, []row{in2(0x7f800000, 0xc0000000, 0x7f7f0000)}},
		{"cvt.rn.bf16x2.f32 %d, %a, %b;", two, []row{in2(0x3f800000, 0x3f818000, 0x3f803f82)}},
		{"cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", [4]int{16, 32, 32}, []row{in2(0x3f800000, 0x7f800000, 0x387e)}},
		{"cvt.rn.satfinite.relu.e5m2x2.f32 %d, %a, %b;", [4]int{16, 32, 32}, []row{in2(0xbf800000, 0x3f800000, 0x003c)}},
		{"cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;", [4]int{16, 32}, []row{in1(0x3c00c000, 0x38c0)}},
		{"cvt.rn.f16x2.e4m3x2 %d, %a;", [4]int{32, 16}, []row{in1(0x38c0, 0x3c00c000)}},
		{"cvt.rn.relu.f16x2.e5m2x2 %d, %a;", [4]int{32, 16}, []row{in1(0x3cbc, 0x3c000000)}},
		{"cvt.pack.sat.s16.s32 %d, %a, %b;", two, []row{in2(100000, 0xffffffff, 0x7fffffff)}},
		{"cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", [4]int{32, 32, 32, 32}, []row{in3(300, 0xffffffff, 0xabcd1234, 0x1234ff00)}},
		{"cvt.pack.sat.s4.s32.b32 %d, %a, %b, %c;", [4]int{32, 32, 32, 32}, []row{in3(0xffffff00, 3, 0xabcdef, 0xabcdef83)}},
	})
}
