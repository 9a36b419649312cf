package cover

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// Cover collects the coverage of one kernel over several launches, possibly on several devices.
// It is an observe.Observer. All launches must be of the same PTX text.
type Cover struct {
	mu     sync.Mutex // while a launch starts
	points []point    // by instruction
	seen   []atomic.Uint32
	near   []atomic.Uint64             // by instruction: the distance in the present run
	calls  map[string]bool             // the grids and the scalar arguments of the launches
	values []atomic.Pointer[[2]uint64] // by instruction: the operands that a comparison had first
}

// The facts that are collected about an instruction.
const (
	reached  uint32 = 1 << iota // by lanes, even if the guard fails in all of them
	held                        // the guard held in a lane
	failed                      // the guard failed in a lane
	yes                         // the comparison was true in a lane
	no                          // the comparison was false in a lane
	varied                      // the operands of the comparison were not always the same
	excluded                    // no supported size gives the comparison its other outcome
)

// New returns a Cover that has seen nothing.
func New() *Cover { return &Cover{} }

// Launch is called by the emulator.
func (c *Cover) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil || len(c.points) != len(info.Program) { // a kernel may have no instruction
		c.points = pointsOf(info)
		c.seen = make([]atomic.Uint32, len(info.Program))
		c.near = make([]atomic.Uint64, len(info.Program))
		c.values = make([]atomic.Pointer[[2]uint64], len(info.Program))
		c.calls = map[string]bool{}
		c.forget()
	}
	c.calls[callOf(info)] = true
	for _, f := range reachable(info) {
		for id := range info.Program {
			if info.Program[id].Func.Sym.Name == f {
				c.points[id].counts = true
			}
		}
	}
	return launch{c}
}

// callOf returns the grid of a launch and those of its arguments that are not addresses.
func callOf(info *observe.LaunchInfo) string {
	var sizes []uint64
	for _, p := range info.Launch.Params {
		v := uint64(0)
		for i, b := range p[:min(len(p), 8)] {
			v |= uint64(b) << (8 * i)
		}
		if v < 1<<32 {
			sizes = append(sizes, v)
		}
	}
	return fmt.Sprint(info.Kernel, info.Launch.Grid, sizes)
}

// Forget forgets the distances of [Cover.Near], which then describe the next launches only. It
// keeps what has been seen.
func (c *Cover) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
}

// Exclude declares that no supported size gives a comparison its other outcome. If the comparison
// is of arguments and constants, code behind that outcome does not count as missed.
func (c *Cover) Exclude(id int) { c.seen[id].Or(excluded) }

func (c *Cover) forget() {
	for i := range c.near {
		c.near[i].Store(math.MaxUint64)
	}
}

// launch observes a launch.
type launch struct{ *Cover }

// Wants reports whether something about the instruction has not been seen.
func (l launch) Wants(in *observe.Inst) bool {
	wanted := l.points[in.ID].wants
	return l.seen[in.ID].Load()&wanted != wanted
}

// WantsSkipped returns true: a guard that fails in all lanes is an outcome.
func (l launch) WantsSkipped() bool { return true }

// Cluster is called by the emulator.
func (l launch) Cluster(*observe.ClusterInfo) observe.ClusterObserver { return cluster(l) }

// End is called by the emulator.
func (l launch) End(error) {}

// cluster observes the blocks of a cluster.
type cluster struct{ *Cover }

// Step is called by the emulator. Clusters run at the same time, so the facts are atomic.
func (c cluster) Step(s *observe.Step) {
	p := &c.points[s.ID]
	old := c.seen[s.ID].Load()
	if old&p.wants == p.wants {
		return
	}
	now := reached
	if s.Mask != 0 {
		now |= held
	}
	if s.Mask != s.Active {
		now |= failed
	}
	if p.compares && s.Mask != 0 {
		now |= c.compare(s, p, old)
	}
	if now|old != old {
		c.seen[s.ID].Or(now)
	}
}

// compare returns the outcomes of a comparison in the lanes of a step, and notes how far it was
// from the outcome that has not been seen.
func (c cluster) compare(s *observe.Step, p *point, old uint32) (outcomes uint32) {
	nearest := uint64(math.MaxUint64)
	s.Lanes(func(lane int) {
		a, b := p.operand(s, p.a, lane), p.operand(s, p.b, lane)
		result, distance := p.relate(a, b)
		if result {
			outcomes |= yes
		} else {
			outcomes |= no
		}
		nearest = min(nearest, distance)
		if old&varied == 0 && c.varies(s.ID, a, b) {
			outcomes |= varied
		}
	})
	if both := yes | no; (old|outcomes)&both == both {
		return outcomes
	}
	for near := &c.near[s.ID]; ; {
		least := near.Load()
		if nearest >= least || near.CompareAndSwap(least, nearest) {
			return outcomes
		}
	}
}

// varies reports whether a comparison had other operands before.
func (c cluster) varies(id int, a, b uint64) bool {
	if v := c.values[id].Load(); v != nil {
		return *v != [2]uint64{a, b}
	}
	return !c.values[id].CompareAndSwap(nil, &[2]uint64{a, b}) && c.varies(id, a, b)
}

// The emulator calls these methods; coverage does not need them.
func (cluster) Pass(*observe.Step)           {}
func (cluster) Access(*observe.Access)       {}
func (cluster) Start(*observe.Async)         {}
func (cluster) Complete(*observe.Completion) {}
func (cluster) Mbarrier(*observe.Mbarrier)   {}
func (cluster) Open(*observe.Opening)        {}
func (cluster) End()                         {}
