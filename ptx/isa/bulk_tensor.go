package isa

import (
	"slices"
	"strconv"
)

// bulkTensor lists the copies of boxes of tensors that a tensor map describes.
var bulkTensor = &Family{
	Name: "bulktensor",
	Doc:  "bulk copies and reductions of tensors, and their tensor maps",
	Forms: slices.Concat(
		inst("starts copying a box of the tensor to shared memory, counted at an mbarrier", tensorLoads()...),
		inst("starts copying a box to the tensor, counted in a bulk group",
			form("cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.L2::cache_hint} "+tensorStore, sm(90), isa(80)),
			form("cp.async.bulk.tensor.dim.global.shared::cta.im2col_no_offs.bulk_group{.L2::cache_hint} "+tensorStore, imageDims, sm(90), isa(80))),
		inst("starts combining a box with that of the tensor, element by element, counted in a bulk group",
			form("cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.tile}.bulk_group{.L2::cache_hint} "+tensorStore, tensorOps, sm(90), isa(80)),
			form("cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp.im2col_no_offs.bulk_group{.L2::cache_hint} "+tensorStore, tensorOps, imageDims, sm(90), isa(80))),
		inst("starts bringing a box of the tensor into the second-level cache", tensorPrefetches()...),
		inst("changes a field of the tensor map at addr", mapFields()...),
		inst("copies a tensor map to global memory and makes it known to its readers",
			form("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [dst:global], [src:shared::cta], size:imm(128)", sm(90), isa(83))),
	),
}

const tensorStore = "[tensorMap:tensor], [srcMem:shared::cta]" + cachePolicy

var (
	// imageDims holds the dimensions of tensors that im2col can unfold: batch, channels
	// and at least one spatial axis.
	imageDims = set("dim", "3d 4d 5d")
	tensorOps = set("redOp", "add min max inc dec and or xor")
)

func tensorLoads() []*Form {
	const (
		toCluster   = "cp.async.bulk.tensor.dim.shared::cluster.global"
		toBlock     = "cp.async.bulk.tensor.dim.shared::cta.global"
		counted     = ".mbarrier::complete_tx::bytes"
		clusterMods = "{.multicast::cluster}{.L2::cache_hint} [dstMem:shared::cluster], [tensorMap:tensor], [mbar:shared::cluster]"
		clusterArgs = "{, ctaMask:u16 @multicast::cluster}" + cachePolicy
		blockMods   = "{.L2::cache_hint} [dstMem:shared::cta], [tensorMap:tensor], [mbar:shared::cta]"
		blockArgs   = cachePolicy
	)
	fs := []*Form{
		form(toCluster+"{.tile}"+counted+clusterMods+clusterArgs, sm(90), isa(80)),
		form(toBlock+"{.tile}"+counted+blockMods+blockArgs, sm(90), isa(86)),
	}
	for dim := 3; dim <= 5; dim++ {
		d, offsets := imageDim(dim)
		fs = append(fs,
			form(toCluster+".im2col"+counted+clusterMods+offsets+clusterArgs, d, sm(90), isa(80)),
			form(toBlock+".im2col"+counted+blockMods+offsets+blockArgs, d, sm(90), isa(86)))
	}
	return fs
}

// imageDim returns an option that restricts dim to one value, and the operand that depends
// on it: one offset for each spatial axis.
func imageDim(dim int) (option, string) {
	return set("dim", strconv.Itoa(dim)+"d"), ", im2colOffsets:u16[" + strconv.Itoa(dim-2) + "]"
}

func tensorPrefetches() []*Form {
	const (
		head = "cp.async.bulk.prefetch.tensor.dim.L2.global"
		mods = "{.L2::cache_hint} [tensorMap:tensor]"
		args = cachePolicy
	)
	fs := []*Form{form(head+"{.tile}"+mods+args, sm(90), isa(80))}
	for dim := 3; dim <= 5; dim++ {
		d, offsets := imageDim(dim)
		fs = append(fs, form(head+".im2col"+mods+offsets+args, d, sm(90), isa(80)))
	}
	return fs
}

func mapFields() []*Form {
	line := func(field, typ, operands string) *Form {
		return form("tensormap.replace.tile.field{.ss}.b1024."+typ+" [addr], "+operands,
			set("field", field), set("ss", "global shared::cta"), smA(90), isa(83), narrowNeeds)
	}
	return []*Form{
		line("global_address", "b64", "newVal:b64"),
		line("rank", "b32", "newVal:b32"),
		line("box_dim global_dim element_stride", "b32", "ord:imm(0 1 2 3 4), newVal:b32"),
		line("global_stride", "b64", "ord:imm(0 1 2 3 4), newVal:b64"),
		line("elemtype", "b32", "newVal:imm(0 1 2 3 4 5 6 7 8 9 10 11 12)"),
		line("interleave_layout", "b32", "newVal:imm(0 1 2)"),
		line("swizzle_mode", "b32", "newVal:imm(0 1 2 3)"),
		line("fill_mode", "b32", "newVal:imm(0 1)"),
	}
}
