package lab

import (
	"context"
	"slices"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// Plan says what is measured about a subject, and where. Quick and Full return plans; a caller
// may change their fields before Measure.
type Plan struct {
	Name string // "smoke", "quick" or "full", for the record
	// Depth says which shapes are derived from the structure of the kernel. They are added to
	// the shapes of Defects and to Cases, unless these are empty.
	Depth Depth
	// Seed makes unpredictable what a kernel must not know before: inputs of fresh cases and of
	// timed launches, derived shapes, bytes around buffers, numbers of SMs. Measure draws it if
	// it is 0, and records it.
	Seed uint64
	// Wanted are shapes that the user named. The checkers and the counters run them too, or
	// smaller ones if the emulator would take too long.
	Wanted []problem.Shape

	// Device runs the cases and is timed; nil is the emulator of the subject's target. Of an
	// emulator only the target is used. Checkers and counters always use the emulator.
	Device device.Device `json:"-"`
	Sensor device.Sensor `json:"-"` // read around timed batches, if there is one

	Targets []ptx.Target    // the targets whose resources are measured
	Budget  *record.Budget  // nil is [Subject.Budget]
	Ask     resources.Asked `json:"-"` // the sources of resources
	// Criteria are recorded before anything is measured; nil selects the defaults.
	Criteria *record.Criteria
	// Tolerance is what errors may be; nil is gate.Tolerance, and a looser one is refused by
	// the gate.
	Tolerance *record.Tolerance

	Defects Defects
	Cases   []Case
	// Rows is the largest number of rows of an output that are compared; 0 compares all.
	Rows int
	// Times says what is timed if Device is a GPU; nil times nothing.
	Times *Times
	// Baseline is the kernel that the subject must beat; nil for the first of a ladder.
	Baseline *Subject `json:"-"`
	// Counters is the shape for counters; the zero shape counts nothing.
	Counters problem.Shape `json:",omitzero"`
	// Predict is the shape for which the times of the kernel and its baseline are predicted if
	// nothing can be timed; the zero shape predicts nothing.
	Predict problem.Shape `json:",omitzero"`

	// Before is a record of the same kernel and plan from this process. Measure copies its sections and
	// measures only the performance. nil measures all sections.
	Before *record.Record `json:"-"`
	// Build is copied into the record. Measure adds the device, the time and versions.
	Build record.Build
	// KeepGoing measures the sections after a red one too.
	KeepGoing bool
	// References keeps references for the next subjects; nil keeps none.
	References *References `json:"-"`
}

// Defects says what runs under the checkers.
type Defects struct {
	Shapes    []problem.Shape
	Schedules []uint64
	// PerShape is the number of schedules of each shape: the first one, and the others in
	// turn. 0 runs all schedules of all shapes.
	PerShape int
	// Own gives the shapes the arguments that the subject was given, see [Subject.Give], instead of
	// drawn ones.
	Own bool
}

// schedules are orders of warps that differ as much as possible: natural, permuted, with the
// producers ahead, reversed, with the consumers ahead, with the first or the last warp behind all
// others, with the first or the last warp ahead, and alternating often. In kernels with specialised
// warps, the first warp is usually a producer and the last a consumer.
var schedules = []uint64{0, 1, emu.Producers, emu.Reversed, emu.Consumers, emu.Starved(0), emu.Starved(-1), emu.Ahead(0), emu.Ahead(-1), emu.Fine}

// of returns the schedules of the i-th shape.
func (d Defects) of(i int) []uint64 {
	n := len(d.Schedules)
	if d.PerShape == 0 || d.PerShape >= n {
		return d.Schedules
	}
	list := []uint64{d.Schedules[0]}
	for j := range d.PerShape - 1 {
		list = append(list, d.Schedules[1+(i*(d.PerShape-1)+j)%(n-1)])
	}
	return list
}

// Case describes inputs of a subject. A shape with D = 0 gets the D of the subject. A shape that
// the subject does not support is replaced by a longer one that it supports, and the record
// lists the refusal.
type Case struct {
	Shape        problem.Shape
	Name         string
	Seed         uint64
	Distribution string
	// Optional skips the case, without a refusal, if the subject does not support its shape.
	Optional bool
	// Fresh adds the seed of the plan to the seed of the case, so that nobody knows its inputs
	// before.
	Fresh bool
	// Scaled gives the softmax a random scale instead of 1/√D. The case is skipped if the
	// subject does not support that.
	Scaled bool
	// Own gives the case the arguments that the subject was given, see [Subject.Give], instead of
	// drawn ones.
	Own bool

	// Whole gives the case full sequences only, if the kernel reads their lengths from memory. The
	// other cases have at most one full sequence, unless chance or the kernel's limits decide otherwise.
	Whole bool

	watched bool // whether the checkers watch it
	vary    variation
}

// Times says what is timed, and how.
type Times struct {
	Shapes  []problem.Named
	Methods []timing.Method // only Mode and Cache are used
	Rivals  []RivalChoice
	// Libraries are the rivals that other subjects have started; nil starts them for this
	// subject alone.
	Libraries *Libraries `json:"-"`
	Stop      timing.Stop
	WarmUp    time.Duration
	// Pairs is the number of pairs of rows and keys that are compared with the reference before a
	// shape is timed, so that long sequences do not take much longer than short ones. At least 64 rows
	// are compared. 0 compares 512 rows of every shape.
	Pairs int
	// Ceiling holds the ceilings of the device if this process has measured them; nil measures them.
	Ceiling *record.Ceiling `json:"-"`
	Energy  time.Duration   // how long each candidate runs alone to measure its energy; 0 measures none
	Seed    uint64          // the seed of the order and of the timed inputs; 0 is the seed of the plan
	// Elsewhere measures the same in another process, as one more replicate. It is called for
	// the processes 1 to Processes-1. nil measures in one process only, and comparisons say
	// so.
	Elsewhere func(ctx context.Context, process int) (*record.Performance, error) `json:"-"`
	Processes int
}

// RivalChoice is a library to compare with.
type RivalChoice struct {
	Library        string // one of rival.Libraries
	Implementation string // "" is the first one of the library
	DType          string // "" is the format of the subject if the library supports it, else f16
}

// Sized returns the plan with the head dimension of a subject in shapes that leave it open.
func (p Plan) Sized(s *Subject) Plan {
	heads := headDim(s)
	sized := func(s problem.Shape) problem.Shape {
		if s.D == 0 && s != (problem.Shape{}) {
			s = s.WithHeadDim(heads)
		}
		return s
	}
	p.Defects.Shapes = slices.Clone(p.Defects.Shapes)
	for i, s := range p.Defects.Shapes {
		p.Defects.Shapes[i] = sized(s)
	}
	p.Cases = slices.Clone(p.Cases)
	for i := range p.Cases {
		p.Cases[i].Shape = sized(p.Cases[i].Shape)
	}
	p.Counters, p.Predict = sized(p.Counters), sized(p.Predict)
	if p.Times != nil {
		times := *p.Times
		times.Shapes = slices.Clone(times.Shapes)
		for i := range times.Shapes {
			times.Shapes[i].Shape = sized(times.Shapes[i].Shape)
		}
		p.Times = &times
	}
	return p
}

// length returns a square shape that gets the D of the subject.
func length(b, h, s int) problem.Shape { return problem.Square(b, h, s, 0) }

// Quick returns the plan for a machine without a GPU: small shapes that still distinguish right
// kernels from wrong ones.
func Quick() Plan {
	return Plan{
		Name: "quick", Depth: RingsAndEdge,
		Targets: []ptx.Target{ptx.SM89, ptx.SM90}, Ask: resources.OnPath(),
		Defects: Defects{Shapes: []problem.Shape{length(1, 1, 32), length(1, 2, 97)}, Schedules: schedules, PerShape: 4},
		Cases: []Case{
			{Shape: length(1, 1, 32), Name: "small", Seed: 0, Distribution: "normal"},
			{Shape: length(1, 1, 1), Seed: 1, Distribution: "normal"},
			{Shape: length(2, 3, 33), Seed: 1, Distribution: "normal"},
			{Shape: length(2, 3, 33), Seed: 2, Distribution: "normal"}, // in the same buffers
			{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 33, Skv: 80}, Seed: 0, Distribution: "normal", Optional: true},
			{Shape: problem.Shape{B: 1, Hq: 4, Hkv: 2, Sq: 80, Skv: 33}, Seed: 0, Distribution: "normal", Optional: true},
			{Shape: length(2, 2, 100), Seed: 2, Distribution: "one-hot"},
			{Shape: length(1, 2, 129), Seed: 0, Distribution: "large-logits"},
			{Shape: length(1, 2, 65), Seed: 1, Distribution: "outliers"},
			{Shape: length(1, 2, 300), Seed: 2, Distribution: "rising"}, // several tiles, as in the next
			{Shape: length(1, 2, 400), Seed: 1, Distribution: "steps"},
			{Shape: length(1, 2, 200), Seed: 3, Distribution: "ties"}, // shows a maximum that misses columns
			{Shape: length(1, 2, 80), Seed: 2, Distribution: "negative"},
			{Shape: length(1, 2, 80), Seed: 3, Distribution: "sparse"},
			{Shape: length(1, 2, 200), Seed: 4, Distribution: "subnormal"},
			{Shape: length(1, 2, 200), Seed: 5, Distribution: "large-scales"},
			{Shape: length(1, 2, 72), Seed: 6, Distribution: gate.LargeV},
			{Shape: length(1, 2, 33), Seed: 6, Distribution: "small-v"},
			{Shape: length(1, 2, 200), Seed: 6, Distribution: gate.Sink},
			{Shape: length(1, 2, 200), Seed: 7, Distribution: gate.Flat},
			{Shape: length(1, 2, 200), Seed: 4, Distribution: gate.Biased},
			{Shape: length(1, 2, 33), Seed: 1, Distribution: "tiny"},
			{Shape: length(1, 2, 33), Seed: 1, Distribution: "zeros"},
			{Shape: length(2, 8, 256), Name: "mission256", Seed: 2, Distribution: "normal", Whole: true},
			{Shape: length(1, 8, 512), Name: "mission", Seed: 0, Distribution: "normal"},
			{Shape: length(1, 1, 607), Seed: 1, Distribution: "normal"}, // many tiles, and a partial one
			freshCases[0], freshCases[1], freshCases[2], freshCases[3], freshCases[4], freshCases[5], freshCases[6], freshCases[7],
		},
		Rows: 4096, Counters: length(1, 2, 128), Predict: length(1, 8, 512),
	}
}

