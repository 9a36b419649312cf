package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

// drawnSets is the number of sets with drawn lengths that are launched by each method.
const drawnSets = 2

// tryLengths launches a kernel that reads lengths from memory on sequences of drawn lengths, by the
// method of the timed launches and among launches on the timed inputs, and compares the outputs with the
// reference. Timed launches have full sequences, so that their times can be compared. A kernel that
// ignores the lengths in such launches would be right there. It returns the number of launches that
// were compared.
func (m *measurement) tryLengths(ctx context.Context, timer *timing.Timer, method timing.Method, c *contestant) (compared int, err error) {
	shape, ok := m.drawnShape(c)
	if !ok || c.wrong != "" {
		return 0, nil
	}
	var cases []Case
	var sets []*bench
	defer func() {
		for _, b := range sets {
			err = errors.Join(err, b.free())
		}
	}()
	for range drawnSets {
		one := Case{Shape: shape, Seed: c.random.Uint64() >> (64 - seedBits), Distribution: timedInputs, vary: c.subject.own()}
		one.vary.batch = m.drawBatch(shape, false, false, c.random)
		in, err := newInputs(c.subject, one)
		if err != nil {
			return 0, err
		}
		b, err := c.set(in)
		if err != nil {
			return 0, err
		}
		cases, sets = append(cases, one), append(sets, b)
		if err := errors.Join(b.write(in), b.spoil()); err != nil {
			return 0, err
		}
	}
	if err := c.launchAmong(ctx, timer, method, sets); err != nil {
		return 0, err
	}
	for i, b := range sets {
		if err := m.checkDrawn(ctx, c, b, cases[i]); err != nil {
			return 0, err
		}
	}
	return len(sets), nil
}

// mostDrawn is the number of elements of Q, K and V up to which sequences are added to a batch.
const mostDrawn = 1 << 23

// drawnShape returns the shape of launches with drawn lengths. The longest sequence of a batch is full,
// so the batch needs several. ok is false if the kernel reads no lengths.
func (m *measurement) drawnShape(c *contestant) (s problem.Shape, ok bool) {
	s = c.input.shape
	if c.subject != m.s || !m.s.Problem.Ragged() {
		return s, false
	}
	if wide := s; s.B < fewestSequences {
		wide.B = fewestSequences
		if m.s.ServesShape(wide) == nil && wide.Q().Len()+wide.K().Len()+wide.V().Len() <= mostDrawn {
			s = wide
		}
	}
	return s, s.B > 1
}

// launchAmong launches some sets by a method, in random order and each between launches on the timed
// inputs. Its times do not count.
func (c *contestant) launchAmong(ctx context.Context, timer *timing.Timer, method timing.Method, sets []*bench) error {
	order := []*bench{c.sets[0]}
	for _, i := range c.random.Perm(len(sets)) {
		order = append(order, sets[i], c.sets[0])
	}
	work := timing.Work{Name: c.subject.Name, Sets: 1, Bytes: c.bytes, Queue: func(s device.Stream, _ int) (err error) {
		for _, b := range order {
			err = errors.Join(err, b.work.Queue(s))
		}
		return err
	}}
	var timed *timing.Timed
	var err error
	if method.Mode == timing.Graph {
		timed, err = timer.GraphReplay(ctx, work, timing.Warm, 1)
	} else {
		timed, err = timer.EventTime(work, timing.Warm)
	}
	if err != nil {
		return err
	}
	_, err = timed.Sample(ctx, 1)
	return errors.Join(err, timed.Close())
}

// checkDrawn compares the output of a launch on drawn lengths with the reference.
func (m *measurement) checkDrawn(ctx context.Context, c *contestant, b *bench, one Case) error {
	out, err := b.outputs()
	if err != nil {
		return err
	}
	r, err := bareReference(ctx, c.subject.varied(one.vary), one, b.in, rowsAfterward)
	if err != nil {
		return err
	}
	before := c.wrong
	if _, err := c.check(r, one, b.in, out); err != nil {
		return err
	}
	if c.wrong != before {
		c.wrong = fmt.Sprintf("a launch on sequences of the lengths %s: %s", one.vary.batch.LengthsKV+one.vary.batch.LengthsQ, c.wrong)
	}
	return nil
}
