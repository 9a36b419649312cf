package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"attest/lab/gate"
	"attest/record"
	"attest/ref"
)

// correctness runs the cases of the plan.
func (m *measurement) correctness(ctx context.Context) error {
	if len(m.p.Cases) == 0 {
		return nil
	}
	c := &record.Correctness{Tolerance: gate.Tolerance, Cases: []record.Case{}}
	m.r.Correctness = c
	sms := 0
	if !timed(m.dev) {
		sms = fewSMs
	}
	l, err := load(m.dev, m.s, sms)
	if err != nil {
		c.Cases = append(c.Cases, record.Case{Shape: m.p.Cases[0].Shape.String(), Device: m.dev.Info().Name, Failure: err.Error()})
		return nil
	}
	defer l.close()
	ran := map[Case]bool{}
	for _, one := range m.p.Cases {
		shape, refused, ok := m.served(one.Shape)
		if refused != nil {
			c.Refused = append(c.Refused, m.refusal(one.Shape, refused))
			one.Name = ""
		}
		one.Shape = shape
		if !ok || ran[one] {
			continue
		}
		ran[one] = true
		m.meter.at("correctness", fmt.Sprintf("%v, %s, seed %d", one.Shape, one.Distribution, one.Seed))
		found, err := m.judgeCase(ctx, l, one)
		if err != nil {
			return err
		}
		c.Cases = append(c.Cases, found)
		m.meter.step(m.weight(one.Shape))
	}
	return nil
}

// judgeCase runs a case and measures its errors. The kernel runs first: there is no
// reference yet whose memory it could find.
func (m *measurement) judgeCase(ctx context.Context, l *loaded, one Case) (record.Case, error) {
	c := record.Case{Shape: one.Shape.String(), Name: one.Name, Seed: one.Seed, Distribution: one.Distribution, Device: m.dev.Info().Name, Powers: []record.Power{}}
	in, err := newInputs(m.s.ABI, one)
	if err != nil {
		return c, err
	}
	out, err := m.runCase(ctx, l, in, &c)
	if err != nil || c.Failure != "" {
		return c, err
	}
	r, err := m.p.References.find(ctx, m.s.ABI, one, in, m.p.Rows)
	if err != nil {
		return c, err
	}
	return c, m.compare(&c, r, in, out)
}

// runCase runs the kernel twice and notes what it did besides computing.
func (m *measurement) runCase(ctx context.Context, l *loaded, in *inputs, c *record.Case) (out outputs, err error) {
	b, err := l.set(in.vars)
	if err != nil {
		return out, err
	}
	defer func() {
		if e := b.free(); err == nil && c.Failure == "" {
			err = e
		}
	}()
	if err := b.write(in); err != nil {
		return out, err
	}
	out, err = b.run(ctx)
	if err == nil {
		var again outputs
		again, err = b.run(ctx)
		c.Repeatable = out.same(again)
	}
	if err != nil {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		c.Failure = strings.TrimSpace(err.Error())
		return out, nil
	}
	c.Unwritten = unwritten(out.o, m.s.ABI.Output.Bytes()) + unwritten(out.lse, 4)
	sum := sha256.Sum256(append(slices.Clone(out.o), out.lse...))
	c.OutputsHash = hex.EncodeToString(sum[:])
	over, err := b.overrun()
	if err != nil {
		return out, err
	}
	changed, err := b.changed(in)
	c.Overrun, c.InputsKept = len(over) > 0, len(changed) == 0
	return out, err
}

// compare measures the errors and, if there are too many, where they are.
func (m *measurement) compare(c *record.Case, r *reference, in *inputs, out outputs) error {
	got, err := outputTensor(m.s.ABI, in.shape.Q(), out.o)
	if err != nil {
		return err
	}
	if c.Errors, c.Dequantised, err = r.compare(got); err != nil {
		return err
	}
	c.Plain, c.PlainDequantised, c.Powers = r.plain, r.plainDequantised, r.powers
	if out.lse != nil {
		if c.LSE, err = r.quantised.CompareLSE(toFloat32s(out.lse), ref.CompareOptions{Tol: gate.Tolerance.BadAbove}); err != nil {
			return err
		}
	}
	if len(gate.Within(gate.Tolerance, string(m.s.ABI.Format), c)) > 0 || c.Unwritten > 0 {
		return blame(m.s.ABI, c, r, in, got)
	}
	return nil
}
