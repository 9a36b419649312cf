package machine

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// cost is what an instruction is to the hardware.
type cost struct {
	unit    Unit
	slots   int     // issue slots
	latency float64 // until the result can be read; 0 means the latency of the unit
	hold    float64 // cycles for which it holds its pipe; 0 means slots times the interval of the unit
	kind    kind
	pure    bool // no effect besides its results
	polls   bool // a wait for an mbarrier that says whether the phase is complete
	pastL1  bool // a load or copy that the L1 does not keep
	visible bool // other SMs see what was stored before it: a fence, or an access that releases
	fresh   bool // an access that acquires: later loads see what other SMs have stored, so the L1 is empty after it
}

// kind says what else an operation does.
type kind uint8

const (
	plain kind = iota
	loads
	stores
	atomics
	copies     // cp.async
	copyCommit // cp.async.commit_group
	copyWait   // cp.async.wait_group
	bulk
	bulkCommit
	bulkWait
	sends // st.async
	startsProduct
	productCommit
	productWait
	barriers
	fences
	stops // setmaxnreg, nanosleep: the warp waits for the latency
	ends  // exit, ret
	jumps
)

// costOf returns the cost of an instruction on a target.
func costOf(in *observe.Inst, r *rates, target ptx.Target) cost {
	class := in.Match.Class()
	switch class.Unit {
	case isa.UnitNone:
		return freeCost(in, r)
	case isa.UnitInteger:
		return integerCost(in, r)
	case isa.UnitFloat, isa.UnitHalf, isa.UnitDouble:
		return floatCost(in, class.Unit)
	case isa.UnitExp:
		return expCost(in, r)
	case isa.UnitConvert:
		return convertCost(in)
	case isa.UnitTensor:
		return mmaCost(in, r, target)
	case isa.UnitWGMMA:
		return wgmmaCost(in, class.Role)
	case isa.UnitBranch:
		if in.Op.Name == "exit" {
			return cost{unit: Branch, slots: 1, kind: ends}
		}
		return cost{unit: Branch, slots: 1, kind: jumps}
	case isa.UnitBarrier:
		return barrierCost(in, r)
	case isa.UnitLoadStore:
		return memoryCost(in, r, class.Role)
	case isa.UnitAsyncCopy:
		c := copyCost(class.Role, Memory, copies, copyCommit, copyWait)
		c.pastL1 = in.Op.Has("cg")
		return c
	case isa.UnitBulkCopy:
		c := copyCost(class.Role, Copy, bulk, bulkCommit, bulkWait)
		if c.kind == bulk {
			c.slots = 3 // its operands move to uniform registers
		}
		return c
	}
	return otherCost(in, r)
}

// freeCost is for instructions that become operands of others, except reads of special registers.
func freeCost(in *observe.Inst, r *rates) cost {
	if in.Op.Name == "ret" {
		return cost{unit: Branch, slots: 1, kind: ends}
	}
	if in.Op.Name == "mov" && len(in.Args) > 1 && in.Args[1].Kind == ptx.SpecialOperand {
		name := in.Args[1].Sym.Name
		if strings.HasPrefix(name, "%n") { // %ntid and %nctaid are in the constant bank
			return cost{pure: true}
		}
		return cost{unit: None, slots: 1, latency: r.special, pure: !strings.HasPrefix(name, "%clock") && name != "%globaltimer"}
	}
	return cost{pure: true}
}

// wide reports whether the operands of an instruction have 64 bits.
func wide(in *observe.Inst) bool {
	for _, m := range in.Op.Mods {
		switch m {
		case "u64", "s64", "b64":
			return true
		}
	}
	return false
}

func integerCost(in *observe.Inst, r *rates) cost {
	c := cost{unit: ALU, slots: 1, pure: true}
	if wide(in) {
		c.slots = 2
	}
	switch in.Op.Name {
	case "mul", "mad", "mul24", "mad24", "madc", "dp4a", "dp2a", "sad":
		c.unit = IMad
		if wide(in) && !in.Op.Has("wide") {
			c.slots = 4
		}
	case "div", "rem":
		return divisionCost(in, r)
	case "bfe", "bfi", "szext":
		c.slots *= 2
	case "popc", "clz", "bfind", "brev", "fns":
		c.unit, c.slots = Convert, 1
	case "vote":
		c.latency, c.pure = r.vote, false
	case "redux":
		c.latency, c.hold, c.pure = r.redux, 4*r.interval[ALU], false
	}
	return c
}

