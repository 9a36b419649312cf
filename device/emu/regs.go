package emu

import "github.com/GOATnote-Inc/attest/ptx"

// lanes32 and lanes64 are one register of a warp. Values narrower than the lane
// are kept extended by zeros.
type (
	lanes32 = [32]uint32
	lanes64 = [32]uint64
)

const fullMask = 1<<32 - 1

// frame is an activation of a function by some lanes of a warp.
type frame struct {
	w      *warp
	b      *block
	fn     *function
	r32    []lanes32 // values of up to 32 bits
	r64    []lanes64 // 64 bits; a 128-bit value has two, the low one first
	p      []uint32  // predicates: a bit a lane
	cc     uint32    // the carry flag CC.CF: a bit a lane
	params []byte    // the .param variables of a device function and its calls: paramSize bytes a lane
	local  uint64    // where the frame's .local variables start in each thread's local memory
	stack  *lanes64  // where each lane's stack ends once alloca has moved it; 0 where it has not
	parent *frame
	site   *callSite // of the parent
	ret    int32     // where the parent goes on
	depth  int
	live   int // splits in this frame, and frames it has called
	// aside32 and aside64 hold what an instruction computes for all lanes when it
	// runs for some.
	aside32 lanes32
	aside64 lanes64
}

// slot is an index into the registers of a frame: r32, r64 or p by the type.
type slot int32

// width is which of the register files holds values of a type.
type width uint8

const (
	w32 width = iota
	w64
	w128
	wPred
)

func widthOf(t ptx.Type) width {
	switch {
	case t == ptx.Pred:
		return wPred
	case t.Bits() <= 32:
		return w32
	case t.Bits() <= 64:
		return w64
	}
	return w128
}
