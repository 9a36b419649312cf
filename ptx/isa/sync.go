package isa

import "slices"

// synchronization lists the barriers at which the threads of a block wait for each other.
var synchronization = &Family{
	Name: "sync",
	Doc:  "barriers of a block and of a warp",
	Forms: slices.Concat(
		inst("waits until all threads of the block, or that many, have reached the barrier",
			form("bar{.cta}.sync bar:u32{, threads:u32}", ctaBarrier),
			form("barrier{.cta}.sync{.aligned} bar:u32{, threads:u32}", ctaBarrier, sm(30), isa(60))),
		inst("counts at the barrier, where that many threads are awaited, and goes on",
			form("bar{.cta}.arrive bar:u32, threads:u32", ctaBarrier, sm(20), isa(20)),
			form("barrier{.cta}.arrive{.aligned} bar:u32, threads:u32", ctaBarrier, sm(30), isa(60))),
		inst("waits at the barrier; d = how many threads came with c true",
			form("bar{.cta}.red.popc.u32 =d, bar{, threads}, c:pred!", ctaBarrier, sm(20), isa(20)),
			form("barrier{.cta}.red.popc{.aligned}.u32 =d, bar{, threads}, c:pred!", ctaBarrier, sm(30), isa(60))),
		inst("waits at the barrier; p = the and, or the or, of all threads' c",
			form("bar{.cta}.red.op.pred =p:pred, bar:u32{, threads:u32}, c:pred!", ctaBarrier, set("op", "and or"), sm(20), isa(20)),
			form("barrier{.cta}.red.op{.aligned}.pred =p:pred, bar:u32{, threads:u32}, c:pred!", ctaBarrier, set("op", "and or"), sm(30), isa(60))),
		inst("waits for the lanes of the warp in membermask",
			form("bar.warp.sync membermask:b32", sm(30), isa(60))),
	),
}

// ctaBarrier is what the modifier .cta of a barrier needs.
var ctaBarrier = need("cta", 30, 78)
