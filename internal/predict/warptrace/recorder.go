package warptrace

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Recorder records the launches of a device. It is an observe.Observer.
type Recorder struct {
	// Wants selects the clusters to record, by their index in the grid and the number of clusters;
	// nil selects all. Their neighbours are recorded too if they run, unless they take much memory: the emulator runs
	// clusters that share work with the selected ones, and one of these may do what the others have left.
	Wants func(cluster, clusters int) bool
	// Most is the memory in bytes that the recording may take, about; 0 is mostBytes. Full, if not nil, is
	// called when it takes more, and then nothing more is recorded. An endless loop does that long before it reaches the emulator's limit.
	Most int64
	Full func()
	// MostBeside is the memory in bytes that neighbours of selected clusters may take, about; 0 is mostBeside. If they take
	// more, none of them is kept.
	MostBeside int64

	bytes    atomic.Int64
	beside   atomic.Int64 // of clusters that Wants does not select
	mu       sync.Mutex
	launches []*launch
}

// mostBytes is the memory that a recording may take unless the recorder has another limit. Of the shapes with names,
// huge128 takes the most.
const mostBytes int64 = 3 << 30

// mostBeside is the memory that neighbours may take unless the recorder has another limit.
const mostBeside int64 = 256 << 20

// ErrFull says that a recording takes too much memory.
var ErrFull = errors.New("the recorded blocks execute too many instructions for a prediction: is there an endless loop? If not, predict a smaller problem")

// take reports whether the recording has room for n bytes more.
func (r *Recorder) take(n int) bool {
	most := cmp.Or(r.Most, mostBytes)
	now := r.bytes.Add(int64(n))
	if now > most && now-int64(n) <= most && r.Full != nil {
		r.Full()
	}
	return now <= most
}

// takeBeside is take for clusters that Wants does not select.
func (r *Recorder) takeBeside(n int) bool {
	r.beside.Add(int64(n))
	return !r.crowded()
}

// crowded reports whether the clusters that Wants does not select take too much memory.
func (r *Recorder) crowded() bool { return r.beside.Load() > cmp.Or(r.MostBeside, mostBeside) }

// Launch is called by the emulator.
func (r *Recorder) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	l := &launch{recorder: r, info: info, wants: r.Wants, kinds: make([]kind, len(info.Program))}
	for i := range l.kinds {
		l.kinds[i] = kindOf(&info.Program[i])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.launches = append(r.launches, l)
	return l
}

// Launches returns the traces of the launches so far, in order.
func (r *Recorder) Launches() []*Launch {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Launch, len(r.launches))
	for i, l := range r.launches {
		all[i] = l.trace()
	}
	return all
}

// kind is what the recorder must know of an instruction.
type kind struct {
	memory  bool // it accesses memory or starts copies
	polls   bool // a wait that may return before the phase is complete
	barrier barrierKind
	bulk    bool // the copy engine moves the bytes
	updates bool // an atomic or a reduction of threads
}

type barrierKind uint8

const (
	noBarrier barrierKind = iota
	blockSync
	blockArrive
	clusterArrive
	clusterWait
)

func kindOf(in *observe.Inst) kind {
	c := in.Match.Class()
	k := kind{
		memory:  c.Unit == isa.UnitLoadStore || c.Unit == isa.UnitAsyncCopy || c.Unit == isa.UnitBulkCopy,
		polls:   c.Waits && in.Arg("waitComplete") != nil,
		bulk:    c.Unit == isa.UnitBulkCopy,
		updates: c.Unit == isa.UnitLoadStore && (c.Role == isa.RoleAtomic || c.Role == isa.RoleReduction),
	}
	if name := in.Op.Name; name != "bar" && name != "barrier" || in.Op.Has("warp") {
		return k
	}
	switch {
	case in.Op.Has("cluster") && in.Op.Has("arrive"):
		k.barrier = clusterArrive
	case in.Op.Has("cluster"):
		k.barrier = clusterWait
	case in.Op.Has("arrive"):
		k.barrier = blockArrive
	default:
		k.barrier = blockSync
	}
	return k
}

