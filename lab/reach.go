package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// reach looks for shapes that make a kernel execute code that no shape has reached so far. It
// looks at the comparisons of integers that have had one outcome only. How far a comparison is
// from its other outcome depends on the shape; reach changes one extent at a time, extrapolates
// to the shape at which the distance is zero, and runs that shape. A kernel with a condition such
// as S > 1000 is thus led to S = 1001.
type reach struct {
	m      *measurement
	tried  []trial
	probes int             // runs that are left
	found  []problem.Shape // the shapes that reached something new
}

// trial is a shape that has run.
type trial struct {
	shape        problem.Shape
	near         map[int]uint64 // by comparison: the distance to its other outcome
	instructions float64        // the instructions that warps executed
}

// The limits of the search by depth: the number of runs, and the instructions of warps of one
// run. They are instructions and not seconds, so that every machine finds the same shapes. The
// emulator executes a few million instructions of warps per second.
var (
	mostProbes       = []int{0, 64, 64, 128}
	mostInstructions = []float64{0, 4e6, 16e6, 64e6}
)

// mostFound is the number of shapes that the search may add.
const mostFound = 6

// search runs shapes until every comparison has had both outcomes, or the limits are reached. It
// returns the shapes that the checkers should see too.
func (x *reach) search(ctx context.Context) ([]problem.Shape, error) {
	x.probes = mostProbes[x.m.p.Depth]
	if len(x.m.s.Structure) > 0 { // the shapes that follow from the structure run nearly all code
		x.probes /= 4
	}
	for _, id := range x.m.cover.Open() {
		if err := x.chase(ctx, id); err != nil {
			return nil, err
		}
	}
	return x.found, nil
}

// chase looks for a shape that gives one comparison its other outcome. If the kernel supports no
// shape that brings the outcome nearer, the comparison is excluded.
func (x *reach) chase(ctx context.Context, id int) error {
	const most = 6 // steps; a comparison that depends linearly on an extent needs one or two
	useful := changes
	for range most {
		from := x.nearest(id)
		if from == nil || !slices.Contains(x.m.cover.Open(), id) {
			return nil
		}
		list, complete, err := x.around(ctx, id, *from, useful)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			if complete {
				x.m.cover.Exclude(id)
			}
			return nil
		}
		useful = nil
		least := math.Inf(1)
		var to problem.Shape
		for _, c := range list {
			useful = append(useful, c.change)
			if n := x.cost(c.far, from); n < least {
				to, least = c.far, n
			}
		}
		if x.tooLarge(to, from) {
			return x.goBeyond(ctx, id, *from, to, list)
		}
		if _, err := x.probe(ctx, to, from); err != nil {
			return err
		}
		if after := x.nearest(id); after.near[id] >= from.near[id] {
			return nil
		}
	}
	return nil
}

// nearest returns the shape that came closest to the other outcome of a comparison, or nil if the
// comparison never ran. Of equally close shapes it returns the first, so that comparisons share
// the runs around it.
func (x *reach) nearest(id int) (best *trial) {
	for i := range x.tried {
		t := &x.tried[i]
		if d, ok := t.near[id]; ok && (best == nil || d < best.near[id]) {
			best = t
		}
	}
	return best
}

// changes are what the search does to a shape, n times.
var changes = []func(s *problem.Shape, n int){
	func(s *problem.Shape, n int) { s.Skv += n },
	func(s *problem.Shape, n int) { s.Sq, s.Skv = s.Sq+n, s.Skv+n },
	func(s *problem.Shape, n int) { s.Sq += n },
	func(s *problem.Shape, n int) { s.B += n },
	func(s *problem.Shape, n int) { s.Hq, s.Hkv = s.Hq+n*(s.Hq/s.Hkv), s.Hkv+n },
	func(s *problem.Shape, n int) { s.Hq += n * s.Hkv },
	func(s *problem.Shape, n int) { s.Skv += 64 * n }, // some conditions count tiles
	func(s *problem.Shape, n int) { s.Sq, s.Skv = s.Sq+64*n, s.Skv+64*n },
	func(s *problem.Shape, n int) { *s = s.WithHeadDim(problem.HeadDim{D: s.D + n, DV: s.DV}) },
	func(s *problem.Shape, n int) { *s = s.WithHeadDim(problem.HeadDim{D: s.D - n, DV: s.DV}) },
	func(s *problem.Shape, n int) { *s = s.WithHeadDim(problem.HeadDim{D: s.D, DV: s.DimV() + n}) },
	func(s *problem.Shape, n int) { *s = s.WithHeadDim(problem.HeadDim{D: s.D, DV: s.DimV() - n}) },
	func(s *problem.Shape, n int) { s.Skv -= n },
	func(s *problem.Shape, n int) { s.Sq, s.Skv = s.Sq-n, s.Skv-n },
	func(s *problem.Shape, n int) { s.Sq -= n },
}

// candidate is a change that brings an outcome nearer, and the shape to which it leads.
type candidate struct {
	change func(s *problem.Shape, n int)
	step   int // the number of changes to the next supported shape
	far    problem.Shape
}

