package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// correctness runs the cases of the plan.
func (m *measurement) correctness(ctx context.Context) (err error) {
	if len(m.p.Cases) == 0 {
		return nil
	}
	c := &record.Correctness{Tolerance: gate.Tolerance, Cases: []record.Case{}, Conditions: m.conditions}
	if m.p.Tolerance != nil {
		c.Tolerance = *m.p.Tolerance
	}
	m.r.Correctness = c
	sms := 0
	if !timed(m.dev) {
		sms = fewSMs
	}
	l, err := load(m.dev, m.s, sms, m.p.Seed)
	if err != nil {
		shape, _, _ := m.served(m.p.Cases[0].Shape) // the plan may leave the head dimension open
		c.Cases = append(c.Cases, record.Case{Shape: shape, Device: m.dev.Info().Name, Failure: err.Error()})
		return nil
	}
	table := &table{loaded: l}
	defer func() { err = errors.Join(err, table.clear(faulty(c)), l.close()) }()
	ran := map[Case]bool{}
	for _, one := range m.p.Cases {
		shape, refused, ok := m.served(one.Shape)
		if m.forgoes(one, refused) {
			continue
		}
		if refused != nil {
			c.Refused = append(c.Refused, m.refusal(one.Shape, refused))
			one.Name = ""
		}
		one.Shape = shape
		one = m.resolved(one)
		if !ok || ran[one] {
			continue
		}
		ran[one] = true
		m.meter.at("correctness", fmt.Sprintf("%v, %s, seed %d", one.Shape, one.Distribution, one.Seed))
		found, err := m.judgeCase(ctx, table, one)
		if err != nil {
			return err
		}
		c.Cases = append(c.Cases, found)
		m.meter.step(m.weight(one.Shape))
	}
	if faulty(c) {
		return nil
	}
	return m.sweep(ctx, table, c)
}

// faulty reports whether a launch failed. No other launch follows it.
func faulty(c *record.Correctness) bool {
	return slices.ContainsFunc(c.Cases, func(one record.Case) bool { return one.Failure != "" })
}

// table holds the memory of the cases. Consecutive cases of one shape use the same buffers, so
// a kernel that stores its output by address or shape gives a wrong one.
type table struct {
	*loaded
	shape problem.Shape
	vary  variation
	*bench
	before []byte // O of the previous case, which has the same shape
}

// lay allocates memory for inputs, unless the current memory fits.
func (t *table) lay(in *inputs) (err error) {
	if t.bench != nil && t.shape == in.shape && t.vary == in.vary && !t.subject.ByValue() {
		return nil
	}
	if err := t.clear(false); err != nil {
		return err
	}
	if t.SMs > 0 { // a persistent kernel must not depend on the size of its grid
		t.SMs = numbersOfSMs[t.sets%len(numbersOfSMs)]
		if in.shape.Skv >= manyKeys {
			t.SMs = max(t.SMs, partSMs)
		}
	}
	t.shape, t.vary, t.before = in.shape, in.vary, nil
	t.bench, err = t.set(in)
	return err
}

// clear frees the memory. After a fault it ignores errors, since the device may be unusable.
func (t *table) clear(faulty bool) error {
	if t.bench == nil {
		return nil
	}
	err := t.bench.free()
	t.bench = nil
	if faulty {
		return nil
	}
	return err
}

// judgeCase runs a case and measures its errors. The kernel runs before the reference is
// computed, so it cannot find the reference in memory.
func (m *measurement) judgeCase(ctx context.Context, t *table, one Case) (record.Case, error) {
	s := m.s.varied(one.vary)
	c := record.Case{Shape: one.Shape, Name: one.Name, Seed: one.Seed, Distribution: one.Distribution, Fresh: one.Fresh, Scale: one.vary.scale, Window: one.vary.window, Softcap: one.vary.softcap, Batch: one.vary.batch, Device: m.dev.Info().Name, Powers: []record.Power{}}
	in, err := newInputs(s, one)
	if err != nil {
		return c, err
	}
	out, again, err := m.runCase(ctx, t, in, &c)
	if err != nil || c.Failure != "" {
		return c, err
	}
	r, err := m.p.References.find(ctx, s, one, in, m.rowsOf(one.Shape))
	if err != nil {
		return c, err
	}
	if err = m.compare(s, &c, r, in, out); err == nil && c.Varied {
		c, err = m.worse(s, c, r, in, again)
	}
	if c.Map != nil && bytes.Equal(out.o, t.before) {
		c.Cause = "the output is that of the previous inputs in the same buffers: the kernel stored it"
	}
	t.before = out.o
	return c, err
}

// worse returns the case with the errors of the second run if they are larger than those of the
// first, or if only they are too large.
func (m *measurement) worse(s *Subject, first record.Case, r *reference, in *inputs, again outputs) (record.Case, error) {
	second := first
	if err := m.compare(s, &second, r, in, again); err != nil {
		return first, err
	}
	wrong := func(c *record.Case) bool { return len(gate.Within(gate.Tolerance, m.s.Problem, c)) > 0 }
	if wrong(&second) && !wrong(&first) || wrong(&second) == wrong(&first) && !(second.Errors.RMSE <= first.Errors.RMSE) {
		return second, nil
	}
	return first, nil
}

