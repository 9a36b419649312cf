package predict

import (
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Class is a kind of kernel whose predictions have similar errors. It depends on the products that the
// kernel computes, because the rest of a kernel is arranged around them.
type Class string

// The classes.
const (
	GroupProducts8  Class = "wgmma8"  // wgmma on factors of 8 bits
	GroupProducts16 Class = "wgmma16" // wgmma on wider factors
	WarpProducts    Class = "mma"     // mma.sync
	NoProducts      Class = "plain"   // no tensor cores
)

// Classes lists all classes.
var Classes = []Class{GroupProducts8, GroupProducts16, WarpProducts, NoProducts}

// ClassOf returns the class of a launch, by the instructions that its first recorded cluster executed:
// a module may hold other kernels.
func ClassOf(l *warptrace.Launch) Class {
	class := NoProducts
	for id := range executed(l.Clusters[0]) {
		in := &l.Program[id]
		switch in.Match.Class().Unit {
		case isa.UnitWGMMA:
			if in.Op.Has("e4m3") || in.Op.Has("e5m2") || in.Op.Has("s8") || in.Op.Has("u8") {
				return GroupProducts8
			}
			class = GroupProducts16
		case isa.UnitTensor:
			if class == NoProducts {
				class = WarpProducts
			}
		}
	}
	return class
}

// executed returns the instructions that a cluster executed.
func executed(c *warptrace.Cluster) map[int32]bool {
	ids := map[int32]bool{}
	for i := range c.Blocks {
		for _, warp := range c.Blocks[i].Warps {
			for _, e := range warp {
				ids[e.ID] = true
			}
		}
	}
	return ids
}

// band returns the factors between which most measured times of a class lie, relative to the
// prediction.
func band(chip *chips.Chip, c Class) (low, high float64) {
	return chip.Get("band_low_" + string(c)), chip.Get("band_high_" + string(c))
}
