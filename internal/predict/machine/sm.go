package machine

import (
	"math"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
)

// Machine replays traces of one launch on a chip.
type Machine struct {
	rates *rates
	code  *code
	run   *warptrace.Launch
	edit  *Edit
}

// New prepares a launch for replays on a chip at a clock in MHz. A nil edit changes nothing.
func New(l *warptrace.Launch, c *chips.Chip, mhz float64, e *Edit) *Machine {
	if e == nil {
		e = &Edit{}
	}
	r := ratesOf(c, mhz)
	return &Machine{rates: r, code: lower(l.Program, r, c.Target, e), run: l, edit: e}
}

// Plan says what a replay runs.
type Plan struct {
	// Clusters are indices into the trace's clusters: the clusters that one group of SMs runs one
	// after the other. A group has one SM per block of a cluster.
	Clusters []int
	Resident int // clusters that a group of SMs holds at once
	// L2Bytes is the bytes per cycle that an SM gets from the L2; 0 is the share of an SM when all
	// SMs read.
	L2Bytes    float64
	BulkBytes  float64 // as L2Bytes, for bulk copies
	StoreBytes float64 // as L2Bytes, for what the SM stores
	// DRAMBytes is the bytes per cycle that an SM reads and writes if all of them go to DRAM; 0 means that none do.
	DRAMBytes float64
	// Misses is the share of what an SM reads first that comes from DRAM: 1 if no cache holds anything at the start.
	Misses float64
	Watch  Watcher // may be nil
}

// Watcher is told what happens during a replay, for timelines. Times are in cycles.
type Watcher interface {
	// Issue is called for each operation: a warp of a block issued an instruction at a time, after
	// it had waited since another time for a reason.
	Issue(sm, block, warp int, id int32, waitedSince, at float64, why Reason)
	// Phase is called when a barrier of a block completes a phase.
	Phase(block int, p *warptrace.Phase, at float64)
	// Block is called when a block has ended.
	Block(sm, block int, from, to float64)
	// Work is called when an asynchronous copy of a block, or a product of a warp, is known to take
	// effect at a time.
	Work(block, warp int, id int32, from, to float64)
}

// Result is what a replay found. Cycles are of the SM clock.
type Result struct {
	Cycles float64
	// Spent is where the time of the sub-cores went, by instruction and reason. All entries
	// together are Cycles times the number of sub-cores.
	Spent map[Spender]float64
	// Warps is where the time of the warps went, in cycles of all warps together. Issue is the time in which they
	// issued. NotSelected is the time in which they could have issued and other warps of the sub-core did.
	Warps       [reasons]float64
	NotSelected float64
	Busy        [unitCount]float64 // cycles for which the pipes of a sub-core worked, on average
	// SharedBusy and GlobalBusy are the cycles for which the memory of one SM was busy, on average:
	// its shared memory and L1, and the busier one of its ports from and to the L2.
	SharedBusy, GlobalBusy float64
	Ops                    int // operations that were issued
	Cores                  int // sub-cores
}

// Stretch multiplies the time, but not the time for which units are busy.
func (r *Result) Stretch(by float64) {
	r.Cycles *= by
	for k := range r.Spent {
		r.Spent[k] *= by
	}
}

// Scale multiplies all times, for a replay that represents a longer one.
func (r *Result) Scale(by float64) {
	r.Stretch(by)
	for u := range r.Busy {
		r.Busy[u] *= by
	}
	r.SharedBusy *= by
	r.GlobalBusy *= by
	r.Ops = int(float64(r.Ops) * by)
}

// Spender is an instruction, or -1 for none, and a reason.
type Spender struct {
	ID  int32
	Why Reason
}

// sim is a replay.
type sim struct {
	*Machine
	plan  Plan
	sms   []sm
	queue []int // clusters that have not started
	spent map[Spender]float64
	warps [reasons]float64
	// notSelected is the time in which warps could issue and others did.
	notSelected float64
	busy        [unitCount]float64
	ops         int
	ended       float64 // when the last warp has ended
	end         float64 // when its stores have ended, too
	begun       int     // clusters
	// started is when the last cluster was handed to the SMs.
	started float64

	sharedBusy, globalBusy, storeBusy float64
}

