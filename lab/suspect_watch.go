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
// variables that a launch writes, and writes of inputs.
type suspectWatch struct {
	s        *Subject
	declared map[string]bool            // variables that may keep state
	operands map[uint64]*kernel.Operand // by the address of the allocation

	mu      sync.Mutex
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
	return &suspectWatch{s: s, declared: declaredState(s), seen: map[suspectAccess]bool{}, reads: map[string]finding.Finding{}, written: map[string]bool{}}
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
	return suspectLaunch{w, info}
}

type suspectLaunch struct {
	w    *suspectWatch
	info *observe.LaunchInfo
}

func (l suspectLaunch) Wants(*observe.Inst) bool { return false }
func (l suspectLaunch) End(error)                {}
func (l suspectLaunch) Cluster(c *observe.ClusterInfo) observe.ClusterObserver {
	return &suspectCluster{l: l}
}

// suspectCluster watches the accesses of a cluster.
type suspectCluster struct {
	l    suspectLaunch
	last suspectAccess // most accesses are like the one before
}

func (c *suspectCluster) Access(a *observe.Access) {
	if a.Space != ptx.Global || a.Alloc == nil {
		return
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
	role := in.Match.Class().Role
	combines := role == isa.RoleAtomic || role == isa.RoleReduction || role == isa.RoleAsyncReduction
	reads, writes := !a.Write || combines, a.Write || combines
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

func (*suspectCluster) Step(*observe.Step)           {}
func (*suspectCluster) Pass(*observe.Step)           {}
func (*suspectCluster) Start(*observe.Async)         {}
func (*suspectCluster) Complete(*observe.Completion) {}
func (*suspectCluster) Mbarrier(*observe.Mbarrier)   {}
func (*suspectCluster) Open(*observe.Opening)        {}
func (*suspectCluster) End()                         {}
