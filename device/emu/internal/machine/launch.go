package machine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// Kernel is an entry of a program, ready to be launched.
type Kernel struct {
	Prog  *Program
	Entry *Function
	Name  string
}

// Settings are the properties of the device and its options that a launch depends on.
type Settings struct {
	Memory      *memory.Global
	SMs         int
	SharedPerSM int
	ID          uint64 // number of the launch on its device
	Seed        uint64 // permutes the order of warps; 0 is the natural order
	Moment      uint64 // seeds the special registers that differ between launches on a GPU; 0 leaves them as they are
	Hold        int    // the line of the instruction that warps execute as late as possible, or 0
	Limit       uint64 // instructions that a warp may execute
	Output      io.Writer
	Observer    observe.Observer // nil if the launch is not observed
	KeepGoing   bool             // the launch continues after an access that Void reports
	// Only selects the clusters that run; nil selects all. See runs.
	Only func(cluster, clusters int) bool
}

// launch is one run of a kernel.
type launch struct {
	device.Launch
	Settings
	kernel   *Kernel
	params   []byte
	ctx      context.Context
	Parallel bool // several goroutines run blocks at the same time
	// Clustered is set if the launch has clusters, even of one block each.
	Clustered bool
	schedule  schedule
	failed    atomic.Bool
	survived  survived
	threads   atomic.Uint64 // thread instructions
	warpOps   atomic.Uint64
	out       output
	Printed   atomic.Int64 // bytes
	watcher   *watcher
	// barrierMemory is the memory of the grid barrier of a cooperative launch.
	barrierMemory *memory.Alloc
}

// Launch runs the kernel to its end. l must be normalised and must have passed
// device.Launch.Check. The error is a *device.Bug if the emulator or the observer panics.
func (k *Kernel) Launch(ctx context.Context, l device.Launch, s Settings) (stats device.Stats, err error) {
	defer recoverFault(&err)
	run := k.newLaunch(ctx, l, s)
	for i, p := range k.Entry.Decl.Params {
		off := k.Entry.Offsets[p.Sym]
		if n := int(off) + len(l.Params[i]); n > len(run.params) {
			run.params = append(run.params, make([]byte, n-len(run.params))...)
		}
		copy(run.params[off:], l.Params[i])
	}
	if l.Cooperative {
		if err := run.allocGridBarrier(); err != nil {
			return device.Stats{}, err
		}
		defer s.Memory.Free(run.barrierMemory)
	}
	run.out.Writer = s.Output
	run.watch(s.Observer)
	run.hold()
	before := run.save()
	err = run.run()
	if flt := run.survived.fault; flt != nil { // what ended the launch may follow from it
		err = flt
	}
	run.out.flush()
	if run.watcher != nil {
		run.replay(k, before, err)
		run.watcher.observer.End(err)
	}
	return device.Stats{ThreadInstructions: run.threads.Load(), WarpInstructions: run.warpOps.Load()}, err
}

func (k *Kernel) newLaunch(ctx context.Context, l device.Launch, s Settings) *launch {
	return &launch{
		Launch: l, Settings: s, kernel: k, ctx: ctx, schedule: schedule{s.Seed},
		Clustered: l.Cluster.Count() > 1 || k.Entry.Decl.Directive(".reqnctapercluster") != nil,
	}
}

var errStopped = errors.New("stopped")

// stop returns why the launch must end early, or nil.
func (l *launch) stop() error {
	if l.failed.Load() {
		return errStopped
	}
	if err := l.ctx.Err(); err != nil {
		return fmt.Errorf("%s was stopped: %w", l.kernel.Name, err)
	}
	return nil
}

// allocGridBarrier allocates the memory in which the grid barrier of a cooperative launch
// counts. Cooperative groups expect its size and a zero word at the address in %envreg1
// and %envreg2.
func (l *launch) allocGridBarrier() (err error) {
	if n, most := l.Grid.Count(), l.resident()*l.Cluster.Count(); n > most {
		return fmt.Errorf("a cooperative launch of %d blocks: the device holds %d at once, so launch at most that many", n, most)
	}
	if l.barrierMemory, err = l.Memory.Alloc(8, memory.GlobalAlign, ""); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(l.barrierMemory.Data, 8)
	return nil
}