// Smoke returns the shortest plan that still distinguishes right kernels from wrong ones.
func Smoke() Plan {
	p := Quick()
	p.Name, p.Depth = "smoke", RingsOnly
	p.Defects = Defects{Shapes: []problem.Shape{length(1, 2, 33)}, Schedules: schedules, PerShape: 2}
	p.Cases = []Case{
		{Shape: length(2, 3, 33), Seed: 1, Distribution: "normal"},
		{Shape: length(1, 2, 100), Seed: 2, Distribution: "one-hot"},
		freshCases[0], freshCases[1],
	}
	p.Counters, p.Predict = length(1, 1, 64), problem.Shape{}
	return p
}

// edges are lengths at and beside the ends of tiles.
var edges = []int{1, 17, 31, 33, 63, 65, 100, 127, 129, 1000}

// uneven are shapes with different numbers of queries and keys, or with heads that share
// keys.
var uneven = []problem.Shape{
	{B: 2, Hq: 8, Hkv: 2, Sq: 97, Skv: 97}, {B: 1, Hq: 4, Hkv: 1, Sq: 1, Skv: 300}, {B: 2, Hq: 6, Hkv: 3, Sq: 65, Skv: 200}, {B: 1, Hq: 2, Hkv: 2, Sq: 192, Skv: 64},
}

