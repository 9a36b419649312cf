package isa

import "slices"

// atomic lists the instructions that read, change and write memory in one step.
var atomic = &Family{
	Name: "atomic",
	Doc:  "atomic operations and reductions on memory",
	Forms: slices.Concat(
		inst("d = *a, *a = op(*a, b)", atoms("atom{.sem}{.scope}{.space}", "=d:type, [a:space], b:type", atomSems)...),
		inst("d = *a, *a = b",
			form("atom{.sem}{.scope}{.space}.exch{.L2::cache_hint}.type =d, [a:space], b"+cachePolicy,
				atomSlots, atomHint, set("sem", atomSems), set("type", "b32 b64 b128"), need("b128", 90, 83), wideSys)),
		inst("d = *a, *a = c if *a equals b",
			form("atom{.sem}{.scope}{.space}.cas.type =d, [a:space], b, c",
				atomSlots, set("sem", atomSems), set("type", "b16 b32 b64 b128"), need("b16", 70, 63), need("b128", 90, 83), wideSys)),
		inst("d = *a, *a = op(*a, b) for each element of a vector",
			atomVectors("atom{.sem}{.scope}{.global}", "=d:type[vec], [a:global], b:type[vec]", atomSems)...),
		inst("*a = op(*a, b)", atoms("red{.sem}{.scope}{.space}", "[a:space], b:type", "relaxed release")...),
		inst("*a = op(*a, b) for each element of a vector",
			atomVectors("red{.sem}{.scope}{.global}", "[a:global], b:type[vec]", "relaxed release")...),
		inst("*a = op(*a, b) in another block's shared memory, counted at an mbarrier", asyncReds()...),
		inst("*a = b in another block's shared memory, counted at an mbarrier",
			form("st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a:shared::cluster], b:type[vec], [mbar:shared::cluster]",
				set("type", "b32 b64 u32 u64 s32 s64 f32 f64"), when("vec=v4", "type=b32 u32 s32 f32"), sm(90), isa(81))),
	),
}

const atomSems = "relaxed acquire release acq_rel"

var (
	// atomSlots holds the state spaces of atomics and the versions that their scopes need.
	atomSlots = options(
		set("space", "global shared shared::cta shared::cluster"),
		need("cta gpu sys", 60, 50),
	)
	// atomHint allows the cache hint only for global memory.
	atomHint = when("L2::cache_hint=L2::cache_hint", "space=- global")
)

// atoms returns the forms that atom and red have in common.
func atoms(opcode, operands, sems string) []*Form {
	common := options(atomSlots, atomHint, set("sem", sems))
	operands += cachePolicy
	line := func(rest string, opts ...option) *Form {
		return form(opcode+rest+" "+operands, slices.Concat([]option{common}, opts)...)
	}
	return []*Form{
		line(".op{.L2::cache_hint}.type", set("op", "and or xor"), set("type", "b32 b64")),
		line(".add{.L2::cache_hint}.type", set("type", "u32 s32 u64 f32 f64"), need("f64", 60, 50)),
		line(".op{.L2::cache_hint}.type", set("op", "inc dec"), set("type", "u32")),
		line(".op{.L2::cache_hint}.type", set("op", "min max"), set("type", "u32 s32 u64 s64")),
		line(".add.noftz{.L2::cache_hint}.type", set("type", "f16 f16x2 bf16 bf16x2"),
			need("f16", 70, 63), need("f16x2", 60, 62), need("bf16 bf16x2", 90, 78)),
	}
}

// atomVectors returns the forms of atom and red on vectors in global memory.
func atomVectors(opcode, operands, sems string) []*Form {
	common := options(set("sem", sems), sm(90), isa(81))
	operands += cachePolicy
	return []*Form{
		form(opcode+".add{.L2::cache_hint}.vec.type "+operands, common, set("type", "f32")),
		form(opcode+".op.noftz{.L2::cache_hint}.vec.type "+operands, common,
			set("op", "add min max"), set("vec", "v2 v4 v8"), set("type", "f16 bf16")),
		form(opcode+".op.noftz{.L2::cache_hint}.vec.type "+operands, common,
			set("op", "add min max"), set("type", "f16x2 bf16x2")),
	}
}

func asyncReds() []*Form {
	line := func(op, types string) *Form {
		return form("red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type [a:shared::cluster], b, [mbar:shared::cluster]",
			set("op", op), set("type", types), sm(90), isa(81))
	}
	return []*Form{
		line("inc dec", "u32"),
		line("min max", "u32 s32"),
		line("and or xor", "b32"),
		line("add", "u32 s32 u64"),
	}
}
