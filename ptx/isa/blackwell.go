package isa

import (
	"slices"
	"strconv"
)

// packed lists the arithmetic that Blackwell adds: pairs of f32, sums of mixed precision, and the
// least and greatest of three.
var packed = &Family{
	Name:     "packed",
	Doc:      "arithmetic on pairs of f32, with mixed precision and on three operands",
	ReadOnly: true,
	Forms: slices.Concat(
		inst("d = a + b, a - b, a · b or a · b + c on both halves",
			form("add{.rnd}{.ftz}.f32x2 =d, a, b", sm(100), isa(86)),
			form("sub{.rnd}{.ftz}.f32x2 =d, a, b", sm(100), isa(86)),
			form("mul{.rnd}{.ftz}.f32x2 =d, a, b", sm(100), isa(86)),
			form("fma.rnd{.ftz}.f32x2 =d, a, b, c", sm(100), isa(86))),
		inst("d = the f32 sum, difference or fused product of operands of 16 bits and an f32",
			form("add{.rnd}{.sat}.f32.atype =d:f32, a:atype, b:f32", set("atype", "f16 bf16"), sm(100), isa(86)),
			form("sub{.rnd}{.sat}.f32.atype =d:f32, a:atype, b:f32", set("atype", "f16 bf16"), sm(100), isa(86)),
			form("fma.rnd{.sat}.f32.atype =d:f32, a:atype, b:atype, c:f32", set("atype", "f16 bf16"), sm(100), isa(86))),
		inst("d = the least or greatest of three",
			form("min{.ftz}{.NaN}{.abs}.f32 =d, a, b, c", sm(100), isa(88)),
			form("max{.ftz}{.NaN}{.abs}.f32 =d, a, b, c", sm(100), isa(88))),
		inst("dst = the least or greatest of src over the lanes",
			form("redux.sync.op{.abs}{.NaN}.f32 =dst, src, membermask:b32", set("op", "min max"), inFamilies(86, 100))),
	),
}

// narrow lists the conversions and moves of elements with 4, 6 and 8 bits that Blackwell adds.
var narrow = &Family{
	Name:     "narrow",
	Doc:      "conversions and matrix moves of elements with 4, 6 and 8 bits",
	Forms:    slices.Concat(narrowConversions, narrowRandom, narrowMoves, narrowMultimem),
	ReadOnly: true,
}

// narrowNeeds is what the narrow formats need.
var narrowNeeds = inFamilies(86, 100, 110, 120)

var narrowConversions = slices.Concat(
	inst("d = a and b in a narrow format",
		form("cvt.rn.satfinite{.relu}.dtype.f32 =d:dtype, a:f32, b:f32", set("dtype", "e2m1x2 e2m3x2 e3m2x2"), narrowNeeds),
		form("cvt.rnd{.satfinite}.ue8m0x2.f32 =d:ue8m0x2, a:f32, b:f32", set("rnd", "rz rp"), narrowNeeds),
		form("cvt.rnd{.satfinite}.ue8m0x2.bf16x2 =d:ue8m0x2, a:bf16x2", set("rnd", "rz rp"), narrowNeeds)),
	inst("d = the values of a, exactly",
		form("cvt.rn{.relu}.f16x2.atype =d:f16x2, a:atype", set("atype", "e2m1x2 e2m3x2 e3m2x2"), narrowNeeds),
		form("cvt.rn.bf16x2.ue8m0x2 =d:bf16x2, a:ue8m0x2", narrowNeeds)),
	inst("d = a rounded to tf32, at most the largest finite value",
		form("cvt.rnd.satfinite{.relu}.tf32.f32 =d:tf32, a:f32", rnRz, sm(100), isa(86))),
)

// narrowRandom holds the conversions with random rounding. rbits are the random bits.
var narrowRandom = inst("d = the operands in a narrower format, rounded up or down at random",
	form("cvt.rs{.relu}{.satfinite}.f16x2.f32 =d:f16x2, a:f32, b:f32, rbits:b32", inTargets(87, 100, 103)),
	form("cvt.rs{.relu}{.satfinite}.bf16x2.f32 =d:bf16x2, a:f32, b:f32, rbits:b32", inTargets(87, 100, 103)),
	form("cvt.rs{.relu}.satfinite.dtype.f32 =d:dtype, a:f32[4], rbits:b32", set("dtype", "e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4"), inTargets(87, 100, 103)))

