package emu

import "testing"

func TestFloat(t *testing.T) {
	const (
		one, two, half  = 0x3f800000, 0x40000000, 0x3f000000
		inf, nan, minus = 0x7f800000, 0x7fffffff, 1 << 31
		tiny            = 0x33000000 // 2^-25
		small           = 0x00800000 // the smallest normal
		one64, tiny64   = 0x3ff0000000000000, 0x3c90000000000000
	)
	r, d := [4]int{32, 32, 32, 32}, [4]int{64, 64, 64, 64}
	test := " selp.u32 %d, 1, 0, %p;"
	runCases(t, []scalarCase{
		{"add.f32 %d, %a, %b;", r, []row{in2(one, one, two), in2(inf, inf|minus, nan), in2(0xff812345, one, nan), in2(small, minus|1, small-1)}},
		{"add.rp.f32 %d, %a, %b;", r, []row{in2(one, tiny, one+1)}},
		{"add.rz.ftz.f32 %d, %a, %b;", r, []row{in2(one, 1, one), in2(small, minus|1, small)}},
		{"add.ftz.f32 %d, %a, %b;", r, []row{in2(small+1, minus|small, 0), in2(1, 0, 0)}},
		{"add.sat.f32 %d, %a, %b;", r, []row{in2(one, one, one), in2(one|minus, 0, 0), in2(inf, inf|minus, 0)}},
		{"sub.rm.f32 %d, %a, %b;", r, []row{in2(one, one, minus)}},
		{"sub.ftz.f32 %d, %a, %b;", r, []row{in2(small+1, small, 0)}},
		{"mul.rn.f32 %d, %a, %b;", r, []row{in2(two, half, one), in2(0, inf, nan)}},
		{"mul.ftz.sat.f32 %d, %a, %b;", r, []row{in2(two, two, one), in2(small, half, 0)}},
		{"mul.ftz.f32 %d, %a, %b;", r, []row{in2(0x3f7fffff, small, 0), in2(0x3f800000, small, small)}},
		{"mul.f64 %d, %a, %b;", d, []row{in2(one64, one64, one64)}},
		{"add.rp.f64 %d, %a, %b;", d, []row{in2(one64, tiny64, one64+1)}},
		{"sub.rn.f64 %d, %a, %b;", d, []row{in2(one64, tiny64, one64)}},
		// one product and one rounding: the sum of rounded products differs
		{"fma.rn.f32 %d, %a, %b, %c;", r, []row{
			in3(0x3f800001, 0x3f800001, minus|0x3f800002, 0x28800000), in3(one, one, one, two), in3(0, inf, one, nan),
			in3(0, one, 0, 0), in3(small, half, 0, 0x00400000), in3(0x3f800000, 0x3f800000, 0x33800000, 0x3f800000),
			in3(0x39800001, 0x397ffffe, 0x3f800001, 0x3f800001), // just below the tie; in f64 it is the tie
		}},
		{"fma.rn.ftz.f32 %d, %a, %b, %c;", r, []row{in3(small, half, 0, 0), in3(1, one, one, one), in3(two, two, one, 0x40a00000)}},
		{"fma.rz.sat.f32 %d, %a, %b, %c;", r, []row{in3(two, two, one, one), in3(one, half, tiny, half)}},
		{"mad.rn.f32 %d, %a, %b, %c;", r, []row{in3(two, two, one, 0x40a00000)}},
		{"fma.rp.f64 %d, %a, %b, %c;", d, []row{in3(one64, one64, tiny64, one64+1)}},
		{"div.rn.f32 %d, %a, %b;", r, []row{in2(one, 0x40400000, 0x3eaaaaab), in2(one, 0, inf), in2(0, 0, nan)}},
		{"div.rz.ftz.f32 %d, %a, %b;", r, []row{in2(one, 0x40400000, 0x3eaaaaaa), in2(one, 1, inf)}},
		{"div.rm.f64 %d, %a, %b;", d, []row{in2(one64, 0x4008000000000000, 0x3fd5555555555555)}},
		{"div.full.f32 %d, %a, %b;", r, []row{in2(two, two, one), in2(0x7f000000, 0x7f000000, one), in2(4, 2, two)}},
		{"div.approx.f32 %d, %a, %b;", r, []row{in2(two, two, one), in2(0x7f000000, 0x7f000000, 0), in2(4, 2, two)}},
		{"div.approx.ftz.f32 %d, %a, %b;", r, []row{in2(two, two, one), in2(4, 2, nan)}},
		{"abs.f32 %d, %a;", r, []row{in1(one|minus, one)}},
		{"abs.ftz.f32 %d, %a;", r, []row{in1(minus|1, 0)}},
		{"neg.f64 %d, %a;", d, []row{in1(0, 1<<63)}},
		{"copysign.f32 %d, %a, %b;", r, []row{in2(minus, two, two|minus)}},
		{"min.f32 %d, %a, %b;", r, []row{in2(0, minus, minus), in2(0x7fc00000, one, one), in2(two, one, one)}},
		{"max.NaN.f32 %d, %a, %b;", r, []row{in2(one, 0x7fc00000, nan), in2(one, two, two)}},
		{"max.ftz.f32 %d, %a, %b;", r, []row{in2(1, minus|1, 0)}},
		{"min.xorsign.abs.f32 %d, %a, %b;", r, []row{in2(one|minus, two, one|minus), in2(two|minus, one|minus, one)}},
		{"max.f64 %d, %a, %b;", d, []row{in2(one64, 1<<63|one64, one64)}},
		{"testp.subnormal.f32 %p, %a;" + test, r, []row{in1(1, 1), in1(small, 0)}},
		{"testp.normal.f32 %p, %a;" + test, r, []row{in1(1, 0), in1(one, 1), in1(inf, 0)}},
		{"testp.notanumber.f64 %p, %a; selp.u64 %d, 1, 0, %p;", d, []row{in1(1<<64-1, 1), in1(0, 0)}},
		{"rcp.rn.f32 %d, %a;", r, []row{in1(0x40400000, 0x3eaaaaab)}},
		{"rcp.rp.f64 %d, %a;", d, []row{in1(0x4008000000000000, 0x3fd5555555555556)}},
		{"rcp.approx.ftz.f32 %d, %a;", r, []row{in1(two, half), in1(1, inf)}},
		{"rcp.approx.ftz.f64 %d, %a;", d, []row{in1(0x4000000000000001, 0x3fe0000000000000), in1(1, 0x7ff0000000000000)}},
		{"sqrt.rn.f32 %d, %a;", r, []row{in1(two, 0x3fb504f3), in1(one|minus, nan)}},
		{"sqrt.rp.ftz.f32 %d, %a;", r, []row{in1(two, 0x3fb504f4), in1(1, 0)}},
		{"sqrt.approx.f32 %d, %a;", r, []row{in1(0x40800000, two)}},
		{"rsqrt.approx.ftz.f32 %d, %a;", r, []row{in1(0x40800000, half)}},
		{"rsqrt.approx.f64 %d, %a;", d, []row{in1(0x4010000000000000, 0x3fe0000000000000), in1(1<<63, 0xfff0000000000000)}},
		{"ex2.approx.ftz.f32 %d, %a;", r, []row{in1(two, 0x40800000), in1(minus|inf, 0)}},
		{"lg2.approx.f32 %d, %a;", r, []row{in1(two, one), in1(0, inf|minus)}},
		{"sin.approx.f32 %d, %a;", r, []row{in1(0, 0)}},
		{"cos.approx.ftz.f32 %d, %a;", r, []row{in1(0, one)}},
		{"tanh.approx.f32 %d, %a;", r, []row{in1(inf|minus, one|minus), in1(0, 0)}},
	})
}

