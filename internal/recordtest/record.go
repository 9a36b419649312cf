package recordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// GPU is the name of the synthetic GPU.
const GPU = "synthetic GPU"

// Start is the time of the first record.
var Start = time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func kernel(name string) record.Kernel {
	return record.Kernel{
		Name: name, Entry: "attention", SHA256: hash("the PTX of " + name), Target: "sm_89", Format: "e4m3", Output: "f16",
		Config:  map[string]string{"TileM": "32", "TileN": "32", "Stages": "2"},
		Problem: record.Problem{Attention: problem.Attention{Format: problem.E4M3}.Filled()},
	}
}

// New returns the record of a kernel on the emulator, without any measurement.
func New(name string) *record.Record {
	return &record.Record{
		Schema: record.Schema, Kernel: kernel(name),
		Build: record.Build{
			Time: Start, Attest: "v0.0.0-synthetic", Go: "go1.26", OS: "linux/amd64",
			Git:     record.Git{Commit: hash("commit")[:40], Branch: "main"},
			Device:  device.Info{Name: "emulated sm_89", Driver: "emu", Target: ptx.SM89},
			Command: []string{"attest", "gate", name},
		},
	}
}

// OnGPU moves a record to the synthetic GPU.
func OnGPU(r *record.Record) {
	r.Build.Device = device.Info{
		Name: GPU, Driver: "cuda", Target: ptx.SM90, SMs: 100, SharedMax: 227 << 10, Memory: 96 << 30,
		L2: 48 << 20, Clock: 1800, UUID: "GPU-00000000-0000-0000-0000-000000000000",
	}
	r.Build.Driver, r.Build.Ptxas = "999.99", "13.0.48"
}

// Resources sets the registers per thread, the bytes of shared memory per block and the bytes
// of spills of a record.
func Resources(r *record.Record, registers, shared, spills int) {
	f := func(n int) resources.Figure { return resources.Figure{Value: n, Source: resources.Ptxas} }
	r.Resources = &record.Resources{
		Usage: []resources.Usage{{
			Kernel: r.Kernel.Entry, Target: r.Kernel.Target, Registers: f(registers),
			SpillStores: f(spills), SpillLoads: f(spills), Stack: f(spills), Shared: f(0), Constant: f(404), Barriers: f(1),
		}},
		Dynamic:   shared,
		Occupancy: &device.Occupancy{BlocksPerSM: 3, Warps: 12, Fraction: 12.0 / 64},
		Budget:    record.Budget{Registers: 128, Shared: 64 << 10},
	}
}

// Clean sets the result of checkers that found nothing.
func Clean(r *record.Record) {
	r.Defects = &record.Defects{Schedules: []uint64{0, 1, 2, 3}, Shapes: []problem.Shape{problem.Square(1, 1, 32, 64), problem.Square(2, 2, 33, 64)}, Found: []record.Found{}}
}

// Racy sets the result of checkers that found a race.
func Racy(r *record.Record) {
	Clean(r)
	r.Defects.Errors, r.Defects.Depends = 1, true
	r.Defects.Found = []record.Found{{Shape: problem.Square(1, 1, 32, 64), Finding: finding.Finding{
		Kind: "shared-race", Severity: finding.Error, Message: "read of kv is not ordered after the asynchronous write at line 412",
		Place: finding.Place{Pos: ptx.Pos{Line: 530}, Source: "load.go:71:12", Warp: 1, Lanes: 1<<32 - 1},
		Other: &finding.Place{Pos: ptx.Pos{Line: 412}}, Count: 128,
	}}}
}

var tolerance = record.Tolerance{Max: 0.06, Mean: 0.02, BadAbove: 0.06, BadShare: 0.01, Relative: 2}

// Correct adds a case whose largest error is worst.
func Correct(r *record.Record, shape problem.Shape, worst float64) *record.Case {
	if r.Correctness == nil {
		r.Correctness = &record.Correctness{Tolerance: tolerance}
	}
	cases := &r.Correctness.Cases
	seed := uint64(len(*cases))
	*cases = append(*cases, record.Case{
		Shape: shape, Seed: seed, Distribution: "normal", Device: r.Build.Device.Name,
		Errors: errorsOf(shape, worst, seed), Plain: errorsOf(shape, worst*0.9, seed+100),
		InputsKept: true, Repeatable: true, OutputsHash: hash(r.Kernel.Name + shape.String()),
		Powers: []record.Power{{Name: "zeros", Caught: true}, {Name: "mean-of-v", Caught: true}, {Name: "swapped-heads", Caught: true}},
	})
	return &(*cases)[len(*cases)-1]
}

// Wrong adds a case whose last tile of rows is wrong in half of the heads.
func Wrong(r *record.Record, s problem.Shape) *record.Case {
	c := Correct(r, s, 0.02)
	tiles := (s.Sq + 31) / 32
	for h := range s.Hq {
		for t := range tiles {
			tile := record.Tile{Head: h, RowTile: t, KVTile: -1, Max: 0.01 + 0.01*float64((h*7+t*3)%4)}
			if t == tiles-1 && h%2 == 1 {
				tile.Max, tile.Bad, tile.KVTile = 1.9+0.2*float64(h), 1400, tiles-1
			}
			c.Map = append(c.Map, tile)
			c.Errors.Max, c.Errors.Bad = max(c.Errors.Max, tile.Max), c.Errors.Bad+tile.Bad
		}
	}
	c.Errors.BadShare = float64(c.Errors.Bad) / float64(c.Errors.Elements)
	c.Cause = "only the last tile of rows is wrong: a mask or a wait at the end of the loop"
	return c
}

