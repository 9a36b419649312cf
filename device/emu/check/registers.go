package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// This checker follows undefined values from their origin to their use. They originate in a
// register or in local memory that was never written, or in a shuffle from a lane that does not
// take part. They do harm in an address, in memory that other threads see, in a guard or in a
// branch. Compilers move and combine undefined values where the result is not used, so only the
// use is a defect.
//
// Each register of each lane has a mask of its undefined bits, but only if an undefined value
// can reach the register. Most kernels have no such register, and then no instruction is
// watched.

// undefPart is the check of undefined values for a launch.
type undefPart struct {
	plans []*undefPlan // by instruction; nil where no undefined value can arrive
	funcs map[*ptx.Func]*undefFunc
	calls bool // a function that is called reads registers before it writes them
	local bool // the kernel has local memory
	// params is set if undefined values may be arguments or results of calls.
	params bool
}

func newUndef(l *launch) part {
	find := func() part {
		p := &undefPart{plans: make([]*undefPlan, len(l.Program))}
		if !p.analyse(l) {
			return nil
		}
		return p
	}
	if l.first != nil {
		return find()
	}
	return l.once("undefined", find)
}

func (p *undefPart) wants(in *observe.Inst) bool {
	if p.plans[in.ID] != nil {
		return true
	}
	switch in.Op.Name {
	case "call":
		return p.funcs[in.Func] != nil && (p.calls || p.local || p.params)
	case "ret":
		return p.funcs[in.Func] != nil && p.params && !in.Func.Entry
	case "alloca":
		return p.local
	}
	return false
}

// undefWatch watches a cluster.
type undefWatch struct {
	p     *undefPart
	c     *cluster
	warps []*undefWarp // see perWarp
	at    undefStep    // the present instruction
}

func (p *undefPart) cluster(c *cluster) any {
	return &undefWatch{p: p, c: c, warps: perWarp[undefWarp](c)}
}

// undefWarp is the undefined values of the threads of a warp.
type undefWarp struct {
	depths []undefDepth // by number of calls that lanes are inside of
	// local has for each lane a mask of defined bits for each byte of local memory, up to the
	// last byte that was written.
	local [32][]byte
	// storedOrigins has for each lane the addresses of local memory at which undefined values were
	// stored, with the origins of these values. Such memory is a variable and not padding.
	storedOrigins [32]map[uint64]undefOrigin
}

// undefDepth is one level of calls. The lanes may be in different functions.
type undefDepth struct {
	fresh  uint32 // lanes that have been called and have not executed an instruction yet
	frames []*undefFrame
	args   []*undefParam // the arguments of the calls
	site   [32]int       // by lane: the instruction that called
}

// undefFrame is the registers of one function at one depth. A lane is in at most one function of
// a depth.
type undefFrame struct {
	fn     *undefFunc
	regs   []undefReg
	params map[*ptx.Symbol]*undefParam
}

// undefReg is a register of a warp.
type undefReg struct {
	lanes uint32      // lanes with undefined bits
	bits  *[32]uint64 // by lane: the undefined bits
	from  undefOrigin
}

// undefOrigin is the origin of an undefined value.
type undefOrigin struct {
	kind finding.Kind
	id   int         // the instruction that first read the value, or -1 before any has
	sym  *ptx.Symbol // UninitRegister: the register
	// moved is set while the value has only been copied. A copy of a structure also copies its
	// padding.
	moved   bool
	padding bool   // UninitLocal: the bytes may be padding beside defined bytes
	off     uint64 // UninitLocal: the address
	size    int    // UninitLocal: in bytes
	from    uint32 // ShuffleInactive: the source lanes that do not take part
	// load is the load whose value is followed, or nil. crossed is set if lanes have exchanged the
	// value since.
	load    *event
	crossed bool
}

func (w *undefWatch) warp(s *observe.Step) *undefWarp {
	u := &w.warps[w.c.warpIndex(s)]
	if *u == nil {
		*u = &undefWarp{}
		(*u).depth(0).fresh = 1<<32 - 1
	}
	return *u
}

func (u *undefWarp) depth(n int) *undefDepth {
	for len(u.depths) <= n {
		u.depths = append(u.depths, undefDepth{})
	}
	return &u.depths[n]
}

