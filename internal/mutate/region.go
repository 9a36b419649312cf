package mutate

import (
	"slices"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Region is where in a function an instruction is.
type Region string

// The regions. The main loops are the innermost loops with products or exponentials, or the
// outermost loops of a function that has neither. A persistent kernel repeats all three.
const (
	Prologue Region = "prologue"
	MainLoop Region = "main loop"
	Epilogue Region = "epilogue"
)

// Regions are the regions in the order of execution.
var Regions = []Region{Prologue, MainLoop, Epilogue}

// Part is what an instruction is for.
type Part string

// The parts.
const (
	Loads     Part = "load"
	Stores    Part = "store"
	Products  Part = "product"
	Floats    Part = "softmax" // float arithmetic outside of products, and conversions
	Addresses Part = "address" // integer arithmetic
	Control   Part = "control"
	Syncs     Part = "sync"
)

// Parts are all parts.
var Parts = []Part{Loads, Products, Floats, Stores, Addresses, Control, Syncs}

// partOf returns the part of an instruction by its class, and by its type where it only moves
// or compares numbers.
func partOf(m isa.Match) Part {
	c := m.Class()
	switch c.Role {
	case isa.RoleFence, isa.RoleBarrier, isa.RoleCommit, isa.RoleWait:
		return Syncs
	case isa.RoleStore, isa.RoleAtomic, isa.RoleReduction, isa.RoleAsyncStore, isa.RoleAsyncReduction:
		return Stores
	}
	switch c.Unit {
	case isa.UnitTensor, isa.UnitWGMMA:
		return Products
	case isa.UnitFloat, isa.UnitHalf, isa.UnitDouble, isa.UnitExp, isa.UnitConvert:
		return Floats
	case isa.UnitBranch, isa.UnitOther:
		return Control
	}
	switch {
	case c.Role == isa.RoleLoad || c.Role == isa.RoleAsyncLoad || c.Role == isa.RolePrefetch:
		return Loads
	case m.Has("f32"), m.Has("f16"), m.Has("f16x2"), m.Has("f64"):
		return Floats
	}
	return Addresses
}

// regionsOf returns the region of each statement of a function.
func regionsOf(f *ptx.Func) []Region {
	g := verify.NewCFG(f)
	loops := mainLoops(g)
	inside := func(block int) bool {
		return slices.ContainsFunc(loops, func(l int) bool { return g.InLoop(block, l) })
	}
	reaches := make([]bool, len(g.Blocks)) // a main loop, without going back
	for _, b := range slices.Backward(g.RPO) {
		reaches[b] = inside(b) || slices.ContainsFunc(g.Blocks[b].Succs, func(s int) bool { return !g.Dominates(s, b) && reaches[s] })
	}
	regions := make([]Region, len(f.Body))
	for b := range g.Blocks {
		r := Epilogue
		switch {
		case inside(b):
			r = MainLoop
		case reaches[b]:
			r = Prologue
		}
		for i := g.Blocks[b].Start; i < g.Blocks[b].End; i++ {
			regions[i] = r
		}
	}
	return regions
}

// mainLoops returns the main loops of a function.
func mainLoops(g *verify.CFG) (loops []int) {
	for b := range g.Blocks {
		l := g.LoopOf[b]
		if l < 0 || slices.Contains(loops, l) {
			continue
		}
		for _, s := range g.Func.Body[g.Blocks[b].Start:g.Blocks[b].End] {
			if in, ok := s.(*ptx.Inst); ok {
				if c := isa.ClassOf(in.Op); c.Unit == isa.UnitExp || c.Unit == isa.UnitTensor || c.Unit == isa.UnitWGMMA {
					loops = append(loops, l)
					break
				}
			}
		}
	}
	if len(loops) > 0 {
		return loops
	}
	for l := range g.Loops {
		if g.Loops[l].Depth == 1 {
			loops = append(loops, l)
		}
	}
	return loops
}
