package check

import (
	"errors"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/finding"
)

// The kinds of faults and deadlocks.
const (
	OOBGlobal  finding.Kind = "oob-global"
	OOBShared  finding.Kind = "oob-shared"
	OOBLocal   finding.Kind = "oob-local"
	Misaligned finding.Kind = "misaligned"
	ReadOnly   finding.Kind = "read-only"
	Deadlock   finding.Kind = finding.Deadlock
)

func init() {
	register(checker{
		kinds: faultKinds,
		also:  []finding.Kind{MbarrierMisuse, BarrierDivergence},
		start: func(*launch) part { return faults{} },
	})
}

var faultKinds = []kind{
	{
		Rule: finding.Rule{
			Kind:  OOBGlobal,
			Short: "a global access outside every allocation",
			Full:  "The address is not inside an allocation. On a GPU the access is an error, or it silently hits the memory of something else.",
			Help:  "Guard the access with the size of the data. Look at the last block, which may have more threads than there are elements.",
		},
		why: "every byte that a kernel touches must lie in an allocation; a GPU may find other data there, or end the kernel",
		fix: "compare the index with the number of elements, and the buffers of the launch with what the kernel expects",
	},
	{
		Rule: finding.Rule{
			Kind:  OOBShared,
			Short: "a shared access outside its variable",
			Full:  "The address is outside the variable that it was computed from, or outside all shared memory of the block. It may hit another variable.",
			Help:  "Check the index against the size of the array, and the launch's dynamic shared memory, in bytes, against what the kernel assumes.",
		},
		why: "every byte must lie in the shared memory that the kernel declares and the launch provides",
		fix: "enlarge the array or the launch's dynamic shared memory, or correct the index",
	},
	{
		Rule: finding.Rule{
			Kind:  OOBLocal,
			Short: "a local access outside its variable",
			Full:  "The address is outside the thread's variable in local memory.",
			Help:  "Check the index against the size of the array.",
		},
		why: "every byte must lie in a local variable of the thread",
		fix: "correct the index into the array",
	},
	{
		Rule: finding.Rule{
			Kind:  Misaligned,
			Short: "an address that is not a multiple of the size of the access",
			Full:  "An access of n bytes needs an address that is a multiple of n; a vector counts as a whole. A GPU ends the kernel with an error.",
			Help:  "Align the array (.align 16 for vectors of 16 bytes) and keep offsets and row lengths multiples of the size of the access.",
		},
		why: "an access of n bytes needs an address that is a multiple of n",
		fix: "align the base with .align or __align__, and keep the offset a multiple of the access",
	},
	{
		Rule: finding.Rule{
			Kind:  ReadOnly,
			Short: "a write to constant memory or to a kernel parameter",
			Full:  "Constant memory and the parameters of a kernel are read-only while the kernel runs. A GPU ends the kernel with an error, or the write is lost.",
			Help:  "Copy the value to a local variable and change the copy. Memory that kernels write must be global.",
		},
		why: "kernels may only read constant memory and their parameters",
		fix: "write to a local copy, or to global memory",
	},
	{
		Rule: finding.Rule{
			Kind:  Deadlock,
			Short: "threads wait for each other forever",
			Full:  "Every remaining thread waits, and no thread is left that could end the wait.",
			Help:  "Compare the threads that wait with those that should arrive: the count of the barrier, the parity of the phase, the bytes of expect_tx, an arrival that a branch skipped.",
		},
		why: "each of these threads waits for something that no thread will do",
		fix: "compare the arrivals with what is waited for: barrier ids and counts, mbarrier counts, bytes and parities",
	},
}

// faults turns faults and deadlocks into findings. The emulator itself enforces the rules.
type faults struct{}

func (faults) cluster(c *cluster) any { return faultReporter{c} }

// faultReporter reports the faults of a cluster.
type faultReporter struct{ *cluster }

func (r faultReporter) fault(fault *device.Fault) {
	if fault.Class == "" {
		return
	}
	f := fault.Finding
	f.Kind = fault.Class
	r.l.own(&f.Place)
	r.report(f)
}

func (faults) endLaunch(c *cluster, err error) {
	var dead *device.Deadlock
	if errors.As(err, &dead) && len(dead.Waiters) > 0 {
		c.deadlock(dead)
	}
}

// own sets the source line of a place that the emulator reported to the line of the kernel's own
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

// deadlock reports a deadlock. If lanes of one warp wait at different places, one of them an
// aligned barrier, it reports a divergent barrier instead.
func (c *cluster) deadlock(dead *device.Deadlock) {
	all := slices.Clone(dead.Waiters)
	for i := range all {
		c.l.own(&all[i].Place)
	}
	for i := range all {
		for j := range all {
			a, b := &all[i].Place, &all[j].Place
			if i != j && a.Block == b.Block && a.Warp == b.Warp && isAlignedBarrier(a.Inst) && a.Pos != b.Pos {
				c.report(finding.Finding{
					Kind: BarrierDivergence, Severity: finding.Error, Place: *a, Other: b, Waiters: all,
					Message: "some lanes of a warp wait at this barrier, and other lanes of the warp wait elsewhere",
				})
				return
			}
		}
	}
	why := all[0].For
	if why == "" {
		why = "all threads wait"
	}
	c.report(finding.Finding{
		Kind: Deadlock, Severity: finding.Error, Place: all[0].Place, Waiters: all, Message: "no thread can continue: " + why,
	})
}

// isBlockBarrier reports whether an opcode is a barrier of the block.
func isBlockBarrier(op string) bool {
	return strings.HasPrefix(op, "bar.") && !strings.HasPrefix(op, "bar.warp") ||
		strings.HasPrefix(op, "barrier.") && !strings.HasPrefix(op, "barrier.cluster")
}

// isAlignedBarrier reports whether an opcode is a barrier of the block that all lanes of a warp
// must reach together.
func isAlignedBarrier(op string) bool {
	return isBlockBarrier(op) && (strings.HasPrefix(op, "bar.") || strings.Contains(op, ".aligned"))
}
