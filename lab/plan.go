package lab

import (
	"context"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// Plan is what is measured of a subject, and where. Quick and Full make plans; fields
// may be changed before Measure.
type Plan struct {
	// Device is where cases are run and times are taken; nil is an emulator of the
	// subject's target. Checkers and counters are always the emulator's.
	Device device.Device
	Sensor device.Sensor // read around timed batches, if there is one

	Targets []ptx.Target    // that resources are found for
	Budget  *record.Budget  // what the kernel may take; nil is gate.BudgetFor
	Ask     resources.Asked // who is asked for resources

	Defects Defects
	Cases   []Case
	// Rows is how many rows of an output are compared where it has more; 0 is all.
	Rows int
	// Times is what is timed, if Device is a GPU; nothing when nil.
	Times *Times
	// Baseline is what the subject has to beat; nil for the first of a ladder.
	Baseline *Subject
	// Counters is the shape that counters are taken on; none when zero.
	Counters problem.Shape

	// Build is copied into the record, which adds device, time and versions.
	Build record.Build
	// KeepGoing measures what comes after a red section too.
	KeepGoing bool
	// References keeps what was computed for one subject for the next. Nil keeps
	// nothing.
	References *References
}

// Defects is what the checkers watch.
type Defects struct {
	Shapes    []problem.Shape
	Schedules []uint64
}

// Case is inputs that a subject is run on. A shape whose D is zero gets the subject's;
// one that the subject does not serve is lengthened to one that it does, and the
// record says so.
type Case struct {
	Shape        problem.Shape
	Name         string
	Seed         uint64
	Distribution string
	// Optional is a case that is run where the subject serves its shape, and forgotten
	// where it does not.
	Optional bool

	reversed bool // the rows of each head of Q are in reverse: other inputs, the same scales
}

// Times is what is timed.
type Times struct {
	Shapes  []problem.Named
	Methods []timing.Method // Mode and Cache count
	Rivals  []RivalChoice
	// Libraries are what rivals were started for other subjects; without it they are
	// started for this one alone.
	Libraries *Libraries
	Stop      timing.Stop
	WarmUp    time.Duration
	Seed      uint64
	// Elsewhere has another process measure the same and gives what it measured: the
	// process is the replicate. It is called for processes 1 to Processes-1; without
	// it there is one process, and comparisons say so.
	Elsewhere func(ctx context.Context, process int) (*record.Performance, error)
	Processes int
}

// RivalChoice is a library to compare with.
type RivalChoice struct {
	Library        string // of rival.Libraries
	Implementation string // "" is the library's first
	DType          string // "" is the subject's format if the library has it, else f16
}

// length is a square shape whose D is the subject's.
func length(b, h, s int) problem.Shape { return problem.Square(b, h, s, 0) }

// Quick is the plan for a machine without a GPU: small shapes that still tell right
// from wrong.
func Quick() Plan {
	return Plan{
		Targets: []ptx.Target{ptx.SM89, ptx.SM90}, Ask: resources.OnPath(),
		Defects: Defects{Shapes: []problem.Shape{length(1, 1, 32), length(1, 2, 97)}, Schedules: []uint64{0, 1, 2}},
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
			{Shape: length(1, 2, 17), Seed: 2, Distribution: "rising"},
			{Shape: length(2, 8, 256), Name: "mission256", Seed: 2, Distribution: "normal"},
			{Shape: length(1, 8, 512), Name: "mission", Seed: 0, Distribution: "normal"},
			{Shape: length(1, 1, 607), Seed: 1, Distribution: "normal"}, // many tiles, and a partial one
		},
		Rows: 4096, Counters: length(1, 2, 128),
	}
}

// edges are lengths at the ends of tiles and beside them.
var edges = []int{1, 17, 31, 33, 63, 65, 100, 127, 129, 1000}

// uneven are shapes whose keys are others in number than the queries, and shared by
// several heads.
var uneven = []problem.Shape{
	{B: 2, Hq: 8, Hkv: 2, Sq: 97, Skv: 97}, {B: 1, Hq: 4, Hkv: 1, Sq: 1, Skv: 300}, {B: 2, Hq: 6, Hkv: 3, Sq: 65, Skv: 200}, {B: 1, Hq: 2, Hkv: 2, Sq: 192, Skv: 64},
}

// Full is the plan for a GPU: all named shapes of the ladder, all edges, seeds and
// distributions.
func Full() Plan {
	p := Quick()
	p.Defects = Defects{
		Shapes:    []problem.Shape{length(1, 1, 32), length(1, 2, 1), length(1, 2, 64), length(2, 2, 97), length(1, 2, 200)},
		Schedules: []uint64{0, 1, 2, 3},
	}
	p.Cases = nil
	named := []problem.Named{{Name: "small", Shape: length(1, 1, 32)}, {Name: "mission", Shape: length(1, 8, 512)}, {Name: "mission256", Shape: length(2, 8, 256)}, {Name: "long", Shape: length(1, 8, 2048)}}
	for _, s := range edges {
		named = append(named, problem.Named{Shape: length(2, 3, s)})
	}
	for _, n := range named {
		for seed := range uint64(3) { // one after the other, in the same buffers
			p.Cases = append(p.Cases, Case{Shape: n.Shape, Name: n.Name, Seed: seed, Distribution: "normal"})
		}
	}
	for _, s := range uneven {
		p.Cases = append(p.Cases, Case{Shape: s, Seed: 1, Distribution: "normal", Optional: true})
	}
	for _, d := range ref.Distributions() {
		if d.Name != "normal" {
			p.Cases = append(p.Cases, Case{Shape: length(2, 3, 200), Seed: 1, Distribution: d.Name})
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
