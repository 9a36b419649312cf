package isa

import "slices"

// mbarrier are barriers in shared memory that count arrivals and bytes.
var mbarrier = &Family{
	Name: "mbarrier",
	Doc:  "barriers in shared memory",
	Forms: slices.Concat(
		inst("makes the word at addr a barrier that awaits count arrivals",
			form("mbarrier.init{.ss}.b64 [addr], count:u32", ownShared, sm(80), isa(70))),
		inst("ends the life of the barrier at addr",
			form("mbarrier.inval{.ss}.b64 [addr]", ownShared, sm(80), isa(70))),
		inst("arrives; state = the phase before", arrivals("arrive")...),
		inst("arrives and awaits one arrival less in the phases after; state = the phase before", arrivals("arrive_drop")...),
		inst("awaits txCount more bytes in this phase",
			form("mbarrier.expect_tx{.sem}{.scope}{.ss}.b64 [addr], txCount:u32", counts, sm(90), isa(80))),
		inst("counts txCount bytes as come, without copying any",
			form("mbarrier.complete_tx{.sem}{.scope}{.ss}.b64 [addr], txCount:u32", counts, sm(90), isa(80))),
		inst("waitComplete = whether the phase that state names is over",
			form("mbarrier.test_wait{.sem}{.scope}{.ss}.b64 =waitComplete:pred, [addr], state", waits, sm(80), isa(70)),
			form("mbarrier.try_wait{.sem}{.scope}{.ss}.b64 =waitComplete:pred, [addr], state{, suspendTimeHint:u32}", waits, sm(90), isa(78))),
		inst("waitComplete = whether the phase of that parity is over",
			form("mbarrier.test_wait.parity{.sem}{.scope}{.ss}.b64 =waitComplete:pred, [addr], phaseParity:u32", waits, sm(80), isa(71)),
			form("mbarrier.try_wait.parity{.sem}{.scope}{.ss}.b64 =waitComplete:pred, [addr], phaseParity:u32{, suspendTimeHint:u32}", waits, sm(90), isa(78))),
		inst("count = the arrivals that state still awaits",
			form("mbarrier.pending_count.b64 =count:u32, state", sm(80), isa(70))),
	),
}

var (
	// ownShared is the block's own shared memory.
	ownShared = set("ss", "shared shared::cta")
	// anyShared is that of any block of the cluster.
	anyShared = set("ss", "shared shared::cta shared::cluster")

	arrives = options(ownShared, scoped("release", "cta cluster"))
	waits   = options(ownShared, scoped("acquire", "cta cluster"))
	counts  = options(anyShared, scoped("relaxed", "cta cluster"))
)

// scoped says that an order comes with a scope and a scope with an order.
func scoped(sem, scopes string) option {
	return options(
		set("sem", sem), set("scope", scopes), need(sem, 80, 80),
		when("sem="+sem, "scope="+scopes), when("sem=-", "scope=-"),
	)
}

// arrivals are the forms of arrive and arrive_drop. A barrier of another block
// of the cluster has no state to give back.
func arrivals(op string) []*Form {
	op = "mbarrier." + op
	return []*Form{
		form(op+"{.sem}{.scope}{.ss}.b64 =state, [addr]", arrives, sm(80), isa(70)),
		form(op+"{.sem}{.scope}{.ss}.b64 =state, [addr], count:u32", arrives, sm(90), isa(78)),
		form(op+"{.sem}{.scope}.shared::cluster.b64 _, [addr]{, count:u32}", arrives, sm(90), isa(80)),
		form(op+".noComplete{.sem}{.scope}{.ss}.b64 =state, [addr], count:u32", ownShared, scoped("release", "cta"), sm(80), isa(70)),
		form(op+".expect_tx{.sem}{.scope}{.ss}.b64 =state, [addr], txCount:u32", arrives, sm(90), isa(80)),
		form(op+".expect_tx{.sem}{.scope}.shared::cluster.b64 _, [addr], txCount:u32", arrives, sm(90), isa(80)),
	}
}