var narrowMoves = func() []*Form {
	ss, formats := set("ss", "shared shared::cta"), set("src", "b6x16_p32 b4x16_p64")
	var loads []*Form
	for n := 1; n <= 4; n *= 2 {
		num, registers := strconv.Itoa(n), strconv.Itoa(2*n)
		loads = append(loads, form("ldmatrix.sync.aligned.m8n16.x"+num+"{.ss}.b8x16.src =r:b32["+num+"], [p]", ss, formats, narrowNeeds))
		if n <= 2 {
			loads = append(loads,
				form("ldmatrix.sync.aligned.m16n16.x"+num+".trans{.ss}.b8 =r:b32["+registers+"], [p]", ss, narrowNeeds),
				form("ldmatrix.sync.aligned.m16n16.x"+num+".trans{.ss}.b8x16.src =r:b32["+registers+"], [p]", ss, formats, narrowNeeds))
		}
	}
	return slices.Concat(
		inst("r = matrices of narrow elements; each lane gives the address of a row", loads...),
		inst("stores matrices of bytes; each lane gives the address of a row",
			form("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8 [p], r:b32[num]", matrices, narrowNeeds)))
}()

// narrowMultimem holds the accesses to multicast memory with elements of 8 bits.
var narrowMultimem = func() []*Form {
	bytes := options(set("ss", "global"), set("vec", "v2 v4 v8"), set("op", "min max add"), set("type", "e4m3 e5m2 e4m3x2 e5m2x2 e4m3x4 e5m2x4"), narrowNeeds,
		when("vec=-", "type=e4m3x4 e5m2x4"), when("vec=v2", "type=e4m3x2 e5m2x2 e4m3x4 e5m2x4"), when("vec=v8", "type=e4m3 e5m2 e4m3x2 e5m2x2"), wider())
	return slices.Concat(
		inst("d = the reduction of *a over all copies",
			form("multimem.ld_reduce.weak{.ss}.op{.acc::f16}{.vec}.type =d:type[vec], [a]", bytes),
			form("multimem.ld_reduce{.sem}{.scope}{.ss}.op{.acc::f16}{.vec}.type =d:type[vec], [a]", bytes, set("sem", "relaxed acquire"))),
		inst("*a = b in all copies",
			form("multimem.st.weak{.ss}{.vec}.type [a], b:type[vec]", bytes),
			form("multimem.st{.sem}{.scope}{.ss}{.vec}.type [a], b:type[vec]", bytes, set("sem", "relaxed release"))))
}()

// blackwellCopies lists the copies and asynchronous stores that Blackwell adds.
var blackwellCopies = &Family{
	Name:     "blackwellcopy",
	Doc:      "copies of Blackwell: gathered rows, pairs of blocks, masks, fills and launches",
	ReadOnly: true,
	Forms: slices.Concat(
		inst("starts copying a box of the tensor, or four rows of it, to shared memory", pairedLoads()...),
		inst("starts copying four rows to the tensor",
			form("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{.L2::cache_hint} [tensorMap:rows], [srcMem:shared::cta]"+cachePolicy, inFamilies(86, 100, 110))),
		inst("starts bringing rows of a tensor into the second-level cache", gatheredPrefetches()...),
		inst("starts copying the bytes that a mask selects",
			form("cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask [dstMem:global], [srcMem:shared::cta], size:u32"+cachePolicy+", byteMask:u16", sm(100), isa(86))),
		inst("starts writing zeros", form("st.bulk{.weak}{.ss} [a], size:u64, initval:imm(0)", set("ss", "shared::cta"), sm(100), isa(86))),
		inst("starts a store that releases", form("st.async{.mmio}.release.scope{.ss}.type [a], b", set("ss", "global"), set("scope", "gpu sys"),
			set("type", "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"), wider(), sm(100), isa(87))),
		inst("starts a reduction that releases", form("red.async{.mmio}.release.scope{.ss}.add.type [a], b", set("ss", "global"), set("scope", "gpu cluster"),
			set("type", "u32 s32 u64 s64"), sm(100), isa(87))),
		inst("asks for the place of a block that has not started",
			form("clusterlaunchcontrol.try_cancel.async{.ss}.mbarrier::complete_tx::bytes.b128 [addr], [mbar]", set("ss", "shared::cta"), sm(100), isa(86)),
			form("clusterlaunchcontrol.try_cancel.async{.ss}.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar]", set("ss", "shared::cta"), narrowNeeds)),
		inst("d = whether the request was granted, or the place of the block",
			form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 =d:pred, response:b128", sm(100), isa(86)),
			form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 =d:b32[4], response:b128", sm(100), isa(86)),
			form("clusterlaunchcontrol.query_cancel.axis.b32.b128 =d:b32, response:b128", set("axis", "get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z"), sm(100), isa(86))),
		inst("changes a field of the tensor map at addr",
			form("tensormap.replace.tile.swizzle_atomicity{.ss}.b1024.b32 [addr], newVal:imm(0..3)", set("ss", "global shared::cta"), narrowNeeds),
			form("tensormap.replace.tile.swizzle_mode{.ss}.b1024.b32 [addr], newVal:imm(4)", set("ss", "global shared::cta"), inTargets(88, 103)),
			form("tensormap.replace.tile.elemtype{.ss}.b1024.b32 [addr], newVal:imm(13 14 15)", set("ss", "global shared::cta"), narrowNeeds)),
	),
}

