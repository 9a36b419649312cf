package count

import "github.com/GOATnote-Inc/attest/device/emu/observe"

// Meter measures the memory accesses of single instructions. Its user forwards the events of one
// cluster to it: each step, and the accesses that follow the step.
type Meter struct {
	c cluster
}

// NewMeter returns a meter for one cluster of a launch.
func NewMeter(info *observe.LaunchInfo) *Meter {
	l := &launch{LaunchInfo: info, facts: make([]fact, len(info.Program))}
	for i := range l.facts {
		l.facts[i] = factsOf(&info.Program[i])
	}
	return &Meter{cluster{l: l, tallies: make([]tally, len(info.Program))}}
}

// Access adds an access.
func (m *Meter) Access(a *observe.Access) { m.c.Access(a) }

// Take returns what the instruction with an ID has used since the last call for it.
func (m *Meter) Take(id int) (SharedUse, GlobalUse) {
	m.c.flush()
	m.c.told = 0
	t := &m.c.tallies[id]
	shared, global := t.shared, t.global
	*t = tally{}
	return shared, global
}
