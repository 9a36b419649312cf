package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// Likeness is how a variant that passes the gates relates to the original.
type Likeness string

// The ways in which a variant relates to its original, on the cases of the jury. None is a
// proof: a variant with the same bits on these cases may differ on others.
const (
	SameBits   Likeness = "equivalent" // the same bits everywhere
	AsAccurate Likeness = "accurate"   // other bits, with errors of the same size
	Wrong      Likeness = "wrong"      // larger errors, a race or a failure
)

// Comparison is the result of a comparison of a variant with its original.
type Comparison struct {
	Likeness Likeness `json:"likeness"`
	Why      string   `json:"why,omitempty"` // the first difference that decides
	At       string   `json:"at,omitempty"`  // the inputs
}

// jury compares variants that the gates let pass with the original, on more sizes and inputs
// than the gates use.
type jury struct {
	cases  []juryCase
	raced  []problem.Shape // long shapes for the checkers
	limits []uint64        // the instruction limit of each shape in raced
	held   []juryCase      // see CompareHeld
	mu     sync.Mutex      // guards what follows and limits
	// unordered has the findings of the original if some lines order nothing: see WhyRedundant.
	unordered map[string][]racePair
}

// juryCase is a case with the output of the original.
type juryCase struct {
	Case
	once  sync.Once
	in    *inputs
	right outputs
	limit uint64
	err   error

	judged   sync.Once
	want     *ref.Result
	original *rowErrors
	judgeErr error
}

// newJury returns the cases for a kernel: lengths beside the ends of its tiles, more tiles
// than its ring has stages, several heads and batches, and all distributions.
func newJury(s *Subject) *jury {
	of := structureOf(s.Kernel)
	tq, tk, ring := of.tileQ, of.tileKV, of.ring
	j := &jury{unordered: map[string][]racePair{}}
	heads := headDim(s)
	seed := uint64(1000)
	add := func(shape problem.Shape, distributions ...string) {
		shape = shape.WithHeadDim(heads)
		if s.ServesShape(shape) != nil || s.fewerQueries() && shape.Sq > shape.Skv {
			return
		}
		for _, d := range distributions {
			seed++
			j.cases = append(j.cases, juryCase{Case: Case{Shape: shape, Seed: seed, Distribution: d}})
		}
	}
	var all []string
	for _, d := range ref.Distributions() {
		all = append(all, d.Name)
	}
	add(length(1, 2, tk+tk/2), all...)
	for _, n := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 33, tk - 1, tk, tk + 1, tk + 17, tq - 1, tq, tq + 1, 2*tk - 1, 2*tk + 1, 3 * tk} {
		add(length(1, 2, n), "normal")
	}
	add(length(3, 5, tq+3), "normal", "outliers")
	add(length(1, 2, tk+9), "one-hot")
	steep := variation{scale: math.Exp2(5) / math.Sqrt(float64(heads.D))}
	if s.varied(steep).ServesShape(length(1, 2, tk+9).WithHeadDim(heads)) == nil {
		j.cases[len(j.cases)-1].vary = steep // all weight is on one key
	}
	add(length(1, 1, 2*ring+tk+5), "normal", "rising")
	for _, p := range []problem.Shape{
		{B: 2, Hq: 4, Hkv: 2, Sq: tq + 1, Skv: tq + 1}, {B: 1, Hq: 6, Hkv: 2, Sq: 5, Skv: 2*tk + 3}, {B: 1, Hq: 2, Hkv: 2, Sq: 2*tq + 1, Skv: 2*tq + tk + 9},
		{B: 1, Hq: 1, Hkv: 1, Sq: tq, Skv: 4*ring + tk + 1}, {B: 2, Hq: 2, Hkv: 2, Sq: tq + 9, Skv: 3},
	} {
		add(p, "normal")
	}
	for _, options := range [][]problem.Shape{
		{{B: 1, Hq: 1, Hkv: 1, Sq: tq + 1, Skv: 4*ring + 5}, length(1, 1, 2*ring+tk+5)}, {length(2, 4, tk+1)}, {length(1, 1, 1)},
	} {
		if p, ok := firstServed(s, heads, options); ok {
			j.raced = append(j.raced, p)
		}
	}
	for _, p := range heldShapes(s, of, heads) {
		j.held = append(j.held, juryCase{Case: Case{Shape: p, Seed: 1, Distribution: "normal"}})
	}
	j.limits = make([]uint64, len(j.raced))
	return j
}

