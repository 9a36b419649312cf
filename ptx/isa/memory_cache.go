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

var priorities = options(
	set("level::primary_priority", "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"),
	set("level::secondary_priority", "L2::evict_first L2::evict_unchanged"),
	sm(80), isa(74),
)