// rowsOf returns how many rows of an output are compared. With very many keys, each row of the
// reference takes long.
func (m *measurement) rowsOf(s problem.Shape) int {
	const most = 4e8 // products per reference
	if few := gate.LeastCompared; m.p.Rows > few && float64(m.p.Rows)*float64(s.Skv)*float64(s.D) > most {
		return max(few, int(most/float64(s.Skv)/float64(s.D)))
	}
	return m.p.Rows
}

// runCase runs the kernel twice, with different bytes in its outputs, in its workspaces and around
// all buffers, and records how it used its buffers. It returns the outputs of both runs.
func (m *measurement) runCase(ctx context.Context, t *table, in *inputs, c *record.Case) (out, again outputs, err error) {
	if err := t.lay(in); err != nil {
		return out, again, err
	}
	b := t.bench
	if err := b.write(in); err != nil {
		return out, again, err
	}
	seed := b.random.Uint64()
	if out, err = m.runOver(ctx, b, seed, false, c); err == nil {
		again, err = m.runOver(ctx, b, seed, true, c)
	}
	if failed, err := m.failed(ctx, err, c); failed {
		return out, again, err
	}
	used := in.usedBytes(m.s)
	under := map[string][]byte{"o": b.under("o", seed), "lse": b.under("lse", seed)}
	c.Overrun = out.clearUnused(used, under) || c.Overrun
	again.clearUnused(used, nil)
	missing, same := twice(out.o, again.o, under["o"], m.s.Problem.Output.Bytes())
	missingLSE, sameLSE := twice(out.lse, again.lse, under["lse"], 4)
	c.Unwritten, c.Repeatable = missing+missingLSE, same && sameLSE
	if !c.Repeatable && !m.s.Deterministic() {
		c.Repeatable, c.Varied = true, true
	}
	sum := sha256.Sum256(append(slices.Clone(out.o), out.lse...))
	c.OutputsHash = hex.EncodeToString(sum[:])
	changed, err := b.changed(in)
	c.InputsKept = len(changed) == 0
	if err != nil {
		return out, again, err
	}
	c.CacheWrong, err = b.cacheWrong(in)
	return out, again, err
}

// failed reports whether the launches of a case ended with an error, and records it as a failure of
// the kernel. It returns an error that is not the kernel's fault.
func (m *measurement) failed(ctx context.Context, launched error, c *record.Case) (bool, error) {
	m.ended = launched
	var bug *device.Bug
	switch {
	case launched == nil:
		return false, nil
	case ctx.Err() != nil:
		return true, ctx.Err()
	case errors.As(launched, &bug):
		return true, launched
	}
	c.Failure = strings.TrimSpace(launched.Error())
	return true, nil
}

// runOver runs the kernel once over random bytes, or over their complement, and checks the guard
// bands, whose bytes are new too.
func (m *measurement) runOver(ctx context.Context, b *bench, seed uint64, complement bool, c *record.Case) (out outputs, err error) {
	if err := errors.Join(b.reband(), b.fillNoise(seed, complement), b.work.Run(ctx)); err != nil {
		return out, err
	}
	over, err := b.overrun()
	if err != nil {
		return out, err
	}
	c.Overrun = c.Overrun || len(over) > 0
	return b.outputs()
}

// measureErrors measures the errors of the outputs of a case, and returns O.
func measureErrors(s *Subject, c *record.Case, r *reference, in *inputs, out outputs) (ref.Tensor, error) {
	got, err := in.outputTensor(s, out.o)
	if err != nil {
		return nil, err
	}
	if err := r.judge(c, got); err != nil {
		return nil, err
	}
	c.Plain, c.PlainDequantised, c.Logits, c.Powers = r.plain, r.plainDequantised, ref.Float(r.logits), r.powers
	if out.lse != nil {
		c.LSE, err = r.quantised.CompareLSE(in.lse(out), ref.CompareOptions{Tol: gate.Tolerance.BadAbove})
	}
	return got, err
}

// compare measures the errors and, if they are too large, finds where they are.
func (m *measurement) compare(s *Subject, c *record.Case, r *reference, in *inputs, out outputs) error {
	got, err := measureErrors(s, c, r, in, out)
	if err != nil {
		return err
	}
	o := *c
	o.LSE = nil
	switch {
	case m.brief:
	case len(gate.Within(gate.Tolerance, m.s.Problem, &o)) > 0:
		return blame(s, c, r, in, got)
	case c.Unwritten > 0 || len(gate.Within(gate.Tolerance, m.s.Problem, c)) > 0:
		c.Cause = causeOfLSE(r.quantised, in.lse(out))
	default:
		c.Cause = inconsistentPair(m.s, c, r.quantised.Rows)
	}
	return nil
}

// whole returns the errors without their parts, which would be most of a record.
func whole(e *ref.Errors) *ref.Errors {
	short := *e
	short.ByBatch, short.ByHead, short.ByRowTile, short.ByColumn = nil, nil, nil, nil
	return &short
}
