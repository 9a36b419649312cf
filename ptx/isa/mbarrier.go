package isa

import "slices"

// mbarrier lists the operations on mbarriers: barriers in shared memory that count arrivals
// and bytes.
var mbarrier = &Family{
	Name: "mbarrier",
	Doc:  "barriers in shared memory",
	Forms: slices.Concat(
		inst("makes the word at addr a barrier that awaits count arrivals",
			form("mbarrier.init{.ss}.b64 [addr], count:u32", ownShared, sm(80), isa(70))),
		inst("ends the life of the barrier at addr",
			form("mbarrier.inval{.ss}.b64 [addr]", ownShared, sm(80), isa(70))),
		arrivals("arrive", "arrives"),
		arrivals("arrive_drop", "arrives, one arrival less being awaited from the next phase on"),
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
	// anyShared is the shared memory of any block of the cluster.
	anyShared = set("ss", "shared shared::cta shared::cluster")

	arrives = options(ownShared, scoped("release relaxed", "cta cluster"))
	waits   = options(ownShared, scoped("acquire relaxed", "cta cluster"))
	counts  = options(anyShared, scoped("relaxed", "cta cluster"), need("relaxed", 90, 80))
)

// scoped returns an option that requires a scope with a memory order, and a memory order with
// a scope.
func scoped(sems, scopes string) option {
	return options(
		set("sem", sems), set("scope", scopes), need("release acquire", 80, 80), need("relaxed", 90, 86),
		when("sem="+sems, "scope="+scopes), when("sem=-", "scope=-"),
	)
}

// arrivals returns the forms of arrive and arrive_drop. does describes their effect. An arrival
// at a barrier in another block of the cluster returns no state.
func arrivals(op, does string) []*Form {
	op = "mbarrier." + op
	return slices.Concat(
		inst(does+"; state = the phase before",
			form(op+"{.sem}{.scope}{.ss}.b64 =state, [addr]", arrives, sm(80), isa(70))),
		inst(does+", count times, which must not end the phase; state = the phase before",
			form(op+".noComplete{.sem}{.scope}{.ss}.b64 =state, [addr], count:u32", ownShared, scoped("release", "cta"), sm(80), isa(70))),
		inst(does+", count times; state = the phase before",
			form(op+"{.sem}{.scope}{.ss}.b64 =state, [addr], count:u32", arrives, sm(90), isa(78))),
		inst(does+", once or count times, at a barrier of any block of the cluster",
			form(op+"{.sem}{.scope}.shared::cluster.b64 _, [addr]{, count:u32}", arrives, sm(90), isa(80))),
		inst(does+" and awaits txCount more bytes in this phase; state = the phase before",
			form(op+".expect_tx{.sem}{.scope}{.ss}.b64 =state, [addr], txCount:u32", arrives, sm(90), isa(80))),
		inst(does+" at a barrier of any block of the cluster, which awaits txCount more bytes in this phase",
			form(op+".expect_tx{.sem}{.scope}.shared::cluster.b64 _, [addr], txCount:u32", arrives, sm(90), isa(80))),
	)
}