// subCores is the number of sub-cores of an SM.
const subCores = 4

// sm is a streaming multiprocessor.
type sm struct {
	index  int
	cores  [subCores]core
	shared float64 // when shared memory is free for accesses of threads
	banks  ledger  // the use of shared memory by threads, copies and tensor cores
	l2     float64 // when the port from the L2 is free for loads and atomics
	bulk   float64 // when it is free for bulk copies
	stores float64 // when the port to the L2 is free
	stored float64 // when the L2 has taken all stores of the SM, less what it takes as a burst
	taken  float64 // when the L2 has the last byte that the SM has stored
	dram   float64 // when the SM's share of DRAM is free
	tma    float64 // when the copy engine is free
	dsmem  float64 // when the port to other SMs is free
	// barrier is when the barriers of blocks have counted all arrivals so far.
	barrier float64
	l1      map[uint64]float64
	code    lines
	maps    map[int32]bool  // tensor maps that the copy engine has read, by their register
	params  map[int]float64 // by line of parameters: when it is in the constant cache
	placed  int             // warps that were placed
}

// core is a sub-core.
type core struct {
	warps  []*warp
	pipes  [pipeCount]float64
	tensor float64 // when the tensor core is free for wgmma
	free   float64 // when it can issue
	ports  float64 // when the register file can deliver operands again
	last   *warp
	best   *warp // the next warp to issue, nil if unknown or none
	at     float64
	stale  bool
}

// group is a cluster that is running.
type group struct {
	trace  *warptrace.Cluster
	phases []phaseState
	left   int // warps that have not ended
	from   float64
	number int
}

type phaseState struct {
	need    int
	time    float64
	copied  bool // a copy came last
	waiters []*warp
}

// warp is a warp that is running.
type warp struct {
	g          *group
	sm         *sm
	core       *core
	block, num int
	path       []warptrace.Event
	order      []int32 // what remains of the present basic block, as indices into path
	next       int     // the index in path at which the next basic block starts
	ready      []float64
	why        []Reason
	at         float64 // when it can issue the next operation
	reason     Reason
	since      float64 // when it issued the last one
	blocked    bool
	op         *Op
	event      *warptrace.Event
	before     *Op   // the operation that it issued last
	line       int32 // the line of machine code that the previous operation came from
	productEnd float64
	products   []float64 // ends of committed groups
	copyEnd    float64
	copyGroups []float64
	bulkEnd    float64
	bulkGroups []float64
	seen       map[int32]int32
	done       bool
}

// Replay runs a plan.
func (m *Machine) Replay(p Plan) Result {
	blocks := len(m.run.Clusters[p.Clusters[0]].Blocks)
	s := &sim{Machine: m, plan: p, sms: make([]sm, blocks), queue: p.Clusters, spent: map[Spender]float64{}}
	if s.plan.L2Bytes == 0 {
		s.plan.L2Bytes = m.rates.l2Bytes
	}
	if s.plan.BulkBytes == 0 {
		s.plan.BulkBytes = m.rates.bulkBytes
	}
	if s.plan.StoreBytes == 0 {
		s.plan.StoreBytes = m.rates.storeBytes
	}
	for i := range s.sms {
		s.sms[i] = sm{index: i, stored: math.Inf(-1), l1: map[uint64]float64{}, maps: map[int32]bool{}, params: map[int]float64{}}
	}
	for range max(1, p.Resident) {
		s.start(0)
	}
	s.loop()
	cores := len(s.sms) * subCores
	for i := range s.sms {
		for j := range s.sms[i].cores {
			s.drain(&s.sms[i].cores[j])
		}
	}
	for u := range s.busy {
		s.busy[u] /= float64(cores)
	}
	return Result{Cycles: s.end, Spent: s.spent, Warps: s.warps, NotSelected: s.notSelected, Busy: s.busy, Ops: s.ops, Cores: cores, SharedBusy: s.sharedBusy / float64(len(s.sms)), GlobalBusy: max(s.globalBusy, s.storeBusy) / float64(len(s.sms))}
}

// drain books the time from the last operation of a sub-core to the end of the launch: it is idle while other warps run, and
// then the last stores are on their way.
func (s *sim) drain(c *core) {
	if idle := s.ended - c.free; idle > 0 {
		s.spent[Spender{-1, Idle}] += idle
	}
	if stores := s.end - max(c.free, s.ended); stores > 0 {
		s.spent[Spender{-1, MemoryWait}] += stores
	}
}