func errorsOf(s problem.Shape, worst float64, seed uint64) *ref.Errors {
	rnd := rand.New(rand.NewPCG(seed, 1))
	part := func(first, n int) ref.Part {
		m := worst * (0.4 + 0.6*rnd.Float64())
		return ref.Part{First: first, Elements: n, Max: m, Mean: m / 9}
	}
	e := &ref.Errors{
		Elements: s.O().Len(), Max: worst, Mean: worst / 9, RMSE: worst / 7, Tol: tolerance.BadAbove,
		Worst: ref.Element{H: s.Hq - 1, S: s.Sq / 2, D: 3, Want: 0.25, Got: ref.Float(0.25 + worst)},
	}
	for h := range s.Hq {
		e.ByHead = append(e.ByHead, part(h, s.B*s.Sq*s.DimV()))
	}
	for row := 0; row < s.Sq; row += 32 {
		e.ByRowTile = append(e.ByRowTile, part(row, s.B*s.Hq*32*s.DimV()))
	}
	return e
}

// processes is the number of processes that measured.
const processes = 5

// ceilings are those of the synthetic GPU.
var ceilings = record.Ceiling{Bandwidth: 3000, FLOPs: 800, Launch: 1.5}

// Skipped sets a performance section that was not measured.
func Skipped(r *record.Record) {
	r.Performance = &record.Performance{Skipped: "no GPU (the emulator does not measure time)"}
}

// Timed adds times of the kernel, of its baseline if it has one, and of rivals, given by their
// medians. The samples have the tail of real launches.
func Timed(r *record.Record, s problem.Shape, m timing.Method, micros, baseline float64, rivals map[string]float64) {
	if r.Performance == nil {
		r.Performance = &record.Performance{Ceiling: ceilings, Processes: processes}
	}
	t := record.Times{
		Shape: s, Method: m, OutputsOK: true,
		Floor: max(ceilings.Launch, s.FLOP()/ceilings.FLOPs/1e6, float64(5*s.B*s.Hq*s.Sq*s.D)/ceilings.Bandwidth/1e3),
	}
	medians := []float64{micros}
	t.Names = []string{r.Kernel.Name}
	if r.Baseline != nil {
		t.Names, medians = append(t.Names, r.Baseline.Name), append(medians, baseline)
	}
	for _, name := range []string{"torch flash f16", "triton e4m3"} {
		if median, ok := rivals[name]; ok {
			t.Names, medians = append(t.Names, name), append(medians, median)
		}
	}
	for process := range processes {
		t.Runs = append(t.Runs, run(t.Names, medians, m, uint64(process)+seedOf(r)))
	}
	summarise(r, &t)
	r.Performance.Shapes = append(r.Performance.Shapes, t)
}

func summarise(r *record.Record, t *record.Times) {
	for i := range t.Names {
		var all []float64
		for j := range t.Runs {
			all = append(all, t.Runs[j].Times(i)...)
		}
		t.Summaries = append(t.Summaries, stats.Summarise(all))
		t.TFLOPs = append(t.TFLOPs, ref.Float(t.Shape.FLOP()/t.Summaries[i].P50/1e6))
		if i == 0 {
			continue
		}
		var reps []stats.Replicate
		for j := range t.Runs {
			reps = append(reps, t.Runs[j].Replicate(i, 0))
		}
		c, _ := stats.Compare(reps, stats.Options{Resamples: 100})
		if i == 1 && r.Baseline != nil {
			t.Baseline = &c
		} else {
			t.Rivals = append(t.Rivals, record.Rival{Name: t.Names[i], Version: "0.0", Comparison: c, RMSE: 0.002})
		}
	}
}

func run(names []string, medians []float64, m timing.Method, seed uint64) timing.Run {
	rnd := rand.New(rand.NewPCG(seed, 2))
	out := timing.Run{Order: timing.Random, Seed: seed, Ended: "precise"}
	for _, n := range names {
		out.Candidates = append(out.Candidates, timing.Subject{Name: n, Method: m})
	}
	luck := math.Exp(0.003 * rnd.NormFloat64())
	for batch := range 12 {
		for i, median := range medians {
			state := &device.State{SMClock: 1785 - 5*(batch%3), MemoryClock: 2600, Power: 410, Temperature: 51, Performance: "P0"}
			b := timing.Batch{Candidate: i, Start: Start, End: Start, Before: state, After: state}
			for range 5 {
				x := median * luck * (0.995 + 0.01*rnd.ExpFloat64())
				if rnd.IntN(40) == 0 {
					x *= 1.15
				}
				b.Micros = append(b.Micros, math.Round(x*1000)/1000)
			}
			out.Batches = append(out.Batches, b)
		}
	}
	return out
}

// seedOf returns a seed that differs between kernels and between dates.
func seedOf(r *record.Record) uint64 {
	return uint64(r.Build.Time.Unix()) + uint64(len(r.Kernel.Name))
}