// run executes the grid. Blocks that cannot communicate run in parallel.
func (l *launch) run() error {
	cl := l.Cluster
	count := l.Grid.Count() / cl.Count()
	workers := min(runtime.GOMAXPROCS(0), count)
	if l.kernel.Entry.Serial {
		return l.runSerial(count)
	}
	l.Parallel = workers > 1
	var next atomic.Int64
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				err := l.stop() // a cluster may be too short to notice it
				if err == nil && l.Only != nil && !l.Only(i, count) {
					continue
				}
				if err == nil {
					err = l.runCluster(i)
				}
				if err != nil {
					errs[w] = err
					l.failed.Store(true)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, errStopped) {
			return err
		}
	}
	return nil
}

// runCluster runs one cluster to its end.
func (l *launch) runCluster(i int) (err error) {
	defer recoverFault(&err)
	c := l.newCluster(i)
	err = l.finish(c)
	l.close(c)
	if err == nil {
		c.reuse()
	}
	return err
}

// finish runs a cluster to its end. A fault is its error.
func (l *launch) finish(c *cluster) (err error) {
	defer recoverFault(&err)
	return c.finish(l)
}

// runSerial interleaves as many clusters as would be resident on the GPU, so that blocks can wait
// for each other.
func (l *launch) runSerial(count int) (err error) {
	var active []*cluster
	defer func() {
		for _, c := range active {
			l.close(c)
		}
	}()
	defer recoverFault(&err) // before the clusters are closed
	todo := l.selection(count)
	var idle idleness
	for len(todo) > 0 || len(active) > 0 {
		for len(todo) > 0 && len(active) < l.resident() {
			active = append(active, l.newCluster(todo[0]))
			todo = todo[1:]
		}
		moved, idles := false, 0
		live := active[:0]
		for _, c := range active {
			if err := l.stop(); err != nil {
				return err
			}
			m, ended := c.run()
			if ended {
				c.drain()
				l.close(c)
				c.reuse()
				moved = true
				continue
			}
			moved = c.progress(m) || l.Hold > 0 && c.passHeld() || moved
			idles = max(idles, c.idleLimit)
			live = append(live, c)
		}
		clear(active[len(live):])
		active = live
		if moved {
			idle = idleness{}
		} else if idle.over(idles/max(1, len(active)), active...) {
			return deadlock(active...)
		}
	}
	return nil
}

// resident returns how many clusters the GPU holds at once.
func (l *launch) resident() int {
	const reserved = 1024 // bytes of shared memory per block that the driver reserves
	shared := int(l.kernel.Entry.Declared) + l.Shared + reserved
	perSM := max(1, min(32, 2048/max(l.Block.Count(), 1), l.SharedPerSM/shared))
	return max(1, l.SMs*perSM/l.Cluster.Count())
}

// newCluster makes the blocks of cluster i. Clusters are counted x first.
func (l *launch) newCluster(i int) *cluster {
	g, cl := l.Grid, l.Cluster
	cx, cy := g.X/cl.X, g.Y/cl.Y
	at := [3]int{i % cx * cl.X, i / cx % cy * cl.Y, i / (cx * cy) * cl.Z}
	c := &cluster{index: i, Explicit: cl.Count() > 1, limit: l.Limit}
	c.Async.seed, c.Async.Matrix = l.schedule.seedOf(i), scratches.Get().(*Scratch)
	for r := range cl.Count() {
		id := [3]int{at[0] + r%cl.X, at[1] + r/cl.X%cl.Y, at[2] + r/(cl.X*cl.Y)}
		index := id[0] + g.X*(id[1]+g.Y*id[2])
		c.Blocks = append(c.Blocks, newBlock(l, c, index, id))
	}
	if l.watcher != nil {
		c.watch(l.watcher.observer)
	}
	return c
}

// close adds up the instructions of an ended cluster and writes what it printed.
func (l *launch) close(c *cluster) {
	if c.closed {
		return
	}
	c.closed = true
	var text []byte
	if watch := c.Blocks[0].Watch; watch != nil {
		watch.End()
	}
	for _, b := range c.Blocks {
		text = append(text, b.Printed...)
		for _, w := range b.Warps {
			l.threads.Add(w.laneSteps)
			l.warpOps.Add(w.steps)
		}
	}
	l.out.emit(c.index, text)
}

// recoverFault turns a raised fault into an error. A mistake of the emulator becomes an error
// too, so that one kernel cannot end a program that runs many.
func recoverFault(err *error) {
	switch r := recover().(type) {
	case nil:
	case *device.Fault:
		*err = r
	default:
		*err = device.NewBug(r)
	}
}