// pairedLoads returns the loads of tensors that count at the mbarrier of one of two paired blocks, and
// those that gather rows or unfold only one axis.
func pairedLoads() (all []*Form) {
	const counted = ".mbarrier::complete_tx::bytes"
	for _, to := range []string{"shared::cluster", "shared::cta"} {
		head := "cp.async.bulk.tensor.dim." + to + ".global"
		cast, mask := "", ""
		if to == "shared::cluster" {
			cast, mask = "{.multicast::cluster}", "{, ctaMask:u16 @multicast::cluster}"
		}
		add := func(mode, group, tensor, info string, opts ...option) {
			all = append(all, form(head+mode+counted+cast+group+"{.L2::cache_hint} [dstMem:"+to+"], [tensorMap:"+tensor+"], [mbar:"+to+"]"+info+mask+cachePolicy, opts...))
		}
		pair := options(set("cta_group", "cta_group::1 cta_group::2"), inFamilies(86, 100, 110))
		gather := options(sm(100), isa(86))
		if to == "shared::cluster" {
			gather = inFamilies(86, 100, 110)
		}
		add("{.tile}", ".cta_group", "tensor", "", pair)
		add(".tile::gather4", "", "rows", "", gather, set("dim", "2d"))
		add(".tile::gather4", ".cta_group", "rows", "", pair, set("dim", "2d"))
		for dim := 3; dim <= 5; dim++ {
			d, offsets := imageDim(dim)
			add(".im2col", ".cta_group", "tensor", offsets, pair, d)
			add(".im2col::w", "", "tensor", ", im2colInfo:u16[2]", d, sm(100), isa(86))
			add(".im2col::w::128", "", "tensor", ", im2colInfo:u16[2]", d, inFamilies(86, 100, 110))
			add(".mode", ".cta_group", "tensor", ", im2colInfo:u16[2]", pair, d, set("mode", "im2col::w im2col::w::128"))
		}
	}
	return all
}

func gatheredPrefetches() (all []*Form) {
	const head, mods = "cp.async.bulk.prefetch.tensor.dim.L2.global", "{.L2::cache_hint} [tensorMap:"
	all = append(all, form(head+".tile::gather4"+mods+"rows]"+cachePolicy, set("dim", "2d"), inFamilies(86, 100, 110)))
	for dim := 3; dim <= 5; dim++ {
		d, _ := imageDim(dim)
		all = append(all,
			form(head+".im2col::w"+mods+"tensor], im2colInfo:u16[2]"+cachePolicy, d, sm(100), isa(86)),
			form(head+".im2col::w::128"+mods+"tensor], im2colInfo:u16[2]"+cachePolicy, d, inFamilies(86, 100, 110)))
	}
	return all
}
