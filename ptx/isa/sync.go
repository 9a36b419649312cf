package isa

import "slices"

// synchronization makes threads of a block wait for each other.
var synchronization = &Family{
	Name: "sync",
	Doc:  "barriers of a block and of a warp",
	Forms: slices.Concat(
		inst("waits until all threads, or b of them, have reached barrier a",
			form("bar{.cta}.sync a:u32{, b:u32}", ctaBarrier),
			form("barrier{.cta}.sync{.aligned} a:u32{, b:u32}", ctaBarrier, sm(30), isa(60))),
		inst("counts at barrier a, where b threads are awaited, and goes on",
			form("bar{.cta}.arrive a:u32, b:u32", ctaBarrier, sm(20), isa(20)),
			form("barrier{.cta}.arrive{.aligned} a:u32, b:u32", ctaBarrier, sm(30), isa(60))),
		inst("waits at barrier a; d = how many threads came with c true",
			form("bar{.cta}.red.popc.u32 =d, a{, b}, c:pred!", ctaBarrier, sm(20), isa(20)),
			form("barrier{.cta}.red.popc{.aligned}.u32 =d, a{, b}, c:pred!", ctaBarrier, sm(30), isa(60))),
		inst("waits at barrier a; p = the and, or the or, of all threads' c",
			form("bar{.cta}.red.op.pred =p:pred, a:u32{, b:u32}, c:pred!", ctaBarrier, set("op", "and or"), sm(20), isa(20)),
			form("barrier{.cta}.red.op{.aligned}.pred =p:pred, a:u32{, b:u32}, c:pred!", ctaBarrier, set("op", "and or"), sm(30), isa(60))),
		inst("waits for the lanes of the warp in membermask",
			form("bar.warp.sync membermask:b32", sm(30), isa(60))),
	),
}

// ctaBarrier is what naming the block's own barrier asks for.
var ctaBarrier = need("cta", 30, 78)
