package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// role is what an instruction does to the order of accesses.
type role uint8

const (
	roleNone role = iota
	roleBarrier
	roleBarrierArrive
	roleClusterArrive
	roleClusterWait
	roleFence
	roleProxyFence
	roleLanes // lanes of a warp meet: bar.warp.sync, shfl.sync, vote.sync
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

// classify derives what the checkers need from the instruction table.
func classify(in *observe.Inst) class {
	k, c := in.Match.Class(), class{wide: !in.Has("cta")}
	switch k.Unit {
	case isa.UnitBarrier:
		if k.Writes == 0 { // not an mbarrier, which announces its operations itself
			c.role, c.relaxed = barrierRole(in.Op), in.Has("relaxed")
		}
		return c
	case isa.UnitAsyncCopy, isa.UnitBulkCopy, isa.UnitWGMMA:
		c.group(in, k)
		return c
	}
	switch {
	case isEnd(in):
		c.role = roleEnd
	case hasMembers(in):
		c.role = roleLanes
	case k.Role == isa.RoleFence:
		c.fence(in.Op)
	case k.Role == isa.RolePrefetch:
		c.role = rolePrefetch
	case k.Role != isa.RoleNone:
		c.access(in, k)
	}
	return c
}

// access reads the memory order of a load, a store or an atomic.
func (c *class) access(in *observe.Inst, k isa.Class) {
	sem := in.Mod("sem")
	c.release, c.acquire = sem == "release" || sem == "acq_rel", sem == "acquire" || sem == "acq_rel"
	switch k.Role {
	case isa.RoleAtomic, isa.RoleReduction, isa.RoleAsyncReduction:
		c.atomic, c.strong, c.blind = true, true, k.Role != isa.RoleAtomic
	default:
		c.relaxed = k.Role == isa.RoleLoad && in.Has("relaxed")
		c.strong = sem != "" || in.Has("volatile") || in.Has("mmio")
	}
	if k.Role.Async() {
		c.role, c.async = roleBulk, true
	}
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

// groupRoles are the roles of asynchronous instructions that groups count, by the unit
// that executes them: starting work, closing a group and waiting for groups.
var groupRoles = map[isa.Unit]struct{ start, commit, wait role }{
	isa.UnitAsyncCopy: {roleCopy, roleCopyCommit, roleCopyWait},
	isa.UnitBulkCopy:  {roleBulk, roleBulkCommit, roleBulkWait},
	isa.UnitWGMMA:     {roleProduct, roleProductCommit, roleProductWait},
}

// group reads an asynchronous copy or product, or what closes or awaits groups of them.
func (c *class) group(in *observe.Inst, k isa.Class) {
	roles := groupRoles[k.Unit]
	switch k.Role {
	case isa.RoleCommit:
		c.role = roles.commit
	case isa.RoleWait:
		c.role, c.read, c.all, c.keep = roles.wait, in.Has("read"), in.Has("wait_all"), constant(in, "N")
	case isa.RolePrefetch:
		c.role = rolePrefetch
	case isa.RoleBarrier:
		c.role = roleCopyArrive
	case isa.RoleAsyncLoad, isa.RoleAsyncStore, isa.RoleAsyncReduction:
		c.role, c.async, c.proxy = roles.start, true, k.Unit != isa.UnitAsyncCopy
		c.atomic = k.Role == isa.RoleAsyncReduction
		c.strong = c.atomic
	}
}

func constant(in *observe.Inst, name string) int {
	if o := in.Arg(name); o != nil {
		return int(o.Val)
	}
	return 0
}