// Full returns the plan for a GPU: the named shapes up to long, all edges, several seeds and all
// distributions.
func Full() Plan {
	p := Quick()
	p.Name, p.Depth = "full", MoreEdges
	p.Defects = Defects{
		Shapes:    []problem.Shape{length(1, 1, 32), length(1, 2, 1), length(1, 2, 64), length(2, 2, 97), length(1, 2, 200)},
		Schedules: append(slices.Clone(schedules), 2, 3),
	}
	p.Cases = nil
	named := []problem.Named{{Name: "small", Shape: length(1, 1, 32)}, {Name: "mission", Shape: length(1, 8, 512)}, {Name: "mission256", Shape: length(2, 8, 256)}, {Name: "long", Shape: length(1, 8, 2048)}}
	for _, s := range edges {
		named = append(named, problem.Named{Shape: length(2, 3, s)})
	}
	for _, n := range named {
		for seed := range uint64(3) { // one after the other, in the same buffers
			p.Cases = append(p.Cases, Case{Shape: n.Shape, Name: n.Name, Seed: seed, Distribution: "normal", Whole: n.Name == "mission256" && seed == 2})
		}
	}
	p.Cases = append(p.Cases, freshCases...)
	for _, s := range uneven {
		p.Cases = append(p.Cases, Case{Shape: s, Seed: 1, Distribution: "normal", Optional: true})
	}
	for _, d := range ref.Distributions() {
		if d.Name != "normal" {
			p.Cases = append(p.Cases, Case{Shape: length(1, 3, 400), Seed: 1, Distribution: d.Name})
		}
	}
	p.Times = DefaultTimes()
	return p
}

// DefaultTimes times mission, mission256 and long by both methods, with warm and cold
// caches.
func DefaultTimes() *Times {
	t := &Times{Shapes: []problem.Named{{Name: "mission", Shape: length(1, 8, 512)}, {Name: "mission256", Shape: length(2, 8, 256)}, {Name: "long", Shape: length(1, 8, 2048)}}}
	for _, mode := range []timing.Mode{timing.Graph, timing.Event} {
		for _, cache := range []timing.Cache{timing.Warm, timing.Cold} {
			t.Methods = append(t.Methods, timing.Method{Mode: mode, Cache: cache})
		}
	}
	return t
}
