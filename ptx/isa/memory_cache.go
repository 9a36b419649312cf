package isa

import "slices"

// caches lists the instructions that control the caches without moving data to registers.
var caches = &Family{
	Name: "cache",
	Doc:  "prefetches, priorities and eviction policies",
	Forms: slices.Concat(
		inst("brings the line at a into a cache",
			form("prefetch{.ss}.level [a]", set("ss", "global local"), set("level", "L1 L2"), sm(20), isa(20)),
			form("prefetch.global.level::eviction_priority [a]",
				set("level::eviction_priority", "L2::evict_last L2::evict_normal"), sm(80), isa(74)),
			form("prefetch{.ss}.tensormap [a]", set("ss", "const param"), sm(90), isa(80))),
		inst("brings the line at a into the uniform cache",
			form("prefetchu.L1 [a]", sm(20), isa(20))),
		inst("gives the line at a the priority",
			form("applypriority{.global}.level::eviction_priority [a:global], size:imm(128)",
				set("level::eviction_priority", "L2::evict_normal"), sm(80), isa(74))),
		inst("drops the line at a from the cache without writing it back",
			form("discard{.global}.L2 [a:global], size:imm(128)", sm(80), isa(74))),
		inst("cachePolicy = one priority for a range of addresses, another around it",
			form("createpolicy.range{.global}.level::primary_priority{.level::secondary_priority}.b64 =cachePolicy, [a:global], primarySize:u32, totalSize:u32", priorities)),
		inst("cachePolicy = one priority for a fraction of the accesses, another for the rest",
			form("createpolicy.fractional.level::primary_priority{.level::secondary_priority}.b64 =cachePolicy{, fraction:f32}", priorities)),
		inst("cachePolicy = the access property of the CUDA API",
			form("createpolicy.cvt.L2.b64 =cachePolicy, accessProperty", sm(80), isa(74))),
	),
}

// priorityHints lists the accesses of 32 bytes that give a priority for the second-level cache, with
// or without one for the first level.
var priorityHints = &Family{
	Name: "priority",
	Doc:  "loads and stores of 32 bytes with priorities for both caches",
	Forms: slices.Concat(
		inst("d = *a",
			form("ld{.weak}{.ss}{.level::eviction_priority}.level2::eviction_priority{.L2::cache_hint}{.level::prefetch_size}.vec.type =d:type[vec], [a]"+cachePolicy, wideHints),
			form("ld.sem.scope{.ss}{.level::eviction_priority}.level2::eviction_priority{.L2::cache_hint}{.level::prefetch_size}.vec.type =d:type[vec], [a]"+cachePolicy, wideHints, set("sem", "relaxed acquire")),
			form("ld.ss.nc{.level::eviction_priority}.level2::eviction_priority{.L2::cache_hint}{.level::prefetch_size}.vec.type =d:type[vec], [a]"+cachePolicy, wideHints)),
		inst("*a = b",
			form("st{.weak}{.ss}{.level::eviction_priority}.level2::eviction_priority{.L2::cache_hint}.vec.type [a], b:type[vec]"+cachePolicy, wideHints),
			form("st.sem.scope{.ss}{.level::eviction_priority}.level2::eviction_priority{.L2::cache_hint}.vec.type [a], b:type[vec]"+cachePolicy, wideHints, set("sem", "relaxed release"))),
	),
	ReadOnly: true,
}

var wideHints = options(
	set("ss", "global"), set("vec", "v4 v8"), set("type", "b32 u32 s32 f32 b64 u64 s64 f64"),
	set("level::eviction_priority", evictions), set("level::prefetch_size", prefetches),
	set("level2::eviction_priority", "L2::evict_normal L2::evict_first L2::evict_last"),
	when("vec=v8", "type=b32 u32 s32 f32"), when("vec=v4", "type=b64 u64 s64 f64"),
	need(evictions, 70, 74), sm(100), isa(88),
)

var priorities = options(
	set("level::primary_priority", "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"),
	set("level::secondary_priority", "L2::evict_first L2::evict_unchanged"),
	sm(80), isa(74),
)
