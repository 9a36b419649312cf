package isa

import (
	"strings"
	"sync"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Unit is the part of a GPU that executes an instruction.
type Unit uint8

// The units. UnitUnknown marks a form that the table does not classify; a test allows
// none.
const (
	UnitUnknown   Unit = iota
	UnitNone           // the assembler folds the instruction into others: mov, cvta, ret, ld.param
	UnitInteger        // integers, bits, comparisons and votes
	UnitFloat          // f32
	UnitHalf           // f16, bf16 and pairs of them
	UnitDouble         // f64
	UnitExp            // the special function unit: ex2, rcp, sin
	UnitConvert        // conversions between types
	UnitTensor         // the tensor cores, by a warp
	UnitWGMMA          // the tensor cores, by a warpgroup, asynchronously
	UnitBranch         // branches, calls and ends of threads
	UnitBarrier        // barriers of warps, blocks and clusters, and mbarriers
	UnitLoadStore      // loads, stores, atomics and fences
	UnitAsyncCopy      // cp.async by the threads
	UnitBulkCopy       // bulk and tensor copies by the copy engine
	UnitOther          // only an issue slot
)

var unitNames = [...]string{
	"unknown", "none", "integer", "float", "half", "double", "exp", "convert", "tensor", "wgmma", "branch", "barrier",
	"load/store", "async copy", "bulk copy", "other",
}

func (u Unit) String() string { return unitNames[u] }

// Role is what an instruction does to memory.
type Role uint8

// The roles. RoleUnknown marks a form that the table does not classify; a test allows
// none.
const (
	RoleUnknown        Role = iota
	RoleNone                // no access to memory
	RoleLoad                // reads
	RoleStore               // writes
	RoleAtomic              // reads, combines, writes and returns what it read
	RoleReduction           // reads, combines and writes
	RoleFence               // orders accesses
	RoleBarrier             // arrives at a barrier or waits for one
	RoleAsyncLoad           // starts a copy to shared memory, or a product that reads it
	RoleAsyncStore          // starts a copy or a store to memory outside the block
	RoleAsyncReduction      // starts a copy that combines with the values at its destination
	RoleCommit              // closes a group of asynchronous work
	RoleWait                // waits for groups of asynchronous work
	RolePrefetch            // moves data into a cache, or says how to cache it
)

var roleNames = [...]string{
	"unknown", "none", "load", "store", "atomic", "reduction", "fence", "barrier", "async load", "async store",
	"async reduction", "commit", "wait", "prefetch",
}

func (r Role) String() string { return roleNames[r] }

// Async reports whether the instruction starts work that takes effect later.
func (r Role) Async() bool {
	return r == RoleAsyncLoad || r == RoleAsyncStore || r == RoleAsyncReduction
}

// Class is what an instruction is to the hardware: the unit that executes it and its
// effect on memory.
type Class struct {
	Unit   Unit
	Role   Role
	Waits  bool   // for RoleBarrier: threads wait here
	Reads  Spaces // what the instruction, or the work that it starts, reads
	Writes Spaces
}

// Spaces is a set of state spaces.
type Spaces uint16

// Has reports whether the set contains the space.
func (s Spaces) Has(space ptx.Space) bool { return s>>space&1 != 0 }

func spaces(list ...ptx.Space) (s Spaces) {
	for _, p := range list {
		s |= 1 << p
	}
	return s
}

// classRule classifies the forms of some opcodes. It fits a form that has all modifiers of
// the rule. The first rule that fits decides.
type classRule struct {
	ops  string
	has  string
	unit Unit
	role Role
}

// byType means that the type of the operands selects the unit.
const byType = UnitUnknown

var classRules = []classRule{
	{"add sub mul mad fma abs neg min max sad mul24 mad24 rem addc subc madc", "", byType, RoleNone},
	{"dp4a dp2a copysign testp", "", UnitInteger, RoleNone},
	{"vadd vsub vabsdiff vmin vmax vshl vshr vmad vset", "", UnitInteger, RoleNone},
	{"vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2", "", UnitInteger, RoleNone},
	{"vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4", "", UnitInteger, RoleNone},
	{"and or xor not cnot lop3 shl shr shf prmt popc clz bfind fns brev bfe bfi bmsk szext", "", UnitInteger, RoleNone},
	{"setp set selp slct", "", UnitInteger, RoleNone},
	{"div rcp sqrt rsqrt", "approx", UnitExp, RoleNone},
	{"div rcp sqrt rsqrt", "f64", UnitDouble, RoleNone},
	{"div", "", byType, RoleNone},
	{"rcp sqrt rsqrt sin cos lg2 ex2 tanh", "", UnitExp, RoleNone},
	{"cvt", "", UnitConvert, RoleNone},

	{"mov cvta", "", UnitNone, RoleNone},
	{"isspacep alloca stacksave stackrestore mapa getctarank", "", UnitInteger, RoleNone},
	{"ld", "param", UnitNone, RoleLoad}, // parameters are operands in a constant bank
	{"ld", "param::entry", UnitNone, RoleLoad},
	{"ld", "param::func", UnitNone, RoleLoad},
	{"ld ldu", "", UnitLoadStore, RoleLoad},
	{"st", "async", UnitLoadStore, RoleAsyncStore},
	{"st", "", UnitLoadStore, RoleStore},
	{"prefetch prefetchu applypriority", "", UnitLoadStore, RolePrefetch},
	{"discard", "", UnitLoadStore, RoleStore},
	{"createpolicy", "", UnitOther, RoleNone},
	{"atom", "", UnitLoadStore, RoleAtomic},
	{"red", "async", UnitLoadStore, RoleAsyncReduction},
	{"red", "", UnitLoadStore, RoleReduction},
	{"multimem", "ld_reduce", UnitLoadStore, RoleLoad},
	{"multimem", "st", UnitLoadStore, RoleStore},
	{"multimem", "red", UnitLoadStore, RoleReduction},
	{"membar fence", "", UnitLoadStore, RoleFence},
	{"tensormap", "", UnitLoadStore, RoleStore},

	{"ret", "", UnitNone, RoleNone},
	{"bra brx call exit", "", UnitBranch, RoleNone},
	{"trap brkpt nanosleep pmevent griddepcontrol setmaxnreg", "", UnitOther, RoleNone},
	{"bar barrier", "", UnitBarrier, RoleBarrier},
	{"mbarrier", "pending_count", UnitInteger, RoleNone},
	{"mbarrier", "", UnitBarrier, RoleBarrier},
	{"vote redux", "", UnitInteger, RoleNone},
	{"shfl match activemask elect movmatrix", "", UnitOther, RoleNone},

	{"cp", "bulk commit_group", UnitBulkCopy, RoleCommit},
	{"cp", "bulk wait_group", UnitBulkCopy, RoleWait},
	{"cp", "bulk prefetch", UnitBulkCopy, RolePrefetch},
	{"cp", "bulk reduce", UnitBulkCopy, RoleAsyncReduction},
	{"cp", "bulk bulk_group", UnitBulkCopy, RoleAsyncStore},
	{"cp", "bulk", UnitBulkCopy, RoleAsyncLoad},
	{"cp", "commit_group", UnitAsyncCopy, RoleCommit},
	{"cp", "wait_group", UnitAsyncCopy, RoleWait},
	{"cp", "wait_all", UnitAsyncCopy, RoleWait},
	{"cp", "mbarrier", UnitAsyncCopy, RoleBarrier},
	{"cp", "", UnitAsyncCopy, RoleAsyncLoad},

	{"ldmatrix", "", UnitLoadStore, RoleLoad},
	{"stmatrix", "", UnitLoadStore, RoleStore},
	{"wmma", "load", UnitLoadStore, RoleLoad},
	{"wmma", "store", UnitLoadStore, RoleStore},
	{"mma wmma", "", UnitTensor, RoleNone},
	{"tex tld4 suld", "", UnitLoadStore, RoleLoad},
	{"sust", "", UnitLoadStore, RoleStore},
	{"sured", "", UnitLoadStore, RoleReduction},
	{"txq suq istypep", "", UnitOther, RoleNone},
	{"clusterlaunchcontrol", "try_cancel", UnitOther, RoleAsyncStore},
	{"clusterlaunchcontrol", "", UnitInteger, RoleNone},
	{"tcgen05", "alloc", UnitOther, RoleStore},
	{"tcgen05", "commit", UnitTensor, RoleCommit},
	{"tcgen05", "mma", UnitTensor, RoleAsyncLoad},
	{"tcgen05", "cp", UnitTensor, RoleAsyncLoad},
	{"tcgen05", "wait::ld", UnitTensor, RoleWait},
	{"tcgen05", "wait::st", UnitTensor, RoleWait},
	{"tcgen05", "fence::before_thread_sync", UnitTensor, RoleFence},
	{"tcgen05", "fence::after_thread_sync", UnitTensor, RoleFence},
	{"tcgen05", "", UnitTensor, RoleNone},
	{"wgmma", "mma_async", UnitWGMMA, RoleAsyncLoad},
	{"wgmma", "commit_group", UnitWGMMA, RoleCommit},
	{"wgmma", "wait_group", UnitWGMMA, RoleWait},
	{"wgmma", "fence", UnitWGMMA, RoleFence},
}

// waitRules lists the barrier instructions at which threads do not wait.
var waitRules = []classRule{
	{ops: "bar barrier", has: "arrive"},
	{ops: "cp", has: "mbarrier"},
	{ops: "mbarrier", has: "init"},
	{ops: "mbarrier", has: "inval"},
	{ops: "mbarrier", has: "arrive"},
	{ops: "mbarrier", has: "arrive_drop"},
	{ops: "mbarrier", has: "expect_tx"},
	{ops: "mbarrier", has: "complete_tx"},
}

// rulesOf indexes rules by opcode.
func rulesOf(rules []classRule) map[string][]classRule {
	m := map[string][]classRule{}
	for _, r := range rules {
		for op := range strings.FieldsSeq(r.ops) {
			m[op] = append(m[op], r)
		}
	}
	return m
}

var (
	classesByOp = sync.OnceValue(func() map[string][]classRule { return rulesOf(classRules) })
	waitsByOp   = sync.OnceValue(func() map[string][]classRule { return rulesOf(waitRules) })
)

// fitting returns the first rule that fits the variant.
func (m Match) fitting(rules []classRule) (r classRule, ok bool) {
next:
	for _, r := range rules {
		for mod := range strings.FieldsSeq(r.has) {
			if !m.Has(mod) {
				continue next
			}
		}
		return r, true
	}
	return r, false
}

// Class returns the unit and the effect on memory of the variant.
func (m Match) Class() Class {
	r, ok := m.fitting(classesByOp()[m.Form.Op])
	if !ok {
		return Class{}
	}
	c := Class{Unit: r.unit, Role: r.role}
	if r.unit == byType {
		c.Unit = m.arithmetic()
	}
	if r.role == RoleBarrier {
		_, arrives := m.fitting(waitsByOp()[m.Form.Op])
		c.Waits = !arrives
	}
	c.Reads, c.Writes = m.spaces(c.Role, c.Unit)
	return c
}

// ClassOf returns the class of an opcode whose operands are not known. The class is zero if
// the table does not have the opcode.
func ClassOf(op *ptx.Opcode) Class {
	if ms := Lookup(op); len(ms) > 0 {
		return ms[0].Class()
	}
	return Class{}
}

// arithmetic returns the unit for the type of the result.
func (m Match) arithmetic() Unit {
	if len(m.Form.Params) == 0 {
		return UnitUnknown
	}
	switch t := m.Type(&m.Form.Params[0]).String(); {
	case t == "f64":
		return UnitDouble
	case strings.HasPrefix(t, "f32"):
		return UnitFloat
	case strings.Contains(t, "f16"):
		return UnitHalf
	}
	return UnitInteger
}

// spaces returns the state spaces that the variant reads and writes. They follow from its
// role and its address operands.
func (m Match) spaces(role Role, unit Unit) (reads, writes Spaces) {
	if unit == UnitWGMMA && role == RoleAsyncLoad {
		return spaces(ptx.Shared), 0 // through matrix descriptors
	}
	stores := false // a tensor map is the destination of a copy that has no other
	for i := range m.Form.Params {
		stores = stores || strings.HasPrefix(m.Form.Params[i].Name, "src")
	}
	for i := range m.Form.Params {
		p := &m.Form.Params[i]
		var s Spaces
		switch p.Kind {
		case Addr:
			s = spaces(ptx.ParseSpace(m.Space(p)))
		case TensorMap:
			s = spaces(ptx.Global)
		default:
			continue
		}
		switch {
		case strings.HasPrefix(p.Name, "src"), role == RoleLoad, role == RolePrefetch, p.Kind == TensorMap && !stores:
			reads |= s
		case role == RoleAtomic, role == RoleReduction, role == RoleBarrier, role == RoleAsyncReduction && p.Name != "mbar":
			reads, writes = reads|s, writes|s
		case role == RoleStore, role.Async():
			writes |= s
		}
	}
	return reads, writes
}