// divisionCost is for integer divisions. A power of two is a shift, another constant a
// multiplication, and a variable goes through reciprocals.
func divisionCost(in *observe.Inst, r *rates) cost {
	c := cost{unit: ALU, slots: 20, latency: 140, pure: true}
	if n := len(in.Args); n > 0 && in.Args[n-1].Kind == ptx.ImmOperand {
		c.slots, c.latency = 3, 3*r.latency[IMad]
		if v := in.Args[n-1].Val; v > 0 && bits.OnesCount64(uint64(v)) == 1 {
			c.slots, c.latency = 1, r.latency[ALU]
		}
		return c
	}
	if wide(in) {
		c.slots, c.latency = 70, 450
	}
	return c
}

func floatCost(in *observe.Inst, unit isa.Unit) cost {
	c := cost{unit: Float, slots: 1, pure: true}
	switch unit {
	case isa.UnitHalf:
		c.unit = Half
	case isa.UnitDouble:
		c.unit = Double
	}
	switch in.Op.Name {
	case "min", "max":
		if unit != isa.UnitHalf {
			c.unit = ALU
		}
	case "neg", "abs":
		c.slots = 0 // a modifier of the operand
	case "div":
		c.slots, c.latency = 9, 60
		if in.Op.Has("full") {
			c.slots, c.latency = 3, 40
		}
	}
	return c
}

func expCost(in *observe.Inst, r *rates) cost {
	c := cost{unit: Exp, slots: 1, latency: r.latency[Exp], hold: r.interval[Exp], pure: true}
	switch {
	case in.Op.Has("f16") || in.Op.Has("f16x2") || in.Op.Has("bf16x2") || in.Op.Name == "tanh" || in.Op.Name == "sin" || in.Op.Name == "cos":
		if in.Op.Has("f16x2") || in.Op.Has("bf16x2") {
			c.slots, c.hold = 2, 2*c.hold
		}
	case in.Op.Name == "div":
		c.slots, c.latency = 2, c.latency+r.latency[Float]
	case in.Op.Has("rn") || in.Op.Has("rz") || in.Op.Has("rm") || in.Op.Has("rp"):
		c.slots, c.latency = 9, c.latency+8*r.latency[Float]
	case !in.Op.Has("ftz"): // denormals need a comparison and two scalings
		c.slots, c.latency = 4, c.latency+3*r.latency[Float]
	case in.Op.Name == "sqrt":
		c.slots, c.latency = 2, c.latency+r.latency[Float]
	}
	return c
}

// convertCost is for conversions. Those among floats of at most 32 bits are cheap, those between
// integers and floats use the pipe of special functions.
func convertCost(in *observe.Inst) cost {
	floats, integers, double := 0, 0, false
	for _, m := range in.Op.Mods {
		t := ptx.ParseType(m)
		switch s := t.String(); {
		case t == ptx.NoType:
		case s == "f64":
			double = true
		case strings.HasPrefix(s, "u") || strings.HasPrefix(s, "s") || strings.HasPrefix(s, "b") && !strings.HasPrefix(s, "bf"):
			integers++
		default:
			floats++
		}
	}
	switch {
	case double:
		return cost{unit: Double, slots: 1, latency: 20, pure: true}
	case floats == 0:
		c := cost{unit: ALU, slots: 1, pure: true}
		if in.Op.Has("u64") && in.Op.Has("u32") {
			c.slots = 0 // the upper half is the zero register
		}
		return c
	case integers > 0:
		return cost{unit: Convert, slots: 1, pure: true}
	}
	return cost{unit: Pack, slots: 1, pure: true}
}

// shapeOf returns the extents of a matrix product.
func shapeOf(op *ptx.Opcode) (m, n, k int) {
	for _, mod := range op.Mods {
		if c, _ := fmt.Sscanf(mod, "m%dn%dk%d", &m, &n, &k); c == 3 {
			return m, n, k
		}
	}
	return 0, 0, 0
}

// bitsOf returns the bits of an element of the factors of a product.
func bitsOf(op *ptx.Opcode) float64 {
	for _, m := range op.Mods {
		switch m {
		case "e4m3", "e5m2", "s8", "u8":
			return 8
		case "s4", "u4":
			return 4
		case "b1":
			return 1
		case "tf32":
			return 32
		case "f64":
			return 64
		}
	}
	return 16
}

