package isa

import "slices"

// scaled lists the products of a warp with narrow factors, with and without a scale for each block of
// elements.
var scaled = &Family{
	Name:     "scaled",
	Doc:      "products of a warp with factors of 4, 6 and 8 bits and scales",
	Forms:    slices.Concat(inst("d = a · b + c with narrow factors", narrowProducts()...), inst("d = a · b + c with narrow factors and scales", scaledProducts()...)),
	ReadOnly: true,
}

var (
	narrowFactors = options(set("atype", "e4m3 e5m2 e3m2 e2m3 e2m1"), set("btype", "e4m3 e5m2 e3m2 e2m3 e2m1"), inFamilies(87, 120))
	scaleTypes    = options(inFamilies(87, 120))
)

// scales are the operands with the scales of a and b: the words of the lane, and which of its bytes
// and which lanes of four hold them.
const scaleOperands = ", scaleA:b32, idA:u16[2], scaleB:b32, idB:u16[2]"

func narrowProducts() []*Form {
	return []*Form{
		form("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.atype.btype.f32 =d:f32[4], a:b32[4], b:b32[2], c:f32[4]", narrowFactors),
		form("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.atype.btype.f16 =d:f16x2[2], a:b32[4], b:b32[2], c:f16x2[2]", narrowFactors),
		form("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.atype.btype.f32 =d:f32[4], a:b32[4], b:b32[4], c:f32[4], e:b32, f:imm(0)", narrowFactors),
		form("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.atype.btype.f16 =d:f16x2[2], a:b32[4], b:b32[4], c:f16x2[2], e:b32, f:imm(0)", narrowFactors),
	}
}

func scaledProducts() []*Form {
	const dense, sparse = " =d:f32[4], a:b32[4], b:b32[2], c:f32[4]" + scaleOperands, " =d:f32[4], a:b32[4], b:b32[4], c:f32[4], e:b32, f:imm(0)" + scaleOperands
	nvf4 := options(scaleTypes, set("vec", "scale_vec::2X scale_vec::4X"), set("stype", "ue8m0 ue4m3"), when("vec=scale_vec::2X", "stype=ue8m0"))
	return []*Form{
		form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0"+dense, scaleTypes),
		form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.vec.f32.e2m1.e2m1.f32.stype"+dense, nvf4),
		form("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0"+dense, narrowFactors),
		form("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale{.scale_vec::2X}.f32.e2m1.e2m1.f32.ue8m0"+sparse, scaleTypes),
		form("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.vec.f32.e2m1.e2m1.f32.stype"+sparse, nvf4),
		form("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0"+sparse, narrowFactors),
	}
}
