package isa

import (
	"fmt"
	"slices"
	"strconv"
)

// tensorMemory lists the instructions of the fifth generation of tensor cores, whose sums are in a
// memory of their own.
var tensorMemory = &Family{
	Name:     "tcgen05",
	Doc:      "tensor memory of Blackwell, and the products that use it",
	Forms:    slices.Concat(tensorMemoryBlocks, tensorMemoryMoves(), tensorMemoryCopies(), tensorMemoryOrder, inst("starts d = a · b + d in tensor memory", tensorMemoryProducts()...)),
	ReadOnly: true,
}

// tensorMemoryNeeds is what tcgen05 needs: a target of the family of sm_100 or sm_110.
var tensorMemoryNeeds = inFamilies(86, 100, 110)

var ctaGroup = options(set("cta_group", "cta_group::1 cta_group::2"), tensorMemoryNeeds)

var tensorMemoryBlocks = slices.Concat(
	inst("writes the address of newly allocated columns of tensor memory to dst",
		form("tcgen05.alloc.cta_group.sync.aligned{.ss}.b32 [dst], nCols:u32", set("ss", "shared::cta"), ctaGroup)),
	inst("frees columns of tensor memory",
		form("tcgen05.dealloc.cta_group.sync.aligned.b32 taddr, nCols:u32", ctaGroup)),
	inst("lets other blocks allocate tensor memory",
		form("tcgen05.relinquish_alloc_permit.cta_group.sync.aligned", ctaGroup)),
)

// tensorMemoryMoves returns the moves between tensor memory and registers.
func tensorMemoryMoves() (all []*Form) {
	// registers holds the number of registers that each shape moves per repetition.
	shapes := []struct {
		name      string
		registers int
	}{{"32x32b", 1}, {"16x64b", 1}, {"16x128b", 2}, {"16x256b", 4}, {"16x32bx2", 1}}
	for _, s := range shapes {
		split := ""
		if s.name == "16x32bx2" {
			split = ", immHalfSplitoff:imm"
		}
		for n := 1; n*s.registers <= 128; n *= 2 {
			num, r := ".x"+strconv.Itoa(n), fmt.Sprintf("r:b32[%d]", n*s.registers)
			all = append(all, inst("r = the elements of tensor memory that belong to the lane",
				form("tcgen05.ld.sync.aligned."+s.name+num+"{.pack::16b}.b32 ="+r+", [taddr:tmem]"+split, tensorMemoryNeeds))...)
			all = append(all, inst("writes the lane's elements of tensor memory",
				form("tcgen05.st.sync.aligned."+s.name+num+"{.unpack::16b}.b32 [taddr:tmem]"+split+", "+r, tensorMemoryNeeds))...)
			if n > 1 && (s.name == "32x32b" || s.name == "16x32bx2") {
				all = append(all, tensorMemoryReductions(s.name+num, n, split)...)
			}
		}
	}
	return all
}

// tensorMemoryReductions returns the loads that also reduce the elements of a lane.
func tensorMemoryReductions(shape string, n int, split string) []*Form {
	redOp := options(set("redOp", "min max"), inFamilies(88, 103, 110))
	return inst("r = elements of tensor memory, and redval = their least or greatest",
		form(fmt.Sprintf("tcgen05.ld.red.sync.aligned.%s.redOp{.abs}{.NaN}.f32 =r:f32[%d], =redval:f32, [taddr:tmem]%s", shape, n, split), redOp),
		form(fmt.Sprintf("tcgen05.ld.red.sync.aligned.%s.redOp.type =r:type[%d], =redval, [taddr:tmem]%s", shape, n, split), redOp, set("type", "u32 s32")))
}

func tensorMemoryCopies() (all []*Form) {
	formats := options(set("src", "b6x16_p32 b4x16_p64"), ctaGroup)
	for _, format := range []string{"", ".b8x16.src"} {
		all = append(all,
			form("tcgen05.cp.cta_group.shape"+format+" [taddr:tmem], sDesc:b64", formats, set("shape", "128x256b 4x256b 128x128b")),
			form("tcgen05.cp.cta_group.64x128b.multicast"+format+" [taddr:tmem], sDesc:b64", formats, set("multicast", "warpx2::02_13 warpx2::01_23")),
			form("tcgen05.cp.cta_group.32x128b.warpx4"+format+" [taddr:tmem], sDesc:b64", formats))
	}
	inst("starts a copy from shared memory to tensor memory", all...)
	return append(all, inst("starts moving rows of tensor memory down by one", form("tcgen05.shift.cta_group.down [taddr:tmem]", ctaGroup))...)
}

var tensorMemoryOrder = slices.Concat(
	inst("waits for the loads or stores of tensor memory", form("tcgen05.op.sync.aligned", set("op", "wait::ld wait::st"), tensorMemoryNeeds)),
	inst("orders asynchronous operations and a barrier", form("tcgen05.op", set("op", "fence::before_thread_sync fence::after_thread_sync"), tensorMemoryNeeds)),
	inst("makes an mbarrier count the operations that were started",
		form("tcgen05.commit.cta_group.mbarrier::arrive::one{.ss}{.multicast::cluster}.b64 [mbar]{, ctaMask:u16 @multicast::cluster}",
			set("ss", "shared::cluster"), ctaGroup)),
)
