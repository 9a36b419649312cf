package observe

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device"
)

// Tee returns an observer that passes everything on to several observers.
func Tee(observers ...Observer) Observer { return tee(observers) }

type tee []Observer

func (t tee) Launch(info *LaunchInfo) LaunchObserver {
	l := &launchTee{wants: make([]uint64, len(info.Program))}
	for _, o := range t {
		if lo := o.Launch(info); lo != nil {
			l.all = append(l.all, lo)
			l.skips = append(l.skips, WantsSkipped(lo))
		}
	}
	switch len(l.all) {
	case 0:
		return nil
	case 1:
		return l.all[0]
	}
	return l
}

// launchTee passes the events of a launch on to several observers.
type launchTee struct {
	all   []LaunchObserver
	skips []bool   // by observer: it wants instructions that no lane executes
	wants []uint64 // by instruction: the set of observers that want it
}

// WantsSkipped reports whether any of the observers wants instructions that no lane
// executes. Step leaves out the others.
func (l *launchTee) WantsSkipped() bool { return slices.Contains(l.skips, true) }

// Again returns an observer for the observers that need a second run.
func (l *launchTee) Again() LaunchObserver {
	again := &launchTee{wants: make([]uint64, len(l.wants))}
	for _, o := range l.all {
		if r, ok := o.(ReplayObserver); ok {
			if next := r.Again(); next != nil {
				again.all = append(again.all, next)
				again.skips = append(again.skips, WantsSkipped(next))
			}
		}
	}
	if len(again.all) == 0 {
		return nil
	}
	return again
}

func (l *launchTee) Wants(in *Inst) bool {
	l.wants[in.ID] = 0
	for i, o := range l.all {
		if o.Wants(in) {
			l.wants[in.ID] |= 1 << i
		}
	}
	return l.wants[in.ID] != 0
}

func (l *launchTee) Cluster(info *ClusterInfo) ClusterObserver {
	c := &clusterTee{l: l}
	for _, o := range l.all {
		c.all = append(c.all, o.Cluster(info))
	}
	return c
}

func (l *launchTee) End(err error) {
	for _, o := range l.all {
		o.End(err)
	}
}

// clusterTee passes the events of a cluster on to several observers.
type clusterTee struct {
	l   *launchTee
	all []ClusterObserver
}

func (c *clusterTee) Step(s *Step) {
	wants := c.l.wants[s.ID]
	for i, o := range c.all {
		if wants>>i&1 != 0 && (s.Mask != 0 || c.l.skips[i]) {
			o.Step(s)
		}
	}
}

func (c *clusterTee) Pass(s *Step) {
	wants := c.l.wants[s.ID]
	for i, o := range c.all {
		if wants>>i&1 != 0 {
			o.Pass(s)
		}
	}
}

func (c *clusterTee) Access(a *Access) {
	for _, o := range c.all {
		o.Access(a)
	}
}

func (c *clusterTee) Start(a *Async) {
	for _, o := range c.all {
		o.Start(a)
	}
}

func (c *clusterTee) Complete(d *Completion) {
	for _, o := range c.all {
		o.Complete(d)
	}
}

func (c *clusterTee) Mbarrier(e *Mbarrier) {
	for _, o := range c.all {
		o.Mbarrier(e)
	}
}

func (c *clusterTee) Open(op *Opening) {
	for _, o := range c.all {
		o.Open(op)
	}
}

func (c *clusterTee) End() {
	for _, o := range c.all {
		o.End()
	}
}

// Fault makes clusterTee a FaultObserver. It leaves out the observers that are not.
func (c *clusterTee) Fault(f *device.Fault) {
	for _, o := range c.all {
		if o, ok := o.(FaultObserver); ok {
			o.Fault(f)
		}
	}
}