// frame returns the registers of the lanes of a step.
func (u *undefWarp) frame(s *observe.Step, fn *undefFunc) *undefFrame {
	f := u.at(s.Depth(), fn)
	d := u.depth(s.Depth())
	if fresh := d.fresh & s.Active; fresh != 0 {
		d.fresh &^= fresh
		f.enter(fresh)
		f.receiveArgs(d, fresh)
	}
	return f
}

// at returns the registers of a function at a depth.
func (u *undefWarp) at(depth int, fn *undefFunc) *undefFrame {
	d := u.depth(depth)
	for _, f := range d.frames {
		if f.fn == fn {
			return f
		}
	}
	f := &undefFrame{fn: fn, regs: make([]undefReg, len(fn.regs))}
	d.frames = append(d.frames, f)
	return f
}

// enter makes registers of lanes undefined: those that some path through the function reads
// before it writes them.
func (f *undefFrame) enter(lanes uint32) {
	for i := range f.fn.regs {
		sym := f.fn.regs[i].sym
		if !f.fn.regs[i].fresh {
			continue
		}
		r := &f.regs[i]
		all := undefOnes(sym.Type.Bits())
		for l := range 32 {
			if lanes>>l&1 != 0 {
				r.set(l, all)
			}
		}
		r.from = undefOrigin{kind: UninitRegister, id: -1, sym: sym, moved: true}
	}
}

// set sets the undefined bits of a lane.
func (r *undefReg) set(lane int, u uint64) {
	if u == 0 {
		r.lanes &^= 1 << lane
		return
	}
	if r.bits == nil {
		r.bits = new([32]uint64)
	}
	r.lanes |= 1 << lane
	r.bits[lane] = u
}

// of returns the undefined bits of a lane.
func (r *undefReg) of(lane int) uint64 {
	if r.lanes>>lane&1 == 0 {
		return 0
	}
	return r.bits[lane]
}

// undefOnes returns a mask of the low n bits.
func undefOnes(n int) uint64 {
	if n >= 64 {
		return 1<<64 - 1
	}
	return 1<<n - 1
}

func (w *undefWatch) step(s *observe.Step) {
	u := w.warp(s)
	plan := w.p.plans[s.ID]
	if plan != nil {
		w.follow(u, plan, s)
	}
	switch s.Op.Name {
	case "call":
		u.depth(s.Depth() + 1).fresh |= s.Mask
		u.truncate(s)
		if w.p.params {
			w.call(u, s)
		}
	case "ret":
		if w.p.params {
			w.ret(u, s)
		}
	case "alloca":
		u.truncate(s)
	}
}

// skip checks the guard of an instruction that no lane executes.
func (w *undefWatch) skip(s *observe.Step) {
	if plan := w.p.plans[s.ID]; plan != nil {
		w.follow(w.warp(s), plan, s)
	}
}

// follow carries undefined values through an instruction.
func (w *undefWatch) follow(u *undefWarp, p *undefPlan, s *observe.Step) {
	f := u.frame(s, p.fn)
	if p.guard >= 0 {
		w.guard(f, p, s)
	}
	if s.Mask == 0 {
		return
	}
	var lanes uint32
	for i := range p.src {
		if r := p.src[i].reg; r >= 0 {
			lanes |= f.regs[r].lanes
		}
	}
	for i := range p.addr {
		lanes |= f.regs[p.addr[i].reg].lanes
	}
	x := &w.at
	x.Step, x.w, x.u, x.f, x.p = s, w, u, f, p
	lanes &= s.Mask
	if lanes == 0 && (!p.always || p.defined(s)) {
		x.define()
		return
	}
	x.from = undefOrigin{}
	x.addresses()
	x.useOthers()
	p.rule(x)
}

// guard reports a guard that is undefined in lanes that reach the instruction.
func (w *undefWatch) guard(f *undefFrame, p *undefPlan, s *observe.Step) {
	r := &f.regs[p.guard]
	lanes := r.lanes & s.Active
	if lanes == 0 {
		return
	}
	x := &undefStep{w: w, f: f, p: p, Step: s}
	x.report(undefGuard, p.guard, lanes, false)
	r.lanes &^= lanes
}
