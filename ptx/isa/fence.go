package isa

import "slices"

// fence lists the instructions that order memory accesses.
var fence = &Family{
	Name: "fence",
	Doc:  "fences between threads and between proxies",
	Forms: slices.Concat(
		inst("orders this thread's accesses as seen at the level",
			form("membar.level", set("level", "cta gl sys"), need("cta", 0, 14))),
		inst("orders accesses made through different proxies",
			form("membar.proxy.alias", sm(60), isa(75)),
			form("fence.proxy.alias", sm(70), isa(75)),
			form("fence.proxy.async{.space}", set("space", "global shared::cta shared::cluster"), sm(90), isa(80))),
		inst("orders this thread's accesses as seen in the scope",
			form("fence{.sem}.scope", set("sem", "sc acq_rel"), sm(70), isa(60)),
			form("fence.sem.scope", set("sem", "acquire release"), sm(90), isa(86))),
		inst("orders this thread's accesses to shared memory as seen in the cluster",
			form("fence.acquire.sync_restrict::shared::cluster.cluster", sm(90), isa(86)),
			form("fence.release.sync_restrict::shared::cta.cluster", sm(90), isa(86)),
			form("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", sm(90), isa(86)),
			form("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", sm(90), isa(86))),
		inst("makes initialised mbarriers known to the cluster",
			form("fence.mbarrier_init.release.cluster", sm(90), isa(80))),
		inst("makes a tensor map written by generic accesses known to its readers",
			form("fence.proxy.tensormap::generic.release.scope", sm(90), isa(83)),
			form("fence.proxy.tensormap::generic.acquire.scope [addr:generic], size:imm(128)", sm(90), isa(83))),
	),
}
