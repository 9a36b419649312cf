package isa

import "slices"

// warp lists the instructions that exchange values between the lanes of a warp.
var warp = &Family{
	Name: "warp",
	Doc:  "shuffles, votes, reductions and control of a warp",
	Forms: slices.Concat(
		inst("d = a of the lane that mode, b and c choose; p = whether it is in range",
			form("shfl.sync.mode.b32 =d{|p:pred}, a, b:u32, c:u32, membermask", set("mode", "up down bfly idx"), sm(30), isa(60)),
			form("shfl.mode.b32 =d{|p:pred}, a, b:u32, c:u32", set("mode", "up down bfly idx"), sm(30), isa(30))),
		inst("d = whether a holds in all lanes, in any, or is the same in all",
			form("vote.sync.mode.pred =d, a:pred!, membermask:b32", set("mode", "all any uni"), sm(30), isa(60)),
			form("vote.mode.pred =d, a:pred!", set("mode", "all any uni"), sm(12), isa(12))),
		inst("d = the mask of the lanes where a holds",
			form("vote.sync.ballot.b32 =d, a:pred!, membermask", sm(30), isa(60)),
			form("vote.ballot.b32 =d, a:pred!", sm(20), isa(20))),
		inst("d = the mask of the lanes whose a equals this lane's",
			form("match.any.sync.type =d:b32, a, membermask:b32", set("type", "b32 b64"), sm(70), isa(60))),
		inst("d = membermask if a is the same in all its lanes, else 0; p = whether it is",
			form("match.all.sync.type =d:b32{|p:pred}, a, membermask:b32", set("type", "b32 b64"), sm(70), isa(60))),
		inst("d = the mask of the lanes that run", form("activemask.b32 =d", sm(30), isa(62))),
		inst("dst = op over src of the lanes in membermask",
			form("redux.sync.op.type =dst, src, membermask:b32", set("op", "add min max"), set("type", "u32 s32"), sm(80), isa(70)),
			form("redux.sync.op.b32 =dst, src, membermask", set("op", "and or xor"), sm(80), isa(70))),
		inst("elects one lane of membermask: d = its number, p = whether this is it",
			form("elect.sync =d:b32|p:pred, membermask:b32", sm(90), isa(80))),
		inst("lets dependent launches start, or waits for those this one depends on",
			form("griddepcontrol.action", set("action", "launch_dependents wait"), sm(90), isa(78))),
		inst("asks for, or gives back, registers of every thread of the warpgroup",
			form("setmaxnreg.action.sync.aligned.u32 immRegCount:imm(24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256)",
				set("action", "inc dec"), smA(90), isa(80), narrowNeeds)),
	),
}