// mmaCost is for products of a warp. Hopper has no unit for mma.sync in FP8: the assembler
// converts the factors to f16.
func mmaCost(in *observe.Inst, r *rates, target ptx.Target) cost {
	m, n, k := shapeOf(in.Op)
	width := bitsOf(in.Op)
	fp8 := in.Op.Has("e4m3") || in.Op.Has("e5m2")
	c := cost{unit: Tensor, slots: 1, latency: r.latency[Tensor], pure: true}
	rate := r.tensorF16 * 16 / width
	if fp8 {
		rate = r.tensorFP8
		if target.SM >= 90 {
			rate = r.tensorF16
			c.slots = 2 + 12 // two products, and conversions of 24 values
			c.latency += 2 * r.latency[Pack]
		}
	}
	c.hold = 2 * float64(m*n*k) / max(rate*r.mmaShare/4, 1)
	if fp8 && target.SM >= 90 {
		c.hold = max(c.hold, 12*r.interval[Pack])
	}
	if c.hold > r.latency[Tensor] {
		c.latency += c.hold / 2
	}
	return c
}

func wgmmaCost(in *observe.Inst, role isa.Role) cost {
	switch role {
	case isa.RoleAsyncLoad:
		return cost{unit: WGMMA, slots: 1, kind: startsProduct}
	case isa.RoleCommit:
		return cost{unit: WGMMA, kind: productCommit}
	case isa.RoleWait:
		return cost{unit: WGMMA, slots: 1, kind: productWait}
	}
	return cost{unit: WGMMA, slots: 1, kind: fences, latency: 1}
}

func barrierCost(in *observe.Inst, r *rates) cost {
	c := cost{unit: Sync, slots: 1, kind: barriers, latency: r.arrive}
	if in.Op.Has("warp") {
		return cost{unit: None, slots: 1, kind: fences, latency: 1}
	}
	if in.Arg("waitComplete") != nil {
		c.latency, c.polls = r.try, true
	}
	if in.Op.Has("cluster") && in.Op.Has("arrive") {
		c.latency = 0
		if !in.Op.Has("relaxed") { // what was written before becomes visible to the cluster
			c.latency = r.clusterRelease
		}
	}
	return c
}

func memoryCost(in *observe.Inst, r *rates, role isa.Role) cost {
	c := cost{unit: Memory, slots: 1}
	if role != isa.RoleFence && (in.Op.Has("gpu") || in.Op.Has("sys")) {
		c.visible = in.Op.Has("release") || in.Op.Has("acq_rel")
		c.fresh = in.Op.Has("acquire") || in.Op.Has("acq_rel")
	}
	switch role {
	case isa.RoleLoad:
		c.kind = loads
		c.pastL1 = in.Op.Has("cg") || in.Op.Has("cv")
		if in.Op.Has("const") {
			c.latency = r.constant
		}
	case isa.RoleStore, isa.RolePrefetch, isa.RoleReduction:
		c.kind = stores
	case isa.RoleAtomic:
		c.kind = atomics
	case isa.RoleAsyncStore, isa.RoleAsyncReduction:
		c.kind = sends
	case isa.RoleFence:
		c.kind, c.latency = fences, r.fence
		if in.Op.Has("gpu") || in.Op.Has("gl") || in.Op.Has("sys") {
			c.latency, c.visible = r.fenceGPU, true
		}
	}
	return c
}

func copyCost(role isa.Role, unit Unit, start, commit, wait kind) cost {
	switch role {
	case isa.RoleCommit:
		return cost{unit: unit, slots: 1, kind: commit}
	case isa.RoleWait:
		return cost{unit: unit, slots: 1, kind: wait}
	case isa.RoleBarrier:
		return cost{unit: unit, slots: 1, kind: barriers}
	case isa.RolePrefetch:
		return cost{unit: unit, slots: 1, kind: stores}
	}
	return cost{unit: unit, slots: 1, kind: start}
}

func otherCost(in *observe.Inst, r *rates) cost {
	switch in.Op.Name {
	case "shfl", "movmatrix":
		return cost{unit: Shuffle, slots: 1}
	case "match":
		return cost{unit: Shuffle, slots: 1, latency: 2 * r.latency[Shuffle]}
	case "setmaxnreg":
		return cost{unit: None, slots: 1, kind: stops, latency: r.setmaxnreg}
	case "nanosleep":
		return cost{unit: None, slots: 1, kind: stops, latency: 500}
	case "activemask", "elect":
		return cost{unit: None, slots: 1, latency: r.vote}
	}
	return cost{unit: None, slots: 1, latency: r.latency[ALU]}
}
