package check

import (
	"cmp"
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// Checker watches the launches of a device and collects their defects. It is an
// observe.Observer.
type Checker struct {
	kinds    map[finding.Kind]bool
	mu       sync.Mutex
	launches int
	found    map[finding.Key]*found
	static   sync.Map // what was found out about programs before they run: see once
	// cellsOnly has it look at every read at once, for tests.
	cellsOnly bool
}

// found is a finding and when it was seen first: the number of the launch, of the
// cluster in the launch, and of the report in the cluster. It is the same in every
// run, whichever goroutine is faster.
type found struct {
	finding.Finding
	launch, cluster, serial int
}

// New makes a checker for findings of some kinds. Without kinds it looks for all.
func New(kinds ...finding.Kind) *Checker {
	c := &Checker{kinds: map[finding.Kind]bool{}, found: map[finding.Key]*found{}}
	if len(kinds) == 0 {
		kinds = Kinds
	}
	for _, k := range kinds {
		c.kinds[k] = true
	}
	return c
}

// Findings returns the findings of all launches so far, in the order in which they
// were met. The first one is usually the cause of the others.
func (c *Checker) Findings() []finding.Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*found, 0, len(c.found))
	for _, f := range c.found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *found) int {
		return cmp.Or(a.before(b), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
	})
	list := make([]finding.Finding, len(all))
	for i, f := range all {
		list[i] = f.Finding
	}
	return list
}

func (f *found) before(g *found) int {
	return cmp.Or(cmp.Compare(f.launch, g.launch), cmp.Compare(f.cluster, g.cluster), cmp.Compare(f.serial, g.serial))
}

// add takes in a finding. Of the same finding, the first in the order of clusters
// is kept, whichever goroutine was faster.
func (c *Checker) add(f *found) {
	if !c.kinds[f.Kind] {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := f.Key()
	old := c.found[k]
	switch {
	case old == nil:
		c.found[k] = f
	case f.before(old) < 0:
		f.Merge(&old.Finding)
		c.found[k] = f
	default:
		old.Merge(&f.Finding)
	}
}

// part is a family of checks. It lives as long as a launch.
type part interface {
	// wants reports whether it needs to see an instruction execute.
	wants(in *observe.Inst) bool
	// cluster makes what watches one cluster.
	cluster(c *cluster) watch
}

// watch is a family of checks at work on a cluster. Embedding quiet leaves out what
// is of no interest.
type watch interface {
	step(s *observe.Step)
	pass(s *observe.Step)
	start(a *observe.Async)
	complete(c *observe.Completion)
	mbarrier(e *observe.Mbarrier)
	open(o *observe.Opening)
	end()
}

// quiet is a watch that ignores everything.
type quiet struct{}

func (quiet) step(*observe.Step)           {}
func (quiet) pass(*observe.Step)           {}
func (quiet) start(*observe.Async)         {}
func (quiet) complete(*observe.Completion) {}
func (quiet) mbarrier(*observe.Mbarrier)   {}
func (quiet) open(*observe.Opening)        {}
func (quiet) end()                         {}

// launch is a launch that is watched.
type launch struct {
	*observe.LaunchInfo
	c     *Checker
	index int
	parts []part
	steps [][]int // by instruction: the parts that want to see it

	callersOnce sync.Once
	callers     *callers
}

// Launch is called by the emulator.
func (c *Checker) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	c.mu.Lock()
	c.launches++
	l := &launch{LaunchInfo: info, c: c, index: c.launches, steps: make([][]int, len(info.Program))}
	c.mu.Unlock()
	for _, make := range parts {
		if p := make(l); p != nil {
			l.parts = append(l.parts, p)
		}
	}
	for id := range info.Program {
		for i, p := range l.parts {
			if p.wants(&info.Program[id]) {
				l.steps[id] = append(l.steps[id], i)
			}
		}
	}
	return l
}

// parts make the families of checks for a launch; nil means that there is nothing
// for them to find in it.
var parts = []func(l *launch) part{newOrder, newBarriers, newUndef, newMembers, newGroups}

func (l *launch) Wants(in *observe.Inst) bool { return len(l.steps[in.ID]) > 0 }

// cluster is a cluster that is watched.
type cluster struct {
	*observe.ClusterInfo
	l       *launch
	watches []watch
	skips   []bool   // by watch: it is told of skipped instructions
	order   *ordered // the one that is told of accesses, or nil
	serial  int      // defects so far
}

func (l *launch) Cluster(info *observe.ClusterInfo) observe.ClusterObserver {
	c := &cluster{ClusterInfo: info, l: l}
	for _, p := range l.parts {
		w := p.cluster(c)
		_, skips := w.(interface{ skipped() })
		c.watches, c.skips = append(c.watches, w), append(c.skips, skips)
		if o, ok := w.(*ordered); ok {
			c.order = o
		}
	}
	return c
}

// WantsSkipped: watches with a method skipped are told of instructions that the
// guard of no lane lets through.
func (l *launch) WantsSkipped() {}

func (c *cluster) Step(s *observe.Step) {
	for _, i := range c.l.steps[s.ID] {
		if s.Mask != 0 || c.skips[i] {
			c.watches[i].step(s)
		}
	}
}

func (c *cluster) Pass(s *observe.Step) {
	for _, i := range c.l.steps[s.ID] {
		c.watches[i].pass(s)
	}
}

func (c *cluster) Access(a *observe.Access) {
	if c.order != nil {
		c.order.access(a)
	}
}

func (c *cluster) Start(a *observe.Async) {
	for _, w := range c.watches {
		w.start(a)
	}
}

func (c *cluster) Complete(d *observe.Completion) {
	for _, w := range c.watches {
		w.complete(d)
	}
}

func (c *cluster) Mbarrier(e *observe.Mbarrier) {
	for _, w := range c.watches {
		w.mbarrier(e)
	}
}

func (c *cluster) Open(o *observe.Opening) {
	for _, w := range c.watches {
		w.open(o)
	}
}

func (c *cluster) End() {
	for _, w := range c.watches {
		w.end()
	}
}

// report takes in a finding of the cluster.
func (c *cluster) report(f finding.Finding) {
	c.serial++
	c.reportAs(c.serial, f)
}

// reportAs is report of a finding that was met when the cluster's count was serial.
func (c *cluster) reportAs(serial int, f finding.Finding) {
	f.Kernel = c.l.Kernel
	f.Count = max(f.Count, 1)
	c.l.c.add(&found{f, c.l.index, c.Index, serial})
}

// at describes lanes that execute an instruction. The caller adds what memory they
// touch.
func (c *cluster) at(id, rank, warp int, lanes uint32) finding.Place {
	in := &c.l.Program[id]
	p := finding.Place{
		Func: in.Func.Sym.Name, Pos: in.Pos, Inst: in.Op.Text,
		Block: c.Blocks[rank].Ctaid, Warp: warp, Lanes: finding.Lanes(lanes),
	}
	at := c.l.site(in)
	from(&p, &at)
	return p
}
