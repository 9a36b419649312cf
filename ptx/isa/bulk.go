package isa

import "slices"

// bulk lists the copies of contiguous memory by the tensor memory accelerator.
var bulk = &Family{
	Name: "bulk",
	Doc:  "bulk copies and reductions",
	Forms: slices.Concat(
		inst("starts copying size bytes to shared memory, counted at an mbarrier",
			form("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint} [dstMem:shared::cluster], [srcMem:global], size:u32, [mbar:shared::cluster]{, ctaMask:u16 @multicast::cluster}"+cachePolicy, sm(90), isa(80)),
			form("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint} [dstMem:shared::cta], [srcMem:global], size:u32, [mbar:shared::cta]"+cachePolicy, sm(90), isa(86)),
			form("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dstMem:shared::cluster], [srcMem:shared::cta], size:u32, [mbar:shared::cluster]", sm(90), isa(80))),
		inst("starts copying size bytes to global memory, counted in a bulk group",
			form("cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint} [dstMem:global], [srcMem:shared::cta], size:u32"+cachePolicy, sm(90), isa(80))),
		inst("starts bringing size bytes into the second-level cache",
			form("cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [srcMem:global], size:u32"+cachePolicy, sm(90), isa(80))),
		inst("makes the bulk copies started so far a group", form("cp.async.bulk.commit_group", sm(90), isa(80))),
		inst("waits until at most the N last groups are unfinished, or have yet to read their source",
			form("cp.async.bulk.wait_group{.read} N:imm", sm(90), isa(80))),
		inst("starts combining size bytes with those at dstMem, element by element, counted at an mbarrier", clusterReduce()...),
		inst("starts combining size bytes with those at dstMem, element by element, counted in a bulk group", globalReduce()...),
	),
}

func clusterReduce() []*Form {
	line := func(op, types string) *Form {
		return form("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.redOp.type [dstMem:shared::cluster], [srcMem:shared::cta], size:u32, [mbar:shared::cluster]",
			set("redOp", op), set("type", types), sm(90), isa(80))
	}
	return []*Form{
		line("and or xor", "b32"),
		line("add", "u32 s32 u64"),
		line("inc dec", "u32"),
		line("min max", "u32 s32"),
	}
}

func globalReduce() []*Form {
	line := func(op, types string) *Form {
		return form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.redOp.type [dstMem:global], [srcMem:shared::cta], size:u32"+cachePolicy,
			set("redOp", op), set("type", types), sm(90), isa(80))
	}
	return []*Form{
		line("and or xor", "b32 b64"),
		line("add", "u32 s32 u64 f32 f64"),
		line("inc dec", "u32"),
		line("min max", "u32 s32 u64 s64 f16 bf16"),
		form("cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.type [dstMem:global], [srcMem:shared::cta], size:u32"+cachePolicy,
			set("type", "f16 bf16"), sm(90), isa(80)),
	}
}
