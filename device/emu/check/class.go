package check

import (
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// role is the effect of an instruction on the order of accesses.
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
	roleBulk // cp.async.bulk, st.async and red.async
	roleBulkCommit
	roleBulkWait
	roleProduct // wgmma.mma_async
	roleProductCommit
	roleProductWait
	roleEnd
	rolePrefetch
)

// class is the properties of an instruction that the order of accesses depends on.
type class struct {
	role   role
	atomic bool
	strong bool // the access is strong: atomic, volatile, relaxed, acquire or release
	// release and acquire say that the instruction itself is a release or an acquire.
	release, acquire bool
	scope            scope
	async            bool // the accesses are asynchronous
	proxy            bool // the accesses go through the async proxy
	relaxed          bool // barriers: neither release nor acquire; loads and atomics: an order is written that is no acquire
	rows             bool // it loads rows of a matrix: see rowLoads
	read             bool // cp.async.bulk.wait_group.read
	keep             int  // N of wait_group
	all              bool // cp.async.wait_all
	shared, global   bool // fence.proxy.async: the memory that it applies to
	init             bool // fence.mbarrier_init
	tensorMap        bool // fence.proxy.tensormap with acquire
	guess            bool // a plain load that gives a compare-and-swap its guess
	blind            bool // an atomic that does not return the old value: red
	load             bool // a weak load
	nc               bool // a load of memory that nobody writes during the kernel: ld.global.nc
	element          int  // a strong access: bytes of one element of a vector or packed type, or 0
}

// scope is the set of threads that a strong access or a fence concerns. It is also a distance: the smallest
// scope that includes two threads.
type scope uint8

const (
	scopeBlock scope = iota
	scopeCluster
	scopeGPU // and larger ones
	scopes
)

func scopeOf(in *observe.Inst) scope {
	switch {
	case in.Has("cta"):
		return scopeBlock
	case in.Has("cluster"):
		return scopeCluster
	}
	return scopeGPU
}

// classify derives what the checkers need from the instruction table.
func classify(in *observe.Inst) class {
	k, c := in.Match.Class(), class{scope: scopeOf(in)}
	switch k.Unit {
	case isa.UnitBarrier:
		if k.Writes == 0 { // operations on mbarriers are announced separately
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
		c.relaxed = sem == "relaxed" || sem == "release"
	default:
		c.relaxed = k.Role == isa.RoleLoad && sem == "relaxed"
		c.strong = sem != "" || in.Has("volatile") || in.Has("mmio")
	}
	c.load = k.Role == isa.RoleLoad && !c.strong
	c.nc = in.Has("nc") || in.Op.Name == "ldu"
	if c.strong {
		c.element = elementOf(in.Op)
	}
	if k.Role.Async() {
		c.role, c.async = roleBulk, true
	}
}

// elementOf returns the size in bytes of the elements that an access consists of. By the rules, a
// vector or packed type is accessed element by element.
func elementOf(op *ptx.Opcode) int {
	name := op.Mods[len(op.Mods)-1]
	packed := strings.HasSuffix(name, "x2")
	t := ptx.ParseType(name)
	if packed {
		return t.Bytes() / 2
	}
	return t.Bytes()
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

// fence reads the modifiers of a fence. fence.mbarrier_init and fence.proxy.tensormap also are
// fences between threads. fence.proxy.tensormap makes tensor maps that threads have written
// visible to copies.
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

// groupRoles are the roles of asynchronous instructions that groups count, by unit: to start work,
// to commit a group and to wait for groups.
var groupRoles = map[isa.Unit]struct{ start, commit, wait role }{
	isa.UnitAsyncCopy: {roleCopy, roleCopyCommit, roleCopyWait},
	isa.UnitBulkCopy:  {roleBulk, roleBulkCommit, roleBulkWait},
	isa.UnitWGMMA:     {roleProduct, roleProductCommit, roleProductWait},
}

// group reads an asynchronous copy or product, or a commit or wait of its groups.
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
