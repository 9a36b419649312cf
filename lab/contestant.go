package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// timedInputs is the distribution of timed inputs. With zeros, a GPU would draw less power and
// run faster.
const timedInputs = "normal"

// seedOfTimes is far from the seeds of the cases, so that timed inputs are new to the kernel.
const seedOfTimes = 1 << 20

// contestant is a kernel that is timed on a shape, with its memory.
//
// There are two inputs, and each set of buffers holds one of them. The witness exchanges them
// between turns, so a kernel that returns a stored output gives a wrong one.
type contestant struct {
	*loaded
	inputs [2]*inputs
	right  [2]outputs  // the right outputs, for each of the inputs
	want   *ref.Result // the reference of the first inputs, for some rows
	rmse   float64     // of the kernel on these rows
	sets   []*bench
	has    []int // the inputs that each set holds
	bytes  int64
	random *rand.Rand
	used   int // the number of sets that the current method launches on
	wrong  string
}

func (m *measurement) newContestant(ctx context.Context, s *Subject, shape problem.Shape) (*contestant, error) {
	l, err := load(m.dev, s, 0)
	if err != nil {
		return nil, err
	}
	c := &contestant{loaded: l, random: rand.New(rand.NewPCG(m.p.Times.Seed, 1))}
	if err := m.rehearse(ctx, c, shape); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// rehearse runs the kernel once on both inputs, checks the outputs, and stores them.
func (m *measurement) rehearse(ctx context.Context, c *contestant, shape problem.Shape) error {
	for i := range c.inputs {
		one := Case{Shape: shape, Seed: seedOfTimes + 2*m.p.Times.Seed, Distribution: timedInputs}
		if c.subject.ByValue() {
			one.reversed = i == 1 // the scales are parameters, which a graph keeps: the second inputs must have the same
		} else {
			one.Seed += uint64(i)
		}
		in, err := newInputs(c.subject, one)
		if err != nil {
			return err
		}
		c.inputs[i] = in
		if len(c.sets) == 0 {
			if err := c.add(in); err != nil {
				return err
			}
		}
		if err := c.sets[0].write(in); err != nil {
			return err
		}
		if c.right[i], err = c.sets[0].run(ctx); err != nil {
			return err
		}
		if err := m.checkOutput(ctx, c, one, in, c.right[i]); err != nil {
			return err
		}
	}
	c.has[0] = 1
	return nil
}

// rowsOfTimes is the number of rows of a timed output that are compared.
const rowsOfTimes = 512

// checkOutput judges an output like the correctness gate, and stores what is wrong with it.
func (m *measurement) checkOutput(ctx context.Context, c *contestant, one Case, in *inputs, out outputs) error {
	r, err := m.p.References.find(ctx, c.subject, one, in, rowsOfTimes)
	if err != nil {
		return err
	}
	got, err := outputTensor(c.subject, in.shape.Q(), out.o)
	if err != nil {
		return err
	}
	judged := r.blank(one)
	if err := r.judge(&judged, got); err != nil {
		return err
	}
	if c.want == nil {
		c.want, c.rmse = r.original, judged.Errors.RMSE
	}
	if n := unwritten(out.o, c.subject.Problem.Output.Bytes()); n > 0 {
		c.wrong = "the kernel never wrote " + english.Count(n, "element") + " of the output"
	} else if why := gate.Within(gate.Tolerance, string(c.subject.Problem.Format), c.subject.Problem.Causal, &judged); len(why) > 0 {
		c.wrong = why[0]
	}
	return nil
}

// add allocates one more set of buffers.
func (c *contestant) add(in *inputs) error {
	b, err := c.set(in.shape, in.scales)
	if err != nil {
		return err
	}
	c.sets, c.has = append(c.sets, b), append(c.has, 0)
	c.bytes = 0
	for _, o := range b.operands {
		c.bytes += o.Bytes
	}
	return nil
}

// candidate returns the kernel as a candidate for a method, with poisoned outputs.
func (c *contestant) candidate(ctx context.Context, t *timing.Timer, m timing.Method) (*timing.Timed, error) {
	c.used = 1
	if m.Mode == timing.Graph && m.Cache == timing.Cold {
		c.used = timing.ColdSets(c.Device().Info(), c.bytes)
	}
	for i := 0; i < c.used; i++ {
		if i == len(c.sets) {
			if err := c.add(c.inputs[0]); err != nil {
				return nil, err
			}
		}
		c.has[i] = i % 2
		if err := errors.Join(c.sets[i].write(c.inputs[i%2]), c.sets[i].spoil()); err != nil {
			return nil, err
		}
	}
	work := timing.Work{Name: c.subject.Name, Sets: c.used, Bytes: c.bytes, Queue: c.queue}
	if m.Mode == timing.Graph {
		return t.GraphReplay(ctx, work, m.Cache, m.Launches)
	}
	return t.EventTime(work, m.Cache)
}

// witness checks the outputs of the timed launches in up to two sets, and runs one launch with
// the other inputs in each.
func (c *contestant) witness(ctx context.Context, round int) {
	if c.wrong != "" {
		return
	}
	sets := []int{0}
	if other := c.random.IntN(c.used); other != 0 {
		sets = append(sets, other)
	}
	for _, set := range sets {
		why, err := c.look(ctx, set)
		if err != nil {
			why = err.Error()
		}
		if why != "" {
			c.wrong = fmt.Sprintf("round %d: %s", round, why)
			return
		}
	}
}

func (c *contestant) look(ctx context.Context, set int) (string, error) {
	b := c.sets[set]
	out, err := b.outputs()
	if err != nil {
		return "", err
	}
	if !out.same(c.right[c.has[set]]) {
		return "the output of timed launches differs from that of a single launch", nil
	}
	c.has[set] = 1 - c.has[set]
	if err := b.write(c.inputs[c.has[set]]); err != nil {
		return "", err
	}
	if out, err = b.run(ctx); err != nil {
		return "", err
	}
	if !out.same(c.right[c.has[set]]) {
		return "with new inputs in the same buffers, the output is not the right one", nil
	}
	return c.harmed(b, b.spoil())
}

// harmed checks the guard bands of a set.
func (c *contestant) harmed(b *bench, err error) (string, error) {
	if err != nil {
		return "", err
	}
	over, err := b.overrun()
	if err == nil && len(over) > 0 {
		return fmt.Sprintf("memory around %v was written", over), nil
	}
	return "", err
}

func (c *contestant) close() (err error) {
	for _, b := range c.sets {
		err = errors.Join(err, b.free())
	}
	return errors.Join(err, c.loaded.close())
}

// queue queues a launch on a set.
func (c *contestant) queue(s device.Stream, set int) error {
	return c.sets[set].work.Queue(s)
}
