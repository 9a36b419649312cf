package isa

import "slices"

// matrix lists the instructions that move 8x8 matrices between shared memory and the
// registers of a warp, and those that multiply fragments.
var matrix = &Family{
	Name: "matrix",
	Doc:  "matrix fragments and products of a warp",
	Forms: slices.Concat(
		inst("r = one, two or four 8x8 matrices; each lane gives the address of a row",
			form("ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 =r:b32[num], [p]", matrices, sm(75), isa(65))),
		inst("stores one, two or four 8x8 matrices; each lane gives the address of a row",
			form("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16 [p], r:b32[num]", matrices, sm(90), isa(78))),
		inst("d = the transpose of an 8x8 matrix",
			form("movmatrix.sync.aligned.m8n8.trans.b16 =d:b32, a:b32", sm(75), isa(78))),
		inst("d = a · b + c", slices.Concat(mmaHalf(), mmaFloat(), mmaInteger())...),
	),
}

var matrices = options(set("num", "x1 x2 x4"), set("ss", "shared shared::cta"))

// mmaHalf returns the products of f16 factors.
func mmaHalf() []*Form {
	quad := options(set("alayout", "row col"), set("blayout", "row col"), sm(70), isa(64))
	return []*Form{
		form("mma.sync.aligned.m8n8k4.alayout.blayout.f16.f16.f16.f16 =d:f16x2[4], a:f16x2[2], b:f16x2[2], c:f16x2[4]", quad),
		form("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f16 =d:f32[8], a:f16x2[2], b:f16x2[2], c:f16x2[4]", quad),
		form("mma.sync.aligned.m8n8k4.alayout.blayout.f32.f16.f16.f32 =d:f32[8], a:f16x2[2], b:f16x2[2], c:f32[8]", quad),
		form("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 =d:f16x2[2], a:f16x2[2], b:f16x2[1], c:f16x2[2]", sm(75), isa(65)),
		form("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 =d:f32[4], a:f16x2[2], b:f16x2[1], c:f32[4]", sm(75), isa(65)),
		form("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 =d:f16x2[2], a:f16x2[4], b:f16x2[2], c:f16x2[2]", sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 =d:f32[4], a:f16x2[4], b:f16x2[2], c:f32[4]", sm(80), isa(70)),
	}
}

// mmaFloat returns the products of other floating-point factors.
func mmaFloat() []*Form {
	fp8 := options(set("atype", "e4m3 e5m2"), set("btype", "e4m3 e5m2"), sm(89))
	return []*Form{
		form("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 =d:f32[4], a:bf16x2[2], b:bf16x2[1], c:f32[4]", sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 =d:f32[4], a:bf16x2[4], b:bf16x2[2], c:f32[4]", sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 =d:f32[4], a:b32[2], b:b32[1], c:f32[4]", sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 =d:f32[4], a:b32[4], b:b32[2], c:f32[4]", sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k32.row.col.f32.atype.btype.f32 =d:f32[4], a:b32[4], b:b32[2], c:f32[4]", fp8, isa(84)),
		form("mma.sync.aligned.m16n8k32.row.col.f16.atype.btype.f16 =d:f16x2[2], a:b32[4], b:b32[2], c:f16x2[2]", fp8, isa(87)),
		form("mma.sync.aligned.m16n8k16.row.col.f32.atype.btype.f32 =d:f32[4], a:b32[2], b:b32[1], c:f32[4]", fp8, isa(87)),
		form("mma.sync.aligned.m16n8k16.row.col.f16.atype.btype.f16 =d:f16x2[2], a:b32[2], b:b32[1], c:f16x2[2]", fp8, isa(87)),
		form("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64{.rnd} =d:f64[2], a:f64[1], b:f64[1], c:f64[2]", sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64{.rnd} =d:f64[4], a:f64[2], b:f64[1], c:f64[4]", sm(90), isa(78)),
		form("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64{.rnd} =d:f64[4], a:f64[4], b:f64[2], c:f64[4]", sm(90), isa(78)),
		form("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64{.rnd} =d:f64[4], a:f64[8], b:f64[4], c:f64[4]", sm(90), isa(78)),
	}
}

// mmaInteger returns the products of integers and of single bits.
func mmaInteger() []*Form {
	bytes := options(set("atype", "u8 s8"), set("btype", "u8 s8"))
	nibbles := options(set("atype", "u4 s4"), set("btype", "u4 s4"))
	bits := options(set("bitOp", "xor and"), need("and", 80, 71))
	return []*Form{
		form("mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32.atype.btype.s32 =d:s32[2], a:b32[1], b:b32[1], c:s32[2]", bytes, sm(75), isa(65)),
		form("mma.sync.aligned.m16n8k16.row.col{.satfinite}.s32.atype.btype.s32 =d:s32[4], a:b32[2], b:b32[1], c:s32[4]", bytes, sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32 =d:s32[4], a:b32[4], b:b32[2], c:s32[4]", bytes, sm(80), isa(70)),
		form("mma.sync.aligned.m8n8k32.row.col{.satfinite}.s32.atype.btype.s32 =d:s32[2], a:b32[1], b:b32[1], c:s32[2]", nibbles, sm(75), isa(65)),
		form("mma.sync.aligned.m16n8k32.row.col{.satfinite}.s32.atype.btype.s32 =d:s32[4], a:b32[2], b:b32[1], c:s32[4]", nibbles, sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k64.row.col{.satfinite}.s32.atype.btype.s32 =d:s32[4], a:b32[4], b:b32[2], c:s32[4]", nibbles, sm(80), isa(70)),
		form("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.bitOp.popc =d:s32[2], a:b32[1], b:b32[1], c:s32[2]", bits, sm(75), isa(70)),
		form("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.bitOp.popc =d:s32[4], a:b32[2], b:b32[1], c:s32[4]", bits, sm(80), isa(70)),
		form("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.bitOp.popc =d:s32[4], a:b32[4], b:b32[2], c:s32[4]", bits, sm(80), isa(70)),
	}
}
