package isa

import "slices"

// memory lists the instructions that move data between registers and memory, and those that
// convert addresses between state spaces.
var memory = &Family{
	Name: "memory",
	Doc:  "moves, loads, stores, address conversion and the stack",
	Forms: slices.Concat(
		inst("d = a; packs a vector of registers into a wider one or unpacks it",
			form("mov.type =d, a", set("type", "b16 b32 b64 b128"), need("b128", 70, 83))),
		inst("d = a, or the address of a variable or function, or a special register",
			form("mov.type =d, a", set("type", "u16 u32 u64 s16 s32 s64 f32 f64")),
			form("mov.pred =d, a:pred!"),
			form("mov.vec.type =d:type[vec], a:type[vec]", set("type", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"),
				when("vec=v4", "type=b16 b32 u16 u32 s16 s32 f32"))),
		inst("d = *a", loads()...),
		inst("d = *a, read through the non-coherent cache",
			form("ld.global{.cop}.nc{.L2::cache_hint}{.level::prefetch_size}{.vec}.type =d:type[vec], [a]"+cachePolicy,
				memAccess, wide32, set("cop", "ca cg cs"), sm(32), isa(31)),
			form("ld.global.nc.level::eviction_priority{.L2::cache_hint}{.level::prefetch_size}{.vec}.type =d:type[vec], [a]"+cachePolicy,
				memAccess, wide32, sm(70), isa(74))),
		inst("d = *a, the same address for all threads of a warp",
			form("ldu{.ss}{.vec}.type =d:type[vec], [a]", memAccess, vec16, set("ss", "global"), sm(20), isa(20))),
		inst("*a = b", stores()...),
		inst("p = the generic address of a, an address of the space",
			form("cvta.space.size =p:size, a:size", addressSpaces, sm(20), isa(20))),
		inst("p = the address in the space of a, a generic address",
			form("cvta.to.space.size =p:size, a:size", addressSpaces, sm(20), isa(20))),
		inst("p = whether the generic address a falls in the space",
			form("isspacep.space =p:pred, a:u64", addressSpaces, sm(20), isa(20))),
		inst("ptr = size bytes of the thread's stack",
			form("alloca.type =ptr, size{, immAlign:imm}", set("type", "u32 u64"), sm(52), isa(73))),
		inst("d = the stack pointer", form("stacksave.type =d", set("type", "u32 u64"), sm(52), isa(73))),
		inst("the stack pointer = a", form("stackrestore.type a", set("type", "u32 u64"), sm(52), isa(73))),
	),
}

// memTypes are the types of loads and stores.
var memTypes = options(
	wider(),
	set("type", "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"),
	need("b128", 70, 83),
)

// wideSys is what an ordered access of 16 bytes with the scope sys needs.
var wideSys = needWhen("scope=sys, type=b128", 70, 84)

const (
	// cachePolicy is the operand that the modifier L2::cache_hint requires.
	cachePolicy = "{, cachePolicy:b64 @L2::cache_hint}"

	evictions  = "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate"
	prefetches = "L2::64B L2::128B L2::256B"
)

// memAccess adds vectors and cache hints.
var memAccess = options(
	memTypes,
	set("level::eviction_priority", evictions),
	set("level::prefetch_size", prefetches),
	need(evictions, 70, 74),
	when("vec=v2", "type=b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"),
)

// vec16 limits vectors to 16 bytes.
var vec16 = when("vec=v4", "type=b8 b16 b32 u8 u16 u32 s8 s16 s32 f32")

// vec32 adds vectors of 32 bytes, which only global memory has. wide32 is vec32 for forms that
// name global memory.
var (
	wide32 = options(
		set("vec", "v2 v4 v8"),
		when("vec=v4", "type=b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"),
		when("vec=v8", "type=b32 u32 s32 f32"),
		need("v8", 100, 88),
		needWhen("vec=v4, type=b64 u64 s64 f64", 100, 88),
	)
	vec32 = options(wide32, when("vec=v8", "ss=global"), when("vec=v4, type=b64 u64 s64 f64", "ss=global"))
)

// addressSpaces holds the state spaces that have a window in the generic address space.
var addressSpaces = options(
	set("space", "const global local shared shared::cta shared::cluster param param::entry"),
	set("size", "u64"),
	need("const", 20, 31), need("param", 70, 77), need("param::entry", 70, 83),
)

// Cache hints are legal only for global memory, because accesses to other spaces do not use
// these caches.
var (
	policyGlobal   = when("L2::cache_hint=L2::cache_hint", "ss=- global")
	prefetchGlobal = when("level::prefetch_size="+prefetches, "ss=- global")
	evictionGlobal = when("level::eviction_priority="+evictions, "ss=- global")
)

func loads() []*Form {
	return []*Form{
		form("ld{.weak}{.ss}{.cop}{.L2::cache_hint}{.level::prefetch_size}{.vec}.type =d:type[vec], [a]"+cachePolicy,
			memAccess, vec32, policyGlobal, prefetchGlobal,
			set("ss", "const global local param param::entry param::func shared shared::cta shared::cluster"),
			set("cop", "ca cg cs lu cv")),
		form("ld{.weak}{.ss}.level::eviction_priority{.L2::cache_hint}{.level::prefetch_size}{.vec}.type =d:type[vec], [a]"+cachePolicy,
			memAccess, vec32, set("ss", "global"), sm(70), isa(74)),
		form("ld.volatile{.ss}{.level::prefetch_size}{.vec}.type =d:type[vec], [a]",
			memAccess, vec32, prefetchGlobal, set("ss", "global shared shared::cta shared::cluster")),
		form("ld.sem.scope{.ss}{.level::eviction_priority}{.L2::cache_hint}{.level::prefetch_size}{.vec}.type =d:type[vec], [a]"+cachePolicy,
			memAccess, vec32, policyGlobal, prefetchGlobal, evictionGlobal, set("sem", "relaxed acquire"), set("ss", "global shared shared::cta shared::cluster"), wideSys, sm(70), isa(60)),
		form("ld.mmio.relaxed.sys{.global}.type =d, [a:global]", memTypes, need("b128", 70, 84), sm(70), isa(82)),
	}
}

func stores() []*Form {
	return []*Form{
		form("st{.weak}{.ss}{.cop}{.L2::cache_hint}{.vec}.type [a], b:type[vec]"+cachePolicy,
			memAccess, vec32, policyGlobal,
			set("ss", "global local param param::func shared shared::cta shared::cluster"),
			set("cop", "wb cg cs wt")),
		form("st{.weak}{.ss}.level::eviction_priority{.L2::cache_hint}{.vec}.type [a], b:type[vec]"+cachePolicy,
			memAccess, vec32, set("ss", "global"), sm(70), isa(74)),
		form("st.volatile{.ss}{.vec}.type [a], b:type[vec]",
			memAccess, vec32, set("ss", "global shared shared::cta shared::cluster")),
		form("st.sem.scope{.ss}{.level::eviction_priority}{.L2::cache_hint}{.vec}.type [a], b:type[vec]"+cachePolicy,
			memAccess, vec32, policyGlobal, evictionGlobal, set("sem", "relaxed release"), set("ss", "global shared shared::cta shared::cluster"), wideSys, sm(70), isa(60)),
		form("st.mmio.relaxed.sys{.global}.type [a:global], b", memTypes, need("b128", 70, 84), sm(70), isa(82)),
	}
}
