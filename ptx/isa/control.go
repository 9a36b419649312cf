package isa

import "slices"

// control lists the branches, calls and exits.
var control = &Family{
	Name: "control",
	Doc:  "branches, calls and the end of a thread",
	Forms: slices.Concat(
		inst("goes to tgt", form("bra{.uni} tgt:label")),
		inst("goes to the label at the index of a list",
			form("brx.idx{.uni} index:u32, tlist:name", sm(30), isa(60))),
		inst("calls a function",
			form("call{.uni} func:name"),
			form("call{.uni} func:name, params:args"),
			form("call{.uni} =ret:args, func:name"),
			form("call{.uni} =ret:args, func:name, params:args")),
		inst("calls the function at an address; fproto names its prototype or its possible targets",
			form("call{.uni} fptr:u64, fproto:name", sm(20), isa(21)),
			form("call{.uni} fptr:u64, params:args, fproto:name", sm(20), isa(21)),
			form("call{.uni} =ret:args, fptr:u64, params:args, fproto:name", sm(20), isa(21))),
		inst("returns from a function, or ends the thread", form("ret{.uni}")),
		inst("ends the thread", form("exit")),
		inst("aborts the launch", form("trap")),
		inst("stops for the debugger", form("brkpt", sm(11))),
		inst("sleeps for about t nanoseconds", form("nanosleep.u32 t", sm(70), isa(63))),
		inst("counts a performance event",
			form("pmevent a:imm"),
			form("pmevent.mask a:imm", sm(20), isa(30))),
	),
}
