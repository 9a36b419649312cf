package lab

import (
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// suspectWatch observes launches on the emulator and finds what suspects cannot see in the text:
// accesses through addresses that went through memory. It reports reads of outputs and of
// variables that a launch writes, writes of inputs, and accesses of a dependent launch before it waits.
type suspectWatch struct {
	s        *Subject
	declared map[string]bool            // variables that may keep state
	operands map[uint64]*kernel.Operand // by the address of the allocation

	mu      sync.Mutex
	early   earlyUses
	seen    map[suspectAccess]bool
	reads   map[string]finding.Finding // by variable
	written map[string]bool            // variables
	list    finding.List
}

// suspectAccess is an instruction that accesses an allocation.
type suspectAccess struct {
	info  *observe.LaunchInfo
	id    int
	alloc uint64
	write bool
}

// newSuspectWatch returns an observer. expect must be called before the first launch.
func newSuspectWatch(s *Subject) *suspectWatch {
	return &suspectWatch{s: s, declared: declaredState(s), early: newEarlyUses(s), seen: map[suspectAccess]bool{}, reads: map[string]finding.Finding{}, written: map[string]bool{}}
}

// expect tells the observer where the operands are.
func (w *suspectWatch) expect(b *bench) {
	w.operands = map[uint64]*kernel.Operand{}
	for _, o := range b.operands {
		w.operands[o.buffer.Addr()] = w.s.Operand(o.Name)
	}
}

// findings returns what was found.
func (w *suspectWatch) findings() []finding.Finding {
	for name, f := range w.reads {
		if w.written[name] {
			w.list.Add(f)
		}
	}
	return w.list.All()
}

// Launch makes suspectWatch an observe.Observer.
func (w *suspectWatch) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	if w.early.watches {
		w.early.begin(info)
	}
	return suspectLaunch{w, info}
}

type suspectLaunch struct {
	w    *suspectWatch
	info *observe.LaunchInfo
}

// Wants asks for the waits of a dependent launch.
func (l suspectLaunch) Wants(in *observe.Inst) bool {
	return l.w.early.watches && in.Op.Name == "griddepcontrol" && in.Op.Has("wait")
}

// End is called when a launch has ended.
func (l suspectLaunch) End(error) {
	if l.w.early.watches {
		l.w.early.end()
	}
}

func (l suspectLaunch) Cluster(c *observe.ClusterInfo) observe.ClusterObserver {
	return &suspectCluster{l: l}
}

// suspectCluster watches the accesses of a cluster.
type suspectCluster struct {
	l      suspectLaunch
	last   suspectAccess // most accesses are like the one before
	waited bool          // whether a thread has executed griddepcontrol.wait
}

func (c *suspectCluster) Access(a *observe.Access) {
	if a.Space != ptx.Global || a.Alloc == nil {
		return
	}
	if c.l.w.early.watches {
		c.beforeWait(a)
	}
	one := suspectAccess{c.l.info, a.ID, a.Alloc.Addr, a.Write}
	if one == c.last {
		return
	}
	c.last = one
	w := c.l.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[one] {
		return
	}
	w.seen[one] = true
	w.judge(&c.l.info.Program[a.ID].Bound, a)
}

// judge reports an access that a kernel must not make.
func (w *suspectWatch) judge(in *isa.Bound, a *observe.Access) {
	reads, writes := uses(in, a)
	if o := w.operands[a.Alloc.Addr]; o != nil {
		switch {
		case reads && !readable(o):
			w.list.Add(suspicion(finding.OutputRead, in, o.Name))
		case writes && !o.Role.Writable():
			w.list.Add(suspicion(finding.InputWrite, in, o.Name))
		}
		return
	}
	name := a.Alloc.Name
	if name == "" || w.declared[name] {
		return
	}
	w.written[name] = w.written[name] || writes
	if _, known := w.reads[name]; reads && !known {
		w.reads[name] = suspicion(finding.ModuleState, in, name)
	}
}

// uses reports whether an access reads and whether it writes.
func uses(in *isa.Bound, a *observe.Access) (reads, writes bool) {
	role := in.Match.Class().Role
	combines := role == isa.RoleAtomic || role == isa.RoleReduction || role == isa.RoleAsyncReduction
	return !a.Write || combines, a.Write || combines
}

// beforeWait reports an access of a dependent launch that should have waited for an earlier launch.
func (c *suspectCluster) beforeWait(a *observe.Access) {
	in := &c.l.info.Program[a.ID]
	reads, writes := uses(&in.Bound, a)
	w := c.l.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.early.conflicts(a, reads, writes, c.l.info.Launch.Dependent && !c.waited) {
		name := a.Alloc.Name
		if o := w.operands[a.Alloc.Addr]; o != nil {
			name = o.Name
		}
		w.list.Add(earlyFinding(in, name))
	}
}

// Step notes that a cluster has waited.
func (c *suspectCluster) Step(*observe.Step) { c.waited = true }

func (*suspectCluster) Pass(*observe.Step)           {}
func (*suspectCluster) Start(*observe.Async)         {}
func (*suspectCluster) Complete(*observe.Completion) {}
func (*suspectCluster) Mbarrier(*observe.Mbarrier)   {}
func (*suspectCluster) Open(*observe.Opening)        {}
func (*suspectCluster) End()                         {}