// firstServed returns the first shape that a kernel supports and in which every row sees a key.
func firstServed(s *Subject, heads problem.HeadDim, options []problem.Shape) (problem.Shape, bool) {
	for _, p := range options {
		if p = p.WithHeadDim(heads); s.ServesShape(p) == nil && (!s.fewerQueries() || p.Sq <= p.Skv) {
			return p, true
		}
	}
	return problem.Shape{}, false
}

// jurySchedules are the orders of warps in which the checkers watch long shapes. The checkers find
// accesses that nothing orders in whatever order the warps run, so a few orders are enough; if the
// synchronisation has changed, CompareHeld adds more.
var jurySchedules = []uint64{1, emu.Producers, emu.Consumers}

// CompareBits compares the outputs of a variant with the outputs of the original.
func (t *Trials) CompareBits(ctx context.Context, s *Subject) (c Comparison, err error) {
	defer device.CatchBug(&err)
	all := Comparison{Likeness: SameBits}
	for i := range t.jury.cases {
		c := &t.jury.cases[i]
		if err := c.prepare(ctx, t); err != nil {
			return all, err
		}
		at := fmt.Sprintf("%v, %s, seed %d", c.Shape, c.Distribution, c.Seed)
		out, failed, err := t.output(ctx, s, c.in, limited(4*c.limit))
		switch {
		case err != nil:
			return all, err
		case failed != nil:
			return Comparison{Wrong, failed.Error(), at}, nil
		case out.same(c.right):
			continue
		}
		why, err := c.judge(ctx, t.original, out)
		if err != nil {
			return all, err
		}
		if why != "" {
			return Comparison{Wrong, why, at}, nil
		}
		if all.Likeness == SameBits {
			all = Comparison{AsAccurate, "other bits, errors of the same size", at}
		}
	}
	return all, nil
}

// prepare computes the output of the original, once.
func (c *juryCase) prepare(ctx context.Context, t *Trials) error {
	c.once.Do(func() {
		if c.in, c.err = newInputs(t.original, c.Case); c.err != nil {
			return
		}
		for c.limit = smallLimit; ; c.limit *= 2 {
			var failed error
			c.right, failed, c.err = t.output(ctx, t.original, c.in, limited(c.limit))
			if c.err != nil || failed == nil {
				return
			}
			if !errors.Is(failed, device.ErrEndless) {
				c.err = fmt.Errorf("%s on %v: %w", t.original.Name, c.Shape, failed)
				return
			}
		}
	})
	return c.err
}

// limited returns the options of an emulator that ends a warp after a number of instructions.
func limited(n uint64) emu.Options { return emu.Options{MaxInstructions: n, Output: io.Discard} }

// output runs a kernel once. failed is the error of the launch.
func (t *Trials) output(ctx context.Context, s *Subject, in *inputs, o emu.Options) (out outputs, failed, err error) {
	dev, err := emulator(s.Target, o)
	if err != nil {
		return out, nil, err
	}
	l, err := load(dev, s, fewSMs, 1)
	if err != nil {
		return out, nil, err
	}
	defer l.close()
	b, err := l.set(in)
	if err != nil {
		return out, nil, err
	}
	defer b.free()
	if err := b.write(in); err != nil {
		return out, nil, err
	}
	out, failed = b.run(ctx)
	var bug *device.Bug
	switch {
	case ctx.Err() != nil:
		return out, nil, ctx.Err()
	case errors.As(failed, &bug):
		return out, nil, failed
	}
	return out, failed, nil
}

// rowErrors are the errors of an output against float64.
type rowErrors struct {
	mean, max       []float64 // over the elements of each row
	rms             float64
	meanAll, maxAll float64 // the means of mean and of max
	lse             float64 // the largest error of the log-sum-exp
}

// How much larger the errors of an accurate variant may be. Another rounding moves the errors
// of single rows a lot and their average a little.
const (
	moreRMS  = 1.1
	moreRow  = 3
	leastLSE = 1e-5
)

