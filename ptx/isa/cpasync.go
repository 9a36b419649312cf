package isa

import "slices"

// cpasync lists the asynchronous copies from global to shared memory.
var cpasync = &Family{
	Name: "cpasync",
	Doc:  "asynchronous copies of 4 to 16 bytes a thread",
	Forms: slices.Concat(
		inst("starts copying cpSize bytes, of which srcSize are read and the rest are zero",
			form("cp.async.ca.ss.global{.L2::cache_hint}{.level::prefetch_size} [dst:ss], [src:global], cpSize:imm(4 8 16){, srcSize:u32}"+cachePolicy, asyncCopy),
			form("cp.async.cg.ss.global{.L2::cache_hint}{.level::prefetch_size} [dst:ss], [src:global], cpSize:imm(16){, srcSize:u32}"+cachePolicy, asyncCopy)),
		inst("starts copying cpSize bytes, or zeros when ignoreSrc holds",
			form("cp.async.ca.ss.global{.L2::cache_hint}{.level::prefetch_size} [dst:ss], [src:global], cpSize:imm(4 8 16), ignoreSrc:pred!"+cachePolicy, asyncCopy, isa(75)),
			form("cp.async.cg.ss.global{.L2::cache_hint}{.level::prefetch_size} [dst:ss], [src:global], cpSize:imm(16), ignoreSrc:pred!"+cachePolicy, asyncCopy, isa(75))),
		inst("makes the copies started so far a group", form("cp.async.commit_group", sm(80), isa(70))),
		inst("waits until at most the N last groups are unfinished", form("cp.async.wait_group N:imm", sm(80), isa(70))),
		inst("waits for all copies", form("cp.async.wait_all", sm(80), isa(70))),
		inst("arrives at an mbarrier when the copies started so far are done",
			form("cp.async.mbarrier.arrive{.noinc}{.ss}.b64 [addr]", set("ss", "shared shared::cta"), sm(80), isa(70))),
	),
}

var asyncCopy = options(
	set("ss", "shared shared::cta"),
	set("level::prefetch_size", prefetches),
	sm(80), isa(70),
)
