package check

import (
	"cmp"
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// Checker watches the launches of a device and collects their defects. It is an
// observe.Observer.
type Checker struct {
	kinds    map[Kind]bool
	mu       sync.Mutex
	launches int
	found    map[key]*found
	static   sync.Map // what was found out about programs before they run: see once
	// cellsOnly has it look at every read at once, for tests.
	cellsOnly bool
}

// key is what makes two findings the same defect: what is wrong and the places in the
// source, or in the PTX where that names none. An unrolled loop is one place.
type key struct {
	kind        Kind
	kernel      string
	inst, other where
}

// where is an instruction, or the source line that it comes from.
type where struct {
	source string
	inst   int
}

// found is a defect and when it was seen first: launches in their order, in one of
// them clusters, in a cluster its own count. That is the same in every run.
type found struct {
	Defect
	launch, cluster, serial int
}

// New makes a checker for defects of some kinds; none named means all.
func New(kinds ...Kind) *Checker {
	c := &Checker{kinds: map[Kind]bool{}, found: map[key]*found{}}
	if len(kinds) == 0 {
		kinds = Kinds
	}
	for _, k := range kinds {
		c.kinds[k] = true
	}
	return c
}

// Defects are the defects of all launches so far, in the order in which they were
// met. The first one is usually the cause of the others.
func (c *Checker) Defects() []Defect {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*found, 0, len(c.found))
	for _, f := range c.found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *found) int {
		return cmp.Or(a.before(b), cmp.Compare(a.Access.Pos.Line, b.Access.Pos.Line), cmp.Compare(a.Kind, b.Kind))
	})
	list := make([]Defect, len(all))
	for i, f := range all {
		list[i] = f.Defect
	}
	return list
}

func (f *found) before(g *found) int {
	return cmp.Or(cmp.Compare(f.launch, g.launch), cmp.Compare(f.cluster, g.cluster), cmp.Compare(f.serial, g.serial))
}

// add takes a finding in. Of the same defect, the first in the order of clusters is
// kept, whichever goroutine was faster; an error outdoes a warning.
func (c *Checker) add(k key, f *found) {
	if !c.kinds[k.kind] {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.found[k]
	if old == nil {
		c.found[k] = f
		return
	}
	n := old.Count + f.Count
	old.join(f)
	if f.Severity != old.Severity && f.Severity == Error || f.Severity == old.Severity && f.before(old) < 0 {
		*old = *f
	}
	old.Count = n
}

// join adds the lanes of another sight of the same defect by the same warps. Where
// one instruction races within a warp and between warps, it takes what mends both.
func (f *found) join(g *found) {
	if f.launch != g.launch || (f.Other == nil) != (g.Other == nil) {
		return
	}
	same := func(a, b *Access) bool { return a.Block == b.Block && a.Warp == b.Warp }
	if same(&f.Access, &g.Access) && (f.Other == nil || same(f.Other, g.Other)) {
		f.Access.Lanes |= g.Access.Lanes
		if f.Other != nil {
			f.Other.Lanes |= g.Other.Lanes
		}
	}
	if f.Other != nil && same(&f.Access, f.Other) && !same(&g.Access, g.Other) {
		f.Why, f.Fix = g.Why, g.Fix
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

// report takes a defect in. inst and other are the IDs of the instructions that it
// is about, other -1 when there is one only; where they meet again in the same way
// it is the same defect.
func (c *cluster) report(d Defect, inst, other int) {
	c.serial++
	c.reportAs(c.serial, d, inst, other)
}

func lineOf(source string, inst int) where {
	if source == "" {
		return where{inst: inst}
	}
	return where{source: source}
}

// where is what tells an access from others: its line and the calls that lead to it.
func (a *Access) where(inst int) where {
	w := lineOf(a.Source, inst)
	for _, c := range a.Callers {
		w.source += " " + c
	}
	return w
}

// reportAs is report of a defect that was met when the cluster's count was at serial.
func (c *cluster) reportAs(serial int, d Defect, inst, other int) {
	d.Kernel = c.l.Kernel
	d.Count = max(d.Count, 1)
	k := key{kind: d.Kind, kernel: c.l.Kernel, inst: d.Access.where(inst)}
	if d.Other != nil {
		k.other = d.Other.where(other)
	}
	c.l.c.add(k, &found{d, c.l.index, c.Index, serial})
}

// at describes lanes that execute an instruction; where they touch memory is to be
// filled in.
func (c *cluster) at(id, rank, warp int, lanes uint32) Access {
	in := &c.l.Program[id]
	a := Access{
		Func: in.Func.Sym.Name, Pos: in.Pos, Inst: in.Op.Text,
		Block: c.Blocks[rank].Ctaid, Warp: warp, Lanes: lanes,
	}
	at := c.l.site(in)
	a.from(&at)
	return a
}