// judge returns why an output that differs from the original's is less accurate, or "".
func (c *juryCase) judge(ctx context.Context, s *Subject, out outputs) (string, error) {
	c.judged.Do(func() {
		// All rows are compared: a mutant may be wrong in a single one.
		if c.want, c.judgeErr = ref.Attention(ctx, c.in.q, c.in.k, c.in.v, c.in.options(s)); c.judgeErr == nil {
			c.original, c.judgeErr = c.errors(s, c.right)
		}
	})
	if c.judgeErr != nil {
		return "", c.judgeErr
	}
	have, err := c.errors(s, out)
	if err != nil {
		return "", err
	}
	was := c.original
	last := c.lastBit(s)
	if !(have.rms <= moreRMS*was.rms+last/4) {
		return fmt.Sprintf("the rms error is %.3g, that of the original %.3g", have.rms, was.rms), nil
	}
	for i, row := range c.want.Rows {
		if mean, most := have.mean[i], moreRow*max(was.mean[i], was.meanAll)+last; !(mean <= most) {
			return fmt.Sprintf("batch %d, head %d, row %d: the mean error is %.3g, that of the original %.3g", row.B, row.H, row.S, mean, was.mean[i]), nil
		}
		if x, most := have.max[i], moreRow*max(was.max[i], was.maxAll)+last; !(x <= most) {
			return fmt.Sprintf("batch %d, head %d, row %d: the largest error is %.3g, that of the original %.3g", row.B, row.H, row.S, x, was.max[i]), nil
		}
	}
	if !(have.lse <= 2*was.lse+leastLSE) {
		return fmt.Sprintf("the error of the log-sum-exp is %.3g, that of the original %.3g", have.lse, was.lse), nil
	}
	return "", nil
}

// lastBit returns the spacing of output numbers at the largest one.
func (c *juryCase) lastBit(s *Subject) float64 {
	var most float64
	for _, x := range c.want.O {
		most = max(most, math.Abs(x))
	}
	bits := map[problem.Format]float64{problem.BF16: 7, problem.F32: 23}[s.Problem.Output]
	if bits == 0 {
		bits = 10
	}
	return most * math.Exp2(-bits)
}

// errors measures the errors of an output.
func (c *juryCase) errors(s *Subject, out outputs) (*rowErrors, error) {
	got, err := c.in.outputTensor(s, out.o)
	if err != nil {
		return nil, err
	}
	d := c.Shape.DimV()
	n := len(c.want.Rows)
	e := &rowErrors{mean: make([]float64, n), max: make([]float64, n)}
	row := make([]float64, d)
	for i, at := range c.want.Rows {
		got.Row(at.B, at.H, at.S, row)
		for col, x := range row {
			off := math.Abs(x - c.want.O[i*d+col])
			e.mean[i] += off / float64(d)
			if !(off <= e.max[i]) { // NaN is the worst
				e.max[i] = off
			}
			e.rms += off * off / float64(n*d)
		}
		e.meanAll += e.mean[i] / float64(n)
		e.maxAll += e.max[i] / float64(n)
	}
	e.rms = math.Sqrt(e.rms)
	if out.lse != nil {
		lse, err := c.want.CompareLSE(c.in.lse(out), ref.CompareOptions{})
		if err != nil {
			return nil, err
		}
		if e.lse = lse.Max; lse.NotFinite > 0 {
			e.lse = math.Inf(1)
		}
	}
	return e, nil
}

// CompareRaces runs long shapes under the checkers. Only the long shapes reuse every stage of a ring
// several times.
func (t *Trials) CompareRaces(ctx context.Context, s *Subject) (c Comparison, err error) {
	defer device.CatchBug(&err)
	all := Comparison{Likeness: SameBits}
	for i, shape := range t.jury.raced {
		limit, err := t.raceLimit(ctx, i)
		if err != nil {
			return Comparison{}, err
		}
		m, err := t.measurement(s, limit)
		if err != nil {
			return Comparison{}, err
		}
		if err := m.watchUntilRed(ctx, watchedCase(shape, "normal"), jurySchedules); err != nil {
			return Comparison{}, err
		}
		at := fmt.Sprintf("%v under the checkers", shape)
		for _, f := range m.r.Defects.Found {
			if f.Severity == finding.Error {
				return Comparison{Wrong, fmt.Sprintf("%s at line %d: %s", f.Kind, f.Line, f.Message), at}, nil
			}
			if all.Why == "" {
				all.Why, all.At = fmt.Sprintf("the checkers find only a %s: %s at line %d: %s", f.Severity, f.Kind, f.Line, f.Message), at
			}
		}
		if why := m.r.Defects.Wrong; why != "" {
			return Comparison{Wrong, why, at}, nil
		}
		if m.r.Defects.Depends && s.Deterministic() {
			return Comparison{Wrong, "the output depends on the order in which warps run", at}, nil
		}
	}
	return all, nil
}

// raceLimit returns the limit of instructions for a long shape.
func (t *Trials) raceLimit(ctx context.Context, i int) (uint64, error) {
	t.jury.mu.Lock()
	defer t.jury.mu.Unlock()
	if t.jury.limits[i] == 0 {
		step := trialStep{kind: watchStep, inputs: watchedCase(t.jury.raced[i], "normal"), schedules: jurySchedules}
		if err := t.findLimit(ctx, &step); err != nil {
			return 0, err
		}
		t.jury.limits[i] = step.limit
	}
	return t.jury.limits[i], nil
}
