package check

import (
	"errors"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// rule is what a report says about its kind: the rule that is broken and what
// repairs it.
type rule struct{ why, fix string }

// faults are the rules that the emulator itself enforces.
var faults = map[finding.Kind]rule{
	OOBGlobal: {
		"every byte that a kernel touches must lie in an allocation; a GPU may find other data there, or end the kernel",
		"compare the index with the number of elements, and the launch's buffers with what the kernel expects",
	},
	OOBShared: {
		"every byte must lie in the shared memory that the kernel declares and the launch provides",
		"enlarge the array or the launch's dynamic shared memory, or mend the index",
	},
	OOBLocal: {
		"every byte must lie in a local variable of the thread",
		"mend the index into the array",
	},
	Misaligned: {
		"an access of n bytes needs an address that is a multiple of n",
		"align the base with .align or __align__, and keep the offset a multiple of the access",
	},
	MbarrierMisuse: {
		"an mbarrier must be initialised before it is used, and each phase takes as many arrivals as it was initialised for",
		"compare the count of mbarrier.init with the threads that arrive in one phase",
	},
	BarrierDivergence: {
		"bar.sync is .aligned: all threads of a warp execute the same one, and all threads that the barrier counts reach it",
		"move the barrier out of the divergent branch, or use a named barrier that counts only the warps that reach it",
	},
	Deadlock: {
		"each of these waits for something that no thread will do",
		"compare who arrives with who is awaited: barrier ids and counts, mbarrier counts, bytes and parities",
	},
}

// of adds the rule to a finding.
func (r rule) of(d finding.Finding) finding.Finding {
	d.Why, d.Fix = r.why, r.fix
	return d
}

// End turns what ended a launch early into findings.
func (l *launch) End(err error) {
	c := &cluster{ClusterInfo: &observe.ClusterInfo{Index: 1 << 62}, l: l}
	var f *device.Fault
	var dead *device.Deadlock
	switch {
	case errors.As(err, &f) && f.Class != "":
		c.fault(f)
	case errors.As(err, &dead) && len(dead.Waiters) > 0:
		c.deadlock(dead)
	}
	for _, p := range l.parts {
		if e, ok := p.(interface{ endLaunch(c *cluster, err error) }); ok {
			e.endLaunch(c, err)
		}
	}
}

func (c *cluster) fault(fault *device.Fault) {
	f := fault.Finding
	f.Kind = fault.Class
	c.l.own(&f.Place)
	c.report(faults[f.Kind].of(f))
}

// own gives a place that the emulator reported the source line of the kernel's own
// file that led there.
func (l *launch) own(p *finding.Place) {
	for id := range l.Program {
		if in := &l.Program[id]; in.Pos == p.Pos && in.Op.Text == p.Inst {
			at := l.called(in, p.Callers)
			from(p, &at)
			return
		}
	}
}

// deadlock tells a barrier that the lanes of a warp reach apart from each other from
// other deadlocks.
func (c *cluster) deadlock(dead *device.Deadlock) {
	all := slices.Clone(dead.Waiters)
	for i := range all {
		c.l.own(&all[i].Place)
	}
	for i := range all {
		for j := range all {
			a, b := &all[i].Place, &all[j].Place
			if i != j && a.Block == b.Block && a.Warp == b.Warp && isAlignedBarrier(a.Inst) && a.Pos != b.Pos {
				c.report(faults[BarrierDivergence].of(finding.Finding{
					Kind: BarrierDivergence, Severity: finding.Error, Place: *a, Other: b, Waiters: all,
					Message: "part of a warp waits at this barrier, the rest of it elsewhere",
				}))
				return
			}
		}
	}
	why := all[0].For
	if why == "" {
		why = "all of them wait"
	}
	c.report(faults[Deadlock].of(finding.Finding{
		Kind: Deadlock, Severity: finding.Error, Place: all[0].Place, Waiters: all, Message: "no thread can continue: " + why,
	}))
}

// isAlignedBarrier reports whether an opcode is a barrier of the block that a warp
// reaches as one.
func isAlignedBarrier(op string) bool {
	if strings.HasPrefix(op, "bar.") {
		return !strings.HasPrefix(op, "bar.warp")
	}
	return strings.HasPrefix(op, "barrier.") && strings.Contains(op, ".aligned") && !strings.HasPrefix(op, "barrier.cluster")
}
