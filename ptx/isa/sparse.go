package isa

import "slices"

// sparse lists the products whose first factor has two zeros in each group of four elements. The
// factor is stored without them, and metadata says where its elements belong.
var sparse = &Family{
	Name:     "sparse",
	Doc:      "matrix products with a sparse first factor",
	Forms:    slices.Concat(inst("d = a · b + c with a sparse a", mmaSparse()...), inst("starts d = a · b + scaleD · d with a sparse a", wgmmaSparse()...)),
	ReadOnly: true,
}

func mmaSparse() (all []*Form) {
	variant := options(set("variant", "sp sp::ordered_metadata"), need("sp::ordered_metadata", 80, 85))
	// Of four lanes, one, two or four hold metadata, so the sparsity selector has four, two or one value.
	const four, two, one = "0..3", "0 1", "0"
	add := func(types, d, a, b, c, selector string, opts ...option) {
		syntax := "mma.variant.sync.aligned." + types + " =d:" + d + ", a:" + a + ", b:" + b + ", c:" + c + ", e:b32, f:imm(" + selector + ")"
		all = append(all, form(syntax, slices.Concat([]option{sm(80), isa(71)}, opts, []option{variant})...))
	}
	fp8 := options(set("atype", "e4m3 e5m2"), set("btype", "e4m3 e5m2"), sm(89), isa(84))
	bytes := options(set("atype", "u8 s8"), set("btype", "u8 s8"))
	nibbles := options(set("atype", "u4 s4"), set("btype", "u4 s4"))
	add("m16n8k16.row.col.f16.f16.f16.f16", "f16x2[2]", "f16x2[2]", "f16x2[2]", "f16x2[2]", four)
	add("m16n8k16.row.col.f32.f16.f16.f32", "f32[4]", "f16x2[2]", "f16x2[2]", "f32[4]", four)
	add("m16n8k32.row.col.f16.f16.f16.f16", "f16x2[2]", "f16x2[4]", "f16x2[4]", "f16x2[2]", two)
	add("m16n8k32.row.col.f32.f16.f16.f32", "f32[4]", "f16x2[4]", "f16x2[4]", "f32[4]", two)
	add("m16n8k16.row.col.f32.bf16.bf16.f32", "f32[4]", "bf16x2[2]", "bf16x2[2]", "f32[4]", four)
	add("m16n8k32.row.col.f32.bf16.bf16.f32", "f32[4]", "bf16x2[4]", "bf16x2[4]", "f32[4]", two)
	add("m16n8k8.row.col.f32.tf32.tf32.f32", "f32[4]", "b32[2]", "b32[2]", "f32[4]", four)
	add("m16n8k16.row.col.f32.tf32.tf32.f32", "f32[4]", "b32[4]", "b32[4]", "f32[4]", two)
	add("m16n8k64.row.col.f32.atype.btype.f32", "f32[4]", "b32[4]", "b32[4]", "f32[4]", one, fp8)
	add("m16n8k32.row.col{.satfinite}.s32.atype.btype.s32", "s32[4]", "b32[2]", "b32[2]", "s32[4]", two, bytes)
	add("m16n8k64.row.col{.satfinite}.s32.atype.btype.s32", "s32[4]", "b32[4]", "b32[4]", "s32[4]", one, bytes)
	add("m16n8k64.row.col{.satfinite}.s32.atype.btype.s32", "s32[4]", "b32[2]", "b32[2]", "s32[4]", two, nibbles)
	add("m16n8k128.row.col{.satfinite}.s32.atype.btype.s32", "s32[4]", "b32[4]", "b32[4]", "s32[4]", one, nibbles)
	return all
}

func wgmmaSparse() (all []*Form) {
	for _, a := range []string{fromShared, "registers"} {
		add := func(types, d, registers, selector, imms string, opts ...option) {
			first := a
			if a != fromShared {
				first = registers
			}
			syntax := "wgmma.mma_async.sp.sync.aligned." + types + " +" + d + ", " + first + ", bDesc:b64, spMeta:b32, spSel:imm(" + selector + "), scaleD:pred!" + imms
			all = append(all, form(syntax, slices.Concat(opts, []option{smA(90), isa(82)})...))
		}
		trans := transposes
		if a != fromShared {
			trans = transposeB
		}
		add("shape.f32.f16.f16", "d:f32[N/2]", "a:f16x2[4]", "0 1", trans, wgmmaShapes(32))
		add("shape.f16.f16.f16", "d:f16x2[N/4]", "a:f16x2[4]", "0 1", trans, wgmmaShapes(32))
		add("shape.f32.bf16.bf16", "d:f32[N/2]", "a:bf16x2[4]", "0 1", trans, wgmmaShapes(32))
		add("shape.f32.tf32.tf32", "d:f32[N/2]", "a:b32[4]", "0 1", scales, wgmmaShapes(16))
		add("shape.f32.atype.btype", "d:f32[N/2]", "a:b32[4]", "0", scales, wgmmaShapes(64), fp8Types)
		add("shape.f16.atype.btype", "d:f16x2[N/4]", "a:b32[4]", "0", scales, wgmmaShapes(64), fp8Types)
		add("shape{.satfinite}.s32.atype.btype", "d:s32[N/2]", "a:b32[4]", "0", "", wgmmaIntShapes(64), byteTypes)
	}
	return all
}
