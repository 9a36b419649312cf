package isa

import (
	"slices"
	"strconv"
	"strings"
)

// wgmma lists the asynchronous matrix products of a warpgroup.
var wgmma = &Family{
	Name: "wgmma",
	Doc:  "matrix products of a warpgroup",
	Forms: slices.Concat(
		inst("starts d = a · b + scaleD · d with both factors in shared memory",
			product("shape.f32.f16.f16", "d:f32[N/2]", fromShared, transposes, wgmmaShapes(16)),
			product("shape.f16.f16.f16", "d:f16x2[N/4]", fromShared, transposes, wgmmaShapes(16)),
			product("shape.f32.bf16.bf16", "d:f32[N/2]", fromShared, transposes, wgmmaShapes(16)),
			product("shape.f32.tf32.tf32", "d:f32[N/2]", fromShared, scales, wgmmaShapes(8)),
			product("shape.f32.atype.btype", "d:f32[N/2]", fromShared, scales, wgmmaShapes(32), fp8Types),
			product("shape.f16.atype.btype", "d:f16x2[N/4]", fromShared, scales, wgmmaShapes(32), fp8Types),
			product("shape{.satfinite}.s32.atype.btype", "d:s32[N/2]", fromShared, "", wgmmaIntShapes(32), byteTypes),
			product("shape.s32.b1.b1.and.popc", "d:s32[N/2]", fromShared, "", wgmmaIntShapes(256))),
		inst("starts d = a · b + scaleD · d with a in registers and b in shared memory",
			product("shape.f32.f16.f16", "d:f32[N/2]", "a:f16x2[4]", transposeB, wgmmaShapes(16)),
			product("shape.f16.f16.f16", "d:f16x2[N/4]", "a:f16x2[4]", transposeB, wgmmaShapes(16)),
			product("shape.f32.bf16.bf16", "d:f32[N/2]", "a:bf16x2[4]", transposeB, wgmmaShapes(16)),
			product("shape.f32.tf32.tf32", "d:f32[N/2]", "a:b32[4]", scales, wgmmaShapes(8)),
			product("shape.f32.atype.btype", "d:f32[N/2]", "a:b32[4]", scales, wgmmaShapes(32), fp8Types),
			product("shape.f16.atype.btype", "d:f16x2[N/4]", "a:b32[4]", scales, wgmmaShapes(32), fp8Types),
			product("shape{.satfinite}.s32.atype.btype", "d:s32[N/2]", "a:b32[4]", "", wgmmaIntShapes(32), byteTypes),
			product("shape.s32.b1.b1.and.popc", "d:s32[N/2]", "a:b32[4]", "", wgmmaIntShapes(256))),
		inst("orders register accesses before the products that follow",
			form("wgmma.fence.sync.aligned", smA(90), isa(80))),
		inst("makes the products started so far a group",
			form("wgmma.commit_group.sync.aligned", smA(90), isa(80))),
		inst("waits until at most the N last groups are unfinished",
			form("wgmma.wait_group.sync.aligned N:imm", smA(90), isa(80))),
	),
}

const (
	fromShared = "aDesc:b64"
	scales     = ", immScaleA:imm(-1 1), immScaleB:imm(-1 1)"
	transposes = scales + ", immTransA:imm(0 1), immTransB:imm(0 1)"
	transposeB = scales + ", immTransB:imm(0 1)"
)

var (
	fp8Types  = options(set("atype", "e4m3 e5m2"), set("btype", "e4m3 e5m2"))
	byteTypes = options(set("atype", "s8 u8"), set("btype", "s8 u8"),
		needWhen("atype=s8, btype=u8", 90, 84), needWhen("atype=u8, btype=s8", 90, 84))
)

// product returns a form of wgmma.mma_async. Its arguments are the shape and types, the
// accumulator, the first factor, and the constants at the end.
func product(types, d, a, imms string, opts ...option) *Form {
	syntax := "wgmma.mma_async.sync.aligned." + types + " +" + d + ", " + a + ", bDesc:b64, scaleD:pred!" + imms
	return form(syntax, slices.Concat(opts, []option{smA(90), isa(80)})...)
}

// wgmmaShapes allows the shapes m64nNkK in which N is a multiple of 8 up to 256.
func wgmmaShapes(k int) option {
	return shapes(k, func(n int) bool { return n%8 == 0 })
}

// wgmmaIntShapes allows the shapes of integer products. Above 32, N is a multiple of 16.
func wgmmaIntShapes(k int) option {
	return shapes(k, func(n int) bool { return n%16 == 0 || n == 8 || n == 24 })
}

func shapes(k int, legal func(n int) bool) option {
	var names []string
	for n := 8; n <= 256; n++ {
		if legal(n) {
			names = append(names, "m64n"+strconv.Itoa(n)+"k"+strconv.Itoa(k))
		}
	}
	return set("shape", strings.Join(names, " "))
}
