package check

import (
	"sync"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// launch is a launch that is watched. It is an observe.LaunchObserver.
type launch struct {
	*observe.LaunchInfo
	c     *Checker
	index int
	parts []part
	steps [][]int // by instruction: the parts that watch it

	mu    sync.Mutex
	found collection
	followed

	callersOnce sync.Once
	callers     *callers
}

// Launch is called by the emulator. It starts the checkers whose kinds are wanted.
func (c *Checker) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	c.mu.Lock()
	c.launches++
	index := c.launches
	c.mu.Unlock()
	return c.launch(info, index, followed{})
}

// launch starts the checkers of a launch.
func (c *Checker) launch(info *observe.LaunchInfo, index int, f followed) *launch {
	l := &launch{LaunchInfo: info, c: c, index: index, steps: make([][]int, len(info.Program)), found: collection{}, followed: f}
	for i := range registry {
		if !registry[i].reports(c.kinds) && (f.first == nil || !registry[i].follows) {
			continue
		}
		if p := registry[i].start(l); p != nil {
			l.parts = append(l.parts, p)
		}
	}
	for i, p := range l.parts {
		chooser, ok := p.(stepChooser)
		for id := 0; ok && id < len(info.Program); id++ {
			if chooser.wants(&info.Program[id]) {
				l.steps[id] = append(l.steps[id], i)
			}
		}
	}
	return l
}

func (l *launch) Wants(in *observe.Inst) bool { return len(l.steps[in.ID]) > 0 }

// WantsSkipped makes the emulator announce instructions that no lane executes: see
// skipWatch.
func (l *launch) WantsSkipped() bool { return true }

// End is called by the emulator. Findings that are made here come after those of all
// clusters.
func (l *launch) End(err error) {
	c := &cluster{ClusterInfo: &observe.ClusterInfo{Index: 1 << 62}, l: l}
	for _, p := range l.parts {
		if e, ok := p.(launchEnder); ok {
			e.endLaunch(c, err)
		}
	}
	l.publish()
}

// publish adds the findings of the launch to those of the checker.
func (l *launch) publish() {
	if l.first != nil {
		l.judge()
		return
	}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	for _, f := range l.found {
		l.c.found.add(f)
	}
}

// cluster is a cluster that is watched. It is an observe.ClusterObserver.
type cluster struct {
	*observe.ClusterInfo
	l      *launch
	serial int         // findings so far
	order  *orderWatch // or nil if no kind of it is wanted

	stepped   []stepWatch // by part, or nil
	passed    []passWatch // by part, or nil
	skips     []skipWatch // by part, or nil
	accesses  []accessWatch
	starts    []startWatch
	completes []completeWatch
	mbarriers []mbarrierWatch
	opens     []openWatch
	faults    []faultWatch
	ends      []endWatch
}

func (l *launch) Cluster(info *observe.ClusterInfo) observe.ClusterObserver {
	c := &cluster{ClusterInfo: info, l: l}
	for _, p := range l.parts {
		c.add(p.cluster(c))
	}
	return c
}

// add adds a watch of a part to the list of each hook that it has.
func (c *cluster) add(watch any) {
	step, _ := watch.(stepWatch)
	pass, _ := watch.(passWatch)
	skip, _ := watch.(skipWatch)
	c.stepped, c.passed, c.skips = append(c.stepped, step), append(c.passed, pass), append(c.skips, skip)
	if w, ok := watch.(accessWatch); ok {
		c.accesses = append(c.accesses, w)
	}
	if w, ok := watch.(startWatch); ok {
		c.starts = append(c.starts, w)
	}
	if w, ok := watch.(completeWatch); ok {
		c.completes = append(c.completes, w)
	}
	if w, ok := watch.(mbarrierWatch); ok {
		c.mbarriers = append(c.mbarriers, w)
	}
	if w, ok := watch.(openWatch); ok {
		c.opens = append(c.opens, w)
	}
	if w, ok := watch.(faultWatch); ok {
		c.faults = append(c.faults, w)
	}
	if w, ok := watch.(endWatch); ok {
		c.ends = append(c.ends, w)
	}
}

func (c *cluster) Step(s *observe.Step) {
	for _, i := range c.l.steps[s.ID] {
		if s.Mask == 0 {
			if w := c.skips[i]; w != nil {
				w.skip(s)
			}
		} else if w := c.stepped[i]; w != nil {
			w.step(s)
		}
	}
}

func (c *cluster) Pass(s *observe.Step) {
	for _, i := range c.l.steps[s.ID] {
		if w := c.passed[i]; w != nil {
			w.pass(s)
		}
	}
}

func (c *cluster) Access(a *observe.Access) {
	for _, w := range c.accesses {
		w.access(a)
	}
}

func (c *cluster) Start(a *observe.Async) {
	for _, w := range c.starts {
		w.start(a)
	}
}

func (c *cluster) Complete(d *observe.Completion) {
	for _, w := range c.completes {
		w.complete(d)
	}
}

func (c *cluster) Mbarrier(e *observe.Mbarrier) {
	for _, w := range c.mbarriers {
		w.mbarrier(e)
	}
}

func (c *cluster) Open(o *observe.Opening) {
	for _, w := range c.opens {
		w.open(o)
	}
}

// Fault makes cluster an observe.FaultObserver.
func (c *cluster) Fault(f *device.Fault) {
	for _, w := range c.faults {
		w.fault(f)
	}
}

func (c *cluster) End() {
	for _, w := range c.ends {
		w.end()
	}
}

// report adds a finding of the cluster. A finding without a reason and advice gets those of its
// kind.
func (c *cluster) report(f finding.Finding) {
	c.serial++
	c.reportAs(c.serial, f)
}

// reportAs is report for a finding that belongs to an earlier moment: serial is the number of
// reports of the cluster at that moment.
func (c *cluster) reportAs(serial int, f finding.Finding) {
	if k := explained[f.Kind]; f.Why == "" && f.Fix == "" && k != nil {
		f.Why, f.Fix = k.why, k.fix
	}
	f.Kernel = c.l.Kernel
	f.Count = max(f.Count, 1)
	if !c.l.c.kinds[f.Kind] {
		return
	}
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.found.add(&found{f, c.l.index, c.Index, serial})
}

// rule is the reason and the advice of a report whose kind has several.
type rule struct{ why, fix string }

// of adds the rule to a finding.
func (r rule) of(f finding.Finding) finding.Finding {
	f.Why, f.Fix = r.why, r.fix
	return f
}

// at returns the place of lanes that execute an instruction. The caller adds the memory that they
// access.
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