// start places the next cluster of the queue on the SMs.
func (s *sim) start(at float64) {
	if len(s.queue) == 0 {
		return
	}
	t := s.run.Clusters[s.queue[0]]
	s.queue = s.queue[1:]
	if s.begun > 0 {
		at = max(at, s.started+s.rates.blockInterval)
	}
	s.started = at
	g := &group{trace: t, phases: make([]phaseState, len(t.Phases)), from: at, number: s.begun}
	s.begun++
	for i := range t.Phases {
		g.phases[i].need = t.Phases[i].Need
	}
	if g.number >= max(1, s.plan.Resident) {
		at += s.rates.blockStart
	} else {
		// The first blocks start as a part of the launch, but the first instruction needs the
		// parameters of the launch.
		at += s.rates.param
		for b := range t.Blocks {
			s.sms[b].params[0] = at
		}
	}
	if len(t.Blocks) > 1 {
		at += s.rates.clusterStart
	}
	for b := range t.Blocks {
		m := &s.sms[b]
		for n, path := range t.Blocks[b].Warps {
			c := &m.cores[m.placed%subCores]
			m.placed++
			w := &warp{
				g: g, sm: m, core: c, block: b, num: n, path: path, at: at, since: at, reason: Start,
				ready: make([]float64, s.code.regs), why: make([]Reason, s.code.regs), seen: map[int32]int32{},
			}
			g.left++
			c.warps = append(c.warps, w)
			c.stale = true
			s.advance(w)
		}
	}
}

// loop issues operations in the order of time until all warps have ended.
func (s *sim) loop() {
	for {
		var best *core
		for i := range s.sms {
			for j := range s.sms[i].cores {
				c := &s.sms[i].cores[j]
				if c.stale {
					s.choose(c)
				}
				if c.best != nil && (best == nil || c.at < best.at) {
					best = c
				}
			}
		}
		if best == nil {
			return
		}
		if at := s.earliest(best, best.best); at > best.at {
			best.stale = true
			continue
		}
		s.issue(best, best.best)
	}
}

// choose finds the warp of a sub-core that issues next: the warp that issued last, if it can issue
// again, or else the youngest warp that can.
func (s *sim) choose(c *core) {
	c.stale, c.best, c.at = false, nil, math.Inf(1)
	for _, w := range c.warps {
		if w.blocked || w.done {
			continue
		}
		at := s.earliest(c, w)
		if at < c.at || at == c.at && s.before(c, w, at) {
			c.best, c.at = w, at
		}
	}
}

// before reports whether a warp issues before the best one so far, if both can at the same time.
func (s *sim) before(c *core, w *warp, at float64) bool {
	if w.queued(c, at) && c.best.queued(c, at) {
		return w.at < c.best.at
	}
	return w == c.last || c.best != c.last
}

// queued reports whether a warp that can issue at a time has been waiting for its pipe until then.
func (w *warp) queued(c *core, at float64) bool {
	return w.at < at && c.pipes[pipeOf[w.op.cost.unit]] >= at && pipeOf[w.op.cost.unit] != noPipe
}

// earliest returns when a warp can issue its next operation.
func (s *sim) earliest(c *core, w *warp) float64 {
	at := max(c.free, w.at)
	if w.event.Off {
		return at
	}
	p := pipeOf[w.op.cost.unit]
	at = max(at, c.pipes[p], c.ports-portSlack)
	if p == memoryPipe && w.op.cost.kind != barriers {
		// A few memory operations per sub-core wait in a queue; then the sub-core cannot issue more.
		at = max(at, w.sm.shared-s.rates.memoryQueue*subCores*s.waves(w))
	}
	return at
}

// waves returns the cycles for which the warp's next operation occupies shared memory, at least
// those of one request.
func (s *sim) waves(w *warp) float64 {
	if w.event.Fact < 0 {
		return s.rates.memorySM
	}
	waves := max(w.g.trace.Facts[w.event.Fact].Wavefronts, w.op.joined)
	return max(s.rates.memorySM, float64(waves)*s.rates.wavefront)
}
