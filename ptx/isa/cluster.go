package isa

import "slices"

// cluster lists the instructions with which the blocks of a cluster work together.
var cluster = &Family{
	Name: "cluster",
	Doc:  "addresses and barriers across a cluster",
	Forms: slices.Concat(
		inst("d = the address that a has in the shared memory of block b",
			form("mapa{.shared::cluster}.type =d, a, b:u32", set("type", "u32 u64"), sm(90), isa(78))),
		inst("d = the rank of the block whose shared memory a falls in",
			form("getctarank{.shared::cluster}.type =d:u32, a", set("type", "u32 u64"), sm(90), isa(78))),
		inst("counts at the cluster's barrier and goes on",
			form("barrier.cluster.arrive{.sem}{.aligned}", set("sem", "release relaxed"), need("release relaxed", 90, 80), sm(90), isa(78))),
		inst("waits at the cluster's barrier for all its threads",
			form("barrier.cluster.wait{.acquire}{.aligned}", need("acquire", 90, 80), sm(90), isa(78))),
	),
}
