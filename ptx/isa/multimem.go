package isa

import "slices"

// multimem lists the accesses to multicast memory, which has a copy on each of several devices.
var multimem = &Family{
	Name:     "multimem",
	Doc:      "loads, stores and reductions on all copies of multicast memory",
	Forms:    slices.Concat(multimemLoads, multimemStores, multimemReds),
	ReadOnly: true,
}

// multimemAccess has the state space, the vectors and what multimem needs.
var multimemAccess = options(set("ss", "global"), set("vec", "v2 v4 v8"), set("acc", "acc::f32"), need("acc::f32", 90, 82), sm(90), isa(81))

// The types of multimem, and the vectors that each float type may have: 4, 8 or 16 bytes.
var (
	multimemFloats = options(multimemAccess,
		when("vec=-", "type=f32 f64 f16x2 bf16x2"), when("vec=v2", "type=f32 f16 bf16 f16x2 bf16x2"),
		when("vec=v4", "type=f32 f16 bf16 f16x2 bf16x2"), when("vec=v8", "type=f16 bf16"))
	multimemOps = options(
		when("op=and or xor", "type=b32 b64"), when("op=min max", "type=u32 s32 u64 s64"), when("op=add", "type=u32 s32 u64"),
		set("op", "min max add and or xor"), set("type", "b32 b64 u32 u64 s32 s64"))
	multimemSums = options(multimemFloats, set("op", "add min max"), set("type", "f32 f64 f16 f16x2 bf16 bf16x2"),
		when("op=min max", "type=f16 f16x2 bf16 bf16x2"))
)

var multimemLoads = inst("d = the reduction of *a over all copies",
	form("multimem.ld_reduce.weak{.ss}.op.type =d, [a]", multimemAccess, multimemOps),
	form("multimem.ld_reduce{.sem}{.scope}{.ss}.op.type =d, [a]", multimemAccess, multimemOps, set("sem", "relaxed acquire"), ordered),
	form("multimem.ld_reduce.weak{.ss}.op{.acc}{.vec}.type =d:type[vec], [a]", multimemSums, accHalf),
	form("multimem.ld_reduce{.sem}{.scope}{.ss}.op{.acc}{.vec}.type =d:type[vec], [a]", multimemSums, accHalf, set("sem", "relaxed acquire"), ordered))

// ordered allows a scope only beside an order, and an order only beside a scope.
var ordered = options(when("sem=-", "scope=-"), when("scope=-", "sem=-"))

// accHalf allows a sum in f32 only for 16-bit types.
var accHalf = options(when("acc=acc::f32", "type=f16 f16x2 bf16 bf16x2"), when("acc=acc::f32, op=min max", "acc=-"))

var multimemStores = inst("*a = b in all copies",
	form("multimem.st.weak{.ss}.type [a], b", multimemAccess, set("type", "b32 b64 u32 u64 s32 s64")),
	form("multimem.st{.sem}{.scope}{.ss}.type [a], b", multimemAccess, set("type", "b32 b64 u32 u64 s32 s64"), set("sem", "relaxed release"), ordered),
	form("multimem.st.weak{.ss}{.vec}.type [a], b:type[vec]", multimemFloats, set("type", "f32 f64 f16 f16x2 bf16 bf16x2")),
	form("multimem.st{.sem}{.scope}{.ss}{.vec}.type [a], b:type[vec]", multimemFloats, set("type", "f32 f64 f16 f16x2 bf16 bf16x2"), set("sem", "relaxed release"), ordered))

var multimemReds = inst("*a = op(*a, b) in all copies",
	form("multimem.red{.sem}{.scope}{.ss}.op.type [a], b", multimemAccess, multimemOps, set("sem", "relaxed release"), ordered),
	form("multimem.red{.sem}{.scope}{.ss}.op{.vec}.type [a], b:type[vec]", multimemSums, when("op=min max", "type=f16 bf16"), set("sem", "relaxed release"), ordered))
