package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// role is what an instruction does to the order of things.
type role uint8

const (
	roleNone role = iota
	roleBarrier
	roleBarrierArrive
	roleClusterArrive
	roleClusterWait
	roleFence
	roleProxyFence
	roleLanes // lanes of a warp meet: bar.warp.sync, shfl.sync, vote.sync …
	roleCopy  // cp.async
	roleCopyCommit
	roleCopyWait
	roleCopyArrive
	roleBulk // cp.async.bulk and the like, started in one go
	roleBulkCommit
	roleBulkWait
	roleProduct // wgmma.mma_async
	roleProductCommit
	roleProductWait
	roleEnd
	rolePrefetch
)

// class is what the checkers know of an instruction.
type class struct {
	role   role
	atomic bool
	strong bool // morally: atomic, volatile, relaxed, acquire, release
	// release and acquire say that it is one by itself.
	release, acquire bool
	wide             bool // scope of the GPU or the system, or of the cluster
	async            bool // its accesses are asynchronous
	proxy            bool // and in the async proxy
	relaxed          bool // barriers: not a release or acquire; loads: by their own word
	rows             bool // it brings rows of a factor
	read             bool // bulk wait_group.read
	keep             int  // wait_group N
	all              bool // wait_all
	shared, global   bool // fence.proxy.async: of which memory
	init             bool // fence.mbarrier_init
	tensorMap        bool // fence.proxy.tensormap, its acquire
	guess            bool // a plain load that a compare-and-swap starts from
	blind            bool // an atomic that does not tell what it found: red
}

// classify looks at an instruction once.
func classify(in *observe.Inst) class {
	op := in.Op
	c := class{}
	switch op.Name {
	case "ld", "st", "ldu":
		c.release, c.acquire = op.Has("release"), op.Has("acquire")
		c.relaxed = op.Name == "ld" && op.Has("relaxed")
		c.strong = c.release || c.acquire || op.Has("relaxed") || op.Has("volatile") || op.Has("mmio")
		if op.Has("async") {
			c.role, c.async = roleBulk, true
		}
	case "atom", "red":
		c.atomic, c.strong, c.blind = true, true, op.Name == "red"
		c.release, c.acquire = op.Has("release") || op.Has("acq_rel"), op.Has("acquire") || op.Has("acq_rel")
		if op.Has("async") {
			c.role, c.async = roleBulk, true
		}
	case "bar", "barrier":
		c.role = barrierRole(op)
		c.relaxed = op.Has("relaxed")
	case "fence", "membar":
		c.fence(op)
	case "shfl", "vote", "match", "redux", "elect":
		if in.Arg("membermask") != nil {
			c.role = roleLanes
		}
	case "cp":
		c.copy(in)
	case "wgmma":
		c.product(in)
	case "ret", "exit":
		c.role = roleEnd
	case "prefetch", "prefetchu":
		c.role = rolePrefetch
	}
	c.wide = !op.Has("cta")
	return c
}

func barrierRole(op *ptx.Opcode) role {
	switch {
	case op.Has("warp"):
		return roleLanes
	case op.Has("cluster") && op.Has("arrive"):
		return roleClusterArrive
	case op.Has("cluster"):
		return roleClusterWait
	case op.Has("arrive"):
		return roleBarrierArrive
	}
	return roleBarrier
}

// fence reads a fence. The one of mbarrier.init is a fence between threads, and so is
// that of the tensor map's proxy, which also shows copies the maps that were written:
// they read nothing else of what threads write through it.
func (c *class) fence(op *ptx.Opcode) {
	c.role = roleFence
	if op.Has("proxy") && (op.Has("async") || op.Has("async::generic")) {
		c.role = roleProxyFence
	}
	c.init = op.Has("mbarrier_init")
	c.tensorMap = op.Has("proxy") && op.Has("tensormap::generic") && op.Has("acquire")
	c.shared, c.global = !c.tensorMap, true
	for _, m := range op.Mods {
		switch m {
		case "shared::cta", "shared::cluster":
			c.global = false
		case "global":
			c.shared = false
		}
	}
}

func (c *class) copy(in *observe.Inst) {
	op := in.Op
	bulk := op.Has("bulk")
	switch {
	case op.Has("prefetch"):
		c.role = rolePrefetch
	case op.Has("commit_group") && bulk:
		c.role = roleBulkCommit
	case op.Has("wait_group") && bulk:
		c.role, c.read, c.keep = roleBulkWait, op.Has("read"), constant(in, "N")
	case bulk:
		c.role, c.async, c.proxy = roleBulk, true, true
		c.atomic = op.Has("reduce")
		c.strong = c.atomic
	case op.Has("commit_group"):
		c.role = roleCopyCommit
	case op.Has("wait_group"):
		c.role, c.keep = roleCopyWait, constant(in, "N")
	case op.Has("wait_all"):
		c.role, c.all = roleCopyWait, true
	case op.Has("mbarrier"):
		c.role = roleCopyArrive
	default:
		c.role, c.async = roleCopy, true
	}
}

func (c *class) product(in *observe.Inst) {
	switch op := in.Op; {
	case op.Has("mma_async"):
		c.role, c.async, c.proxy = roleProduct, true, true
	case op.Has("commit_group"):
		c.role = roleProductCommit
	case op.Has("wait_group"):
		c.role, c.keep = roleProductWait, constant(in, "N")
	}
}

func constant(in *observe.Inst, name string) int {
	if o := in.Arg(name); o != nil {
		return int(o.Val)
	}
	return 0
}