// around tries changes of a shape and returns those that bring the other outcome of a comparison
// nearer, with the shape at which a linear extrapolation expects the outcome, or the last supported
// shape before it. complete is false if a limit did not let it try all changes.
func (x *reach) around(ctx context.Context, id int, from trial, changes []func(*problem.Shape, int)) (list []candidate, complete bool, err error) {
	complete = true
	for _, change := range changes {
		step, beside, err := x.beside(ctx, from, change)
		if err != nil {
			return nil, false, err
		}
		if beside == nil {
			complete = complete && step == 0
			continue
		}
		d, ran := beside.near[id]
		if !ran || d >= from.near[id] {
			continue
		}
		perStep := float64(from.near[id] - d)
		n := int(min(math.Ceil(float64(from.near[id])/perStep), 1<<24))
		at := func(n int) problem.Shape {
			far := from.shape
			change(&far, n*step)
			return far
		}
		fewer := sort.Search(n-1, func(fewer int) bool { return x.serves(at(n - fewer)) })
		list = append(list, candidate{change, step, at(n - fewer)})
	}
	return list, complete, nil
}

// beside runs the nearest supported shape in the direction of a change: some kernels support only
// whole tiles. step is 0 if there is none, and the result is nil if the limits are reached.
func (x *reach) beside(ctx context.Context, from trial, change func(*problem.Shape, int)) (step int, t *trial, err error) {
	for _, step = range []int{1, 16, 32, 64, 128} {
		s := from.shape
		if change(&s, step); x.serves(s) {
			t, err = x.probe(ctx, s, &from)
			return step, t, err
		}
	}
	return 0, nil, nil
}

func (x *reach) serves(s problem.Shape) bool {
	if min(s.B, s.Hq, s.Hkv, s.Sq, s.Skv, s.D, s.DimV()) < 1 || x.m.s.fewerQueries() && s.Sq > s.Skv {
		return false
	}
	return x.m.s.ServesShape(s) == nil
}

// cost estimates the instructions of a shape from those of another shape.
func (x *reach) cost(s problem.Shape, from *trial) float64 {
	return from.instructions * (1 + s.FLOP()) / (1 + from.shape.FLOP())
}

// tooLarge reports whether the emulator would take too long for a shape.
func (x *reach) tooLarge(s problem.Shape, from *trial) bool {
	return x.cost(s, from) > mostInstructions[x.m.p.Depth]
}

// goBeyond records a comparison whose other outcome is expected at a shape that is too large. The
// distance must fall by the same amount twice: one that depends on values falls by chance.
func (x *reach) goBeyond(ctx context.Context, id int, from trial, to problem.Shape, list []candidate) error {
	for _, c := range list {
		if c.far != to {
			continue
		}
		var near [3]uint64
		near[0] = from.near[id]
		for i := range 2 {
			s := from.shape
			c.change(&s, (i+1)*c.step)
			t, err := x.probe(ctx, s, &from)
			if err != nil || t == nil {
				return err
			}
			near[i+1] = t.near[id]
		}
		if near[0]-near[1] == near[1]-near[2] && near[1] < near[0] {
			x.m.r.Defects.Beyond = append(x.m.r.Defects.Beyond, record.Beyond{Line: x.m.cover.Line(id), Shape: to})
		}
		return nil
	}
	return nil
}

// probe runs a shape once without checkers, unless it has run. It returns nil if the limits are
// reached.
func (x *reach) probe(ctx context.Context, s problem.Shape, from *trial) (*trial, error) {
	if i := slices.IndexFunc(x.tried, func(t trial) bool { return t.shape == s }); i >= 0 {
		return &x.tried[i], nil
	}
	if x.probes == 0 || x.tooLarge(s, from) {
		return nil, nil
	}
	x.probes--
	x.m.meter.at("defects", fmt.Sprintf("%v, looking for code that has not run", s))
	before := x.m.cover.Facts()
	in, err := newInputs(x.m.s, x.m.resolved(Case{Shape: s, Seed: 1, Distribution: "normal"}))
	if err != nil {
		return nil, err
	}
	x.m.cover.Forget()
	n, err := x.m.runBare(ctx, in)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if (err != nil || x.m.cover.Facts() > before) && len(x.found) < mostFound {
		x.found = append(x.found, s) // a launch that fails is for the checkers to explain
	}
	x.tried = append(x.tried, trial{s, x.m.cover.Near(), n})
	return &x.tried[len(x.tried)-1], nil
}

// runBare runs the kernel without checkers and returns the number of instructions of its warps.
func (m *measurement) runBare(ctx context.Context, in *inputs) (instructions float64, err error) {
	dev, err := emulator(m.emulated(), emu.Options{Observer: m.cover, KeepGoing: true, MaxInstructions: cmp.Or(m.limit, mostWatched), Output: io.Discard})
	if err != nil {
		return 0, err
	}
	defer dev.Close()
	l, err := load(dev, m.s, fewSMs, m.p.Seed)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	b, err := l.set(in)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(b.write(in), b.spoil()); err != nil {
		return 0, err
	}
	n, err := b.work.RunCounted(ctx)
	return float64(n.WarpInstructions), err
}
