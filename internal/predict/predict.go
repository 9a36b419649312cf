package predict

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/occupancy"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Work is a launch to predict.
type Work struct {
	Trace     *warptrace.Launch
	Registers int   // per thread; 0 estimates them
	Bytes     int64 // bytes of the operands, which DRAM and the chip exchange
	// Workspaces are further memory: where each one begins and ends. What of it is used counts like operands.
	Workspaces [][2]uint64
	Watch      machine.Watcher
	Edit       *machine.Edit // the change that is made before the replay, or nil
	Cold       bool          // no cache holds anything at the start
	More       int           // further clusters per SM, as if the kernel used fewer resources
}

// Of predicts how long a launch takes on a chip.
func Of(w Work, chip chips.Chip) *Profile {
	p := w.at(chip, float64(chip.MHz))
	if mhz := clock(&chip, p); mhz < float64(chip.MHz) {
		w.Watch = nil
		p = w.at(chip, mhz)
	}
	return p
}

func (w *Work) at(chip chips.Chip, mhz float64) *Profile {
	l := w.Trace
	blocks := len(l.Clusters[0].Blocks)
	resident := w.Fit(chip).Blocks + w.More
	plan := placeAll(l, max(chip.SMs/blocks, 1), resident)
	plan.Watch = w.Watch
	w.shareMemory(&plan, chip, mhz)
	r := replay(machine.New(l, &chip, mhz, w.Edit), plan, weight(l.Clusters[0]))
	stretch(&r, chip.Get("residual_"+string(ClassOf(l))))

	dram := w.touched() / chip.Get("dram_gbps") / 1e3
	kernel := r.Cycles / mhz
	kernel = max(kernel, dram*plan.Misses)
	chip.MHz = int(mhz)
	p := &Profile{Chip: chip.String(), Blocks: l.Count * blocks, Waves: len(plan.Clusters), Clock: int(mhz)}
	p.Micros = kernel + chip.Get("launch_us")
	low, high := band(&chip, ClassOf(l))
	p.Low, p.High = p.Micros*low, p.Micros*high
	for u, cycles := range busyCycles(&r) {
		b := Busy{Unit(u), cycles / mhz}
		if Unit(u) == DRAM {
			b.Micros = dram
		}
		p.Units = append(p.Units, b)
		if b.Micros > p.Floor {
			p.Floor, p.Limit = b.Micros, b.Unit
		}
	}
	p.Warps = warpShares(&r)
	p.Notes = notes(l, p.Micros, mhz)
	p.divide(l, &r, kernel/max(r.Cycles*float64(r.Cores), 1e-12), chip.Get("launch_us"))
	p.finish()
	return p
}

// stretch multiplies the time in which neither the busiest unit nor memory sets the pace: what the
// replay does not know of machine code. The rates of units and the latencies of memory were measured,
// so the replay is right where they bind. A unit that is busy for a share of the time sets the pace for a smaller
// share: an operation that finds it free does not wait for it.
func stretch(r *machine.Result, residual float64) {
	memory := 0.0
	for _, at := range spenders(r.Spent) {
		if at.Why == machine.MemoryWait || at.Why == machine.Start {
			memory += r.Spent[at] / float64(r.Cores)
		}
	}
	active := r.Cycles - memory
	if active <= 0 {
		return
	}
	busiest := 0.0
	for u, busy := range busyCycles(r) {
		if Unit(u) != Global { // warps wait for it as a part of memory
			busiest = max(busiest, busy)
		}
	}
	share := min(busiest/active, 1)
	pace := share * share * share
	r.Stretch((memory + active*(pace+(1-pace)*residual)) / r.Cycles)
}

// mostEvents limits what is replayed, so that a prediction takes seconds.
const mostEvents = 3e6

// replay replays a plan. If the clusters of the plan are too many, it replays the first ones and
// assumes that the others take as long as the second half of them.
func replay(m *machine.Machine, p machine.Plan, weight float64) machine.Result {
	n := len(p.Clusters)
	few := max(int(mostEvents/max(weight, 1)), 2*p.Resident)
	if n <= few || n <= 4 {
		return m.Replay(p)
	}
	few = max(few, 4)
	half, whole := p, p
	half.Clusters, whole.Clusters = p.Clusters[:few/2], p.Clusters[:few]
	half.Watch = nil
	a, r := m.Replay(half), m.Replay(whole)
	total := r.Cycles + (r.Cycles-a.Cycles)*float64(n-few)/float64(few-few/2)
	r.Scale(total / r.Cycles)
	return r
}

// Fit returns how many blocks of the launch an SM of a chip holds at once, at least one, and what
// limits them.
func (w *Work) Fit(chip chips.Chip) occupancy.Fit {
	sm, ok := occupancy.Of(chip.Target)
	if !ok {
		return occupancy.Fit{Blocks: 1}
	}
	registers := w.Registers
	if f := entry(w.Trace); f != nil && registers == 0 {
		registers = verify.Pressure(f, verify.NewCFG(f)).Registers
	}
	fit := sm.Fit(occupancy.Block{Threads: w.Trace.Clusters[0].Blocks[0].Threads, Registers: registers, Shared: w.Trace.Shared})
	fit.Blocks = max(fit.Blocks, 1)
	return fit
}

// Runs refuses a launch whose blocks need more than an SM of a chip has.
func (w *Work) Runs(chip chips.Chip) error {
	sm, ok := occupancy.Of(chip.Target)
	if !ok {
		return nil
	}
	if most := sm.SharedMax; w.Trace.Shared > most {
		return fmt.Errorf("%s: a block needs %d bytes of shared memory, and %s has %d per block: choose another chip, or smaller tiles", w.Trace.Kernel, w.Trace.Shared, chip.Name, most)
	}
	return nil
}

// entry returns the function of the launched kernel.
func entry(l *warptrace.Launch) *ptx.Func {
	for i := range l.Program {
		if f := l.Program[i].Func; f != nil && f.Sym.Name == l.Kernel {
			return f
		}
	}
	return nil
}