func TestHalf(t *testing.T) {
	const one, two, minus, nan = 0x3c00, 0x4000, 0x8000, 0x7fff
	h, r := [4]int{16, 16, 16, 16}, [4]int{32, 32, 32, 32}
	runCases(t, []scalarCase{
		{"add.f16 %d, %a, %b;", h, []row{in2(one, one, two), in2(0x7c00, 0xfc00, nan)}},
		{"add.ftz.f16 %d, %a, %b;", h, []row{in2(0x401, minus|0x400, 0)}},
		{"add.sat.f16x2 %d, %a, %b;", r, []row{in2(0x3c00bc00, 0x3c000000, 0x3c000000)}},
		{"sub.bf16 %d, %a, %b;", h, []row{in2(0x3f80, 0x4000, 0xbf80)}},
		{"mul.bf16x2 %d, %a, %b;", r, []row{in2(0x3f804000, 0x40004000, 0x40004080)}},
		{"mul.f16x2 %d, %a, %b;", r, []row{in2(0x3c004000, 0x40004000, 0x40004400)}},
		{"fma.rn.f16 %d, %a, %b, %c;", h, []row{in3(0x3c01, 0x3c01, 0xbc02, 0x0010), in3(one, one, one, two)}},
		{"fma.rn.ftz.sat.f16 %d, %a, %b, %c;", h, []row{in3(two, two, one, one), in3(1, one, 0, 0)}},
		{"fma.rn.relu.f16x2 %d, %a, %b, %c;", r, []row{in3(0x3c00bc00, 0x3c003c00, 0, 0x3c000000)}},
		{"fma.rn.bf16x2 %d, %a, %b, %c;", r, []row{in3(0x3f803f80, 0x40003f80, 0x3f800000, 0x40403f80)}},
		{"fma.rn.oob.f16 %d, %a, %b, %c;", h, []row{in3(0xfff7, one, one, 0), in3(0x7fff, one, one, nan)}},
		{"fma.rn.oob.relu.bf16 %d, %a, %b, %c;", h, []row{in3(0x3f80, 0xbf80, 0, 0), in3(0x3f80, 0xfff7, 0x3f80, 0)}},
		{"abs.f16x2 %d, %a;", r, []row{in1(0xbc00c000, 0x3c004000)}},
		{"neg.bf16 %d, %a;", h, []row{in1(0, 0x8000)}},
		{"neg.ftz.f16 %d, %a;", h, []row{in1(1, 0x8000)}},
		{"min.f16 %d, %a, %b;", h, []row{in2(0x7e00, one, one), in2(0, minus, minus)}},
		{"max.NaN.bf16x2 %d, %a, %b;", r, []row{in2(0x7fc03f80, 0x3f804000, 0x7fff4000)}},
		{"max.NaN.xorsign.abs.f16x2 %d, %a, %b;", r, []row{in2(0xbc003c00, 0x40004000, 0xc0004000)}},
		{"ex2.approx.f16x2 %d, %a;", r, []row{in1(0x3c004000, 0x40004400)}},
		{"ex2.approx.ftz.bf16 %d, %a;", h, []row{in1(0x3f80, 0x4000), in1(1, 0x3f80)}},
		{"tanh.approx.bf16x2 %d, %a;", r, []row{in1(0xff800000, 0xbf800000)}},
	})
}
