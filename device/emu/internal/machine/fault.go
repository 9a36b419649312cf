package machine

import (
	"fmt"
	"slices"
	"sync"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// RaiseAs is Raise with the class of the fault, one of the kinds that package check
// reports.
func (f *Frame) RaiseAs(class string, lane int, format string, args ...any) {
	flt := f.Warp.fault(f, lane, fmt.Sprintf(format, args...))
	flt.Class = finding.Kind(class)
	f.Block.faulted(flt)
	panic(flt)
}

// Raise ends the launch with a fault of the current instruction. lane is -1 when no
// single lane causes the fault.
func (f *Frame) Raise(lane int, format string, args ...any) { f.RaiseAs("", lane, format, args...) }

// Void reports an access to n bytes that a lane must not access. It ends the launch as RaiseAs
// does. If the launch keeps going after such an access, Void returns n zeros in place of the
// memory: a load reads them, and the bytes of a store are lost. The size of a bulk copy is in a
// register, so that n can be 4 GiB. An access that is larger than any correct copy always ends
// the launch.
func (f *Frame) Void(class string, lane, n int, format string, args ...any) []byte {
	if !f.Block.Launch.KeepGoing || n > mostVoid {
		f.RaiseAs(class, lane, format, args...)
	}
	if c := f.Block.Cluster; c.voids < mostVoids {
		c.voids++
		flt := f.Warp.fault(f, lane, fmt.Sprintf(format, args...))
		flt.Class = finding.Kind(class)
		f.Block.faulted(flt)
		c.survive(f.Block.Launch, flt)
	}
	return make([]byte, n)
}

const (
	// mostVoids is the number of faulty accesses of a cluster that are reported. Further
	// ones rarely show anything new.
	mostVoids = 1 << 12
	// mostVoid is more than the shared memory of a block, in bytes, which is one end of each
	// bulk copy.
	mostVoid = 1 << 20
	// afterFault is the number of instructions that a warp may execute after the first
	// fault of its cluster. A loop may never end without the data that was not loaded.
	afterFault = 1 << 20
)

// survive records a fault after which the cluster continues. The first fault of the first
// cluster becomes the error of the launch.
func (c *cluster) survive(l *launch, flt *device.Fault) {
	if c.voids > 1 {
		return
	}
	steps := uint64(0)
	for _, b := range c.Blocks {
		for _, w := range b.Warps {
			steps = max(steps, w.steps)
		}
	}
	c.limit = min(c.limit, steps+afterFault)
	l.survived.mu.Lock()
	defer l.survived.mu.Unlock()
	if s := &l.survived; s.fault == nil || c.index < s.cluster {
		s.fault, s.cluster = flt, c.index
	}
}

// survived is the fault that a launch returns although it continued.
type survived struct {
	mu      sync.Mutex
	fault   *device.Fault
	cluster int // the index of the cluster that caused it
}

// faulted tells the observer of a fault.
func (b *Block) faulted(flt *device.Fault) {
	if o, ok := b.Watch.(observe.FaultObserver); ok {
		o.Fault(flt)
	}
}

func (w *Warp) fault(f *Frame, lane int, msg string) *device.Fault {
	flt := &device.Fault{File: f.fn.Prog.File, Finding: finding.Finding{
		Kind: finding.Fault, Severity: finding.Error, Kernel: w.b.kernel.Name, Message: msg, Count: 1,
		Place: finding.Place{Func: f.fn.Decl.Sym.Name, Block: w.b.ctaid, Warp: w.ID, Lanes: finding.Lane(lane)},
	}}
	if o := &f.fn.Code[w.PC]; o.Inst != nil {
		at := f.fn.sourceLine(w.PC)
		flt.Pos, flt.Inst, flt.Source = o.Inst.Pos, o.Inst.Op.Text, at.line
		flt.Callers = append(slices.Clip(at.callers), f.callers()...)
	}
	return flt
}
