package check

import (
	"errors"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// rule is what the report of a defect says about its kind.
type rule struct{ why, fix string }

// faults are the rules that the emulator itself enforces.
var faults = map[Kind]rule{
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

// defect fills in what the kind's rule says.
func (r rule) of(d Defect) Defect {
	d.Why, d.Fix = r.why, r.fix
	return d
}

// End turns what ended a launch early into defects.
func (l *launch) End(err error) {
	c := &cluster{ClusterInfo: &observe.ClusterInfo{Index: 1 << 62}, l: l}
	var f *device.Fault
	var dead *device.Deadlock
	switch {
	case errors.As(err, &f) && f.Kind != "":
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

func (c *cluster) fault(f *device.Fault) {
	lanes := uint32(0)
	if f.Lane >= 0 {
		lanes = 1 << f.Lane
	}
	id := c.l.find(f.Pos, f.Inst)
	a := Access{Pos: f.Pos, Source: f.Source, Inst: f.Inst, Block: f.Block, Warp: f.Warp, Lanes: lanes}
	if id >= 0 {
		a.Func = c.l.Program[id].Func.Sym.Name
		at := c.l.called(&c.l.Program[id], f.Callers)
		a.from(&at)
	}
	kind := Kind(f.Kind)
	c.report(faults[kind].of(Defect{Kind: kind, Severity: Error, Message: f.Msg, Access: a}), id, -1)
}

// find is the ID of the instruction at a position.
func (l *launch) find(pos ptx.Pos, op string) int {
	for id := range l.Program {
		if in := &l.Program[id]; in.Pos == pos && in.Op.Text == op {
			return id
		}
	}
	return -1
}

// deadlock tells a barrier that a warp's lanes reach apart from other deadlocks.
func (c *cluster) deadlock(dead *device.Deadlock) {
	var all []Access
	for _, w := range dead.Waiters {
		a := Access{Pos: w.Pos, Source: w.Source, Inst: w.Inst, Block: w.Block, Warp: w.Warp, Lanes: w.Lanes, Note: w.Why}
		if id := c.l.find(w.Pos, w.Inst); id >= 0 {
			a.Func = c.l.Program[id].Func.Sym.Name
			at := c.l.called(&c.l.Program[id], w.Callers)
			a.from(&at)
		}
		all = append(all, a)
	}
	first := c.l.find(all[0].Pos, all[0].Inst)
	for i := range all {
		for j := range all {
			a, b := &all[i], &all[j]
			if i != j && a.Block == b.Block && a.Warp == b.Warp && isAlignedBarrier(a.Inst) && a.Pos != b.Pos {
				c.report(faults[BarrierDivergence].of(Defect{
					Kind: BarrierDivergence, Severity: Error, Access: *a, Other: b, Waiters: all,
					Message: "part of a warp waits at this barrier, the rest of it elsewhere",
				}), c.l.find(a.Pos, a.Inst), -1)
				return
			}
		}
	}
	c.report(faults[Deadlock].of(Defect{
		Kind: Deadlock, Severity: Error, Access: all[0], Waiters: all, Message: "no thread can go on: " + waitText(&all[0]),
	}), first, -1)
}

func waitText(a *Access) string {
	if a.Note == "" {
		return "all of them wait"
	}
	return a.Note
}

// isAlignedBarrier reports whether an opcode is a barrier of the block that a warp
// reaches as one.
func isAlignedBarrier(op string) bool {
	if strings.HasPrefix(op, "bar.") {
		return !strings.HasPrefix(op, "bar.warp")
	}
	return strings.HasPrefix(op, "barrier.") && strings.Contains(op, ".aligned") && !strings.HasPrefix(op, "barrier.cluster")
}