// launch records one launch. It is an observe.LaunchObserver.
type launch struct {
	recorder *Recorder
	info     *observe.LaunchInfo
	wants    func(cluster, clusters int) bool
	kinds    []kind

	mu       sync.Mutex
	clusters []*Cluster
}

// Wants returns true: every instruction takes time.
func (l *launch) Wants(*observe.Inst) bool { return true }

// WantsSkipped returns true: a warp also issues an instruction that no lane executes.
func (l *launch) WantsSkipped() bool { return true }

// Cluster is called by the emulator.
func (l *launch) Cluster(info *observe.ClusterInfo) observe.ClusterObserver {
	l.mu.Lock()
	defer l.mu.Unlock()
	selected := l.wants == nil || l.wants(info.Index, l.clusterCount())
	if !selected && (l.recorder.crowded() || !l.near(info.Index)) {
		return ignore{}
	}
	t := &Cluster{Index: info.Index, Updates: map[uint64]int{}}
	c := &cluster{l: l, trace: t, selected: selected, meter: count.NewMeter(l.info), current: map[place]int32{}, works: map[uint64]int32{}}
	c.take(piece)
	for _, b := range info.Blocks {
		warps := (b.Threads + 31) / 32
		t.Blocks = append(t.Blocks, Block{Threads: b.Threads, Warps: make([][]Event, warps)})
		c.warps = append(c.warps, make([]warp, warps))
	}
	l.clusters = append(l.clusters, t)
	return c
}

// nearby is how far a cluster that is recorded too may be from a selected one. The emulator runs the neighbours of
// selected clusters up to twice as far, so those with which it shares work run as well.
const nearby = 4

// near reports whether a cluster is a neighbour of a selected one.
func (l *launch) near(index int) bool {
	count := l.clusterCount()
	for i := max(index-nearby, 0); i <= min(index+nearby, count-1); i++ {
		if l.wants(i, count) {
			return true
		}
	}
	return false
}

// End is called by the emulator.
func (l *launch) End(error) {}

func (l *launch) trace() *Launch {
	l.mu.Lock()
	defer l.mu.Unlock()
	sorted.By(l.clusters, func(a, b *Cluster) int { return cmp.Compare(a.Index, b.Index) })
	if l.wants != nil && l.recorder.crowded() {
		l.clusters = slices.DeleteFunc(l.clusters, func(c *Cluster) bool { return !l.wants(c.Index, l.clusterCount()) })
	}
	run := l.info.Launch
	return &Launch{
		Kernel: l.info.Kernel, Module: l.info.Module, Program: l.info.Program, Launch: run, Shared: l.info.Bytes,
		Clusters: l.clusters, Count: l.clusterCount(),
	}
}

// clusterCount returns the number of clusters in the grid.
func (l *launch) clusterCount() int {
	run := &l.info.Launch
	return run.Grid.Norm().Count() / max(1, run.Cluster.Norm().Count())
}

// Spread returns a selection of up to n clusters that lie evenly in the grid, with the first and
// the last one.
func Spread(n int) func(cluster, clusters int) bool {
	return func(cluster, clusters int) bool {
		if n <= 1 || clusters <= n {
			return cluster == 0 || clusters <= n
		}
		i := (cluster*(n-1) + (clusters-1)/2) / (clusters - 1)
		return cluster == (i*(clusters-1)+(n-1)/2)/(n-1)
	}
}

// ignore is the observer of a cluster that is not recorded.
type ignore struct{}

func (ignore) Step(*observe.Step)           {}
func (ignore) Pass(*observe.Step)           {}
func (ignore) Access(*observe.Access)       {}
func (ignore) Start(*observe.Async)         {}
func (ignore) Complete(*observe.Completion) {}
func (ignore) Mbarrier(*observe.Mbarrier)   {}
func (ignore) Open(*observe.Opening)        {}
func (ignore) End()                         {}
