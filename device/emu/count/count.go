package count

import (
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// Counter counts the launches of a device. It is an observe.Observer.
type Counter struct {
	mu       sync.Mutex
	launches []*launch
}

// New makes a counter.
func New() *Counter { return &Counter{} }

// Launch is called by the emulator.
func (c *Counter) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	l := &launch{LaunchInfo: info, facts: make([]fact, len(info.Program)), total: make([]tally, len(info.Program))}
	for i := range l.facts {
		l.facts[i] = factsOf(&info.Program[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.launches = append(c.launches, l)
	return l
}

// Launches returns the counts of the launches so far, in order.
func (c *Counter) Launches() []*Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*Counts, len(c.launches))
	for i, l := range c.launches {
		all[i] = l.counts()
	}
	return all
}

// The state spaces whose bytes are counted.
const (
	inGlobal = iota
	inShared
	inLocal
	spaces
)

// tally is the counts of one instruction.
type tally struct {
	executions uint64 // by a warp or a part of a warp
	active     uint64 // lanes that reached the instruction
	lanes      uint64 // lanes whose guard held
	divergent  uint64 // executions of a branch that separated lanes
	passed     uint64 // lanes that found the phase of an mbarrier complete
	shared     SharedUse
	global     GlobalUse
	bytes      [spaces][2]uint64 // read and written
}

func (t *tally) add(u *tally) {
	t.executions += u.executions
	t.active += u.active
	t.lanes += u.lanes
	t.divergent += u.divergent
	t.passed += u.passed
	t.shared.add(&u.shared)
	t.global.add(&u.global)
	for s := range t.bytes {
		t.bytes[s][0] += u.bytes[s][0]
		t.bytes[s][1] += u.bytes[s][1]
	}
}

// launch is a launch that is counted.
type launch struct {
	*observe.LaunchInfo
	facts []fact

	mu    sync.Mutex
	total []tally
	spare []*cluster
}

// Wants returns true: every instruction is counted.
func (l *launch) Wants(*observe.Inst) bool { return true }

// WantsSkipped returns true: a warp also issues an instruction that no lane executes.
func (l *launch) WantsSkipped() bool { return true }

// Cluster is called by the emulator.
func (l *launch) Cluster(*observe.ClusterInfo) observe.ClusterObserver {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.spare); n > 0 {
		c := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return c
	}
	return &cluster{l: l, tallies: make([]tally, len(l.Program))}
}

// close adds the counts of a cluster.
func (l *launch) close(c *cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range c.tallies {
		if c.tallies[i] != (tally{}) {
			l.total[i].add(&c.tallies[i])
		}
	}
	clear(c.tallies)
	l.spare = append(l.spare, c)
}

// End is called by the emulator.
func (l *launch) End(error) {}
