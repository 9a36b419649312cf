package timing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Order is the order in which candidates take their turns.
type Order string

// The orders.
const (
	ABBA   Order = "abba"   // forwards and backwards by turns: a steady drift cancels
	Random Order = "random" // shuffled anew each round, from the seed
)

// Plan is how candidates are measured. The zero value is a good one.
type Plan struct {
	WarmUp time.Duration // of each candidate, 200 ms when zero
	Batch  int           // samples of a turn, 5 when zero
	Order  Order         // Random when empty
	Seed   uint64
	Stop   Stop
	Sensor device.Sensor            // read around each batch, if there is one
	Each   func(round int, b Batch) // told of each batch, if set
}

func (p Plan) orDefaults() (Plan, error) {
	if p.WarmUp == 0 {
		p.WarmUp = 200 * time.Millisecond
	}
	if p.Batch == 0 {
		p.Batch = 5
	}
	if p.Order == "" {
		p.Order = Random
	}
	p.Stop = p.Stop.orDefaults()
	switch {
	case p.Order != ABBA && p.Order != Random:
		return p, fmt.Errorf("order %q: use %q or %q", p.Order, ABBA, Random)
	case p.Batch < 0 || p.Stop.Most < 0 || p.Stop.Least > p.Stop.Most:
		return p, fmt.Errorf("batches of %d, from %d to %d samples: that is no plan", p.Batch, p.Stop.Least, p.Stop.Most)
	}
	return p, nil
}

// Interleave measures candidates in turns until the plan says that it is enough.
// All get the same number of samples. On an error, the run has what was taken.
func Interleave(ctx context.Context, p Plan, candidates ...Candidate) (*Run, error) {
	p, err := p.orDefaults()
	if err != nil {
		return nil, err
	}
	if len(candidates) == 0 {
		return nil, errors.New("no candidate to measure")
	}
	r := &Run{Order: p.Order, Seed: p.Seed, Batches: []Batch{}}
	for _, c := range candidates {
		r.Candidates = append(r.Candidates, Subject{Name: c.Name(), Method: c.Method()})
		if err := c.WarmUp(ctx, p.WarmUp); err != nil {
			return r, fmt.Errorf("warming up: %w", err)
		}
	}
	return r, r.rounds(ctx, p, candidates)
}

// rounds gives every candidate a turn, over and over.
func (r *Run) rounds(ctx context.Context, p Plan, candidates []Candidate) error {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	random := rand.New(rand.NewPCG(p.Seed, 0xabba))
	times := make([][]float64, len(candidates))
	for round, start := 0, time.Now(); ; round++ {
		switch {
		case p.Order == Random:
			random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		case round > 0:
			slices.Reverse(order)
		}
		n := min(p.Batch, p.Stop.Most-len(times[0]))
		for _, i := range order {
			b, err := r.batch(ctx, p.Sensor, candidates[i], i, n)
			if err != nil {
				return err
			}
			times[i] = append(times[i], b.Micros...)
			if p.Each != nil {
				p.Each(round, b)
			}
		}
		if r.Ended = p.Stop.now(times, time.Since(start)); r.Ended != "" {
			return nil
		}
	}
}

// batch takes n samples of a candidate and notes how the card was around them.
func (r *Run) batch(ctx context.Context, s device.Sensor, c Candidate, i, n int) (Batch, error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	b := Batch{Candidate: i, Before: r.before(s), Start: time.Now()}
	var err error
	b.Micros, err = c.Sample(ctx, n)
	b.End, b.After = time.Now(), r.state(s)
	if err == nil && len(b.Micros) != n {
		err = fmt.Errorf("%s gave %d samples of %d", c.Name(), len(b.Micros), n)
	}
	r.Batches = append(r.Batches, b)
	return b, err
}

// before is what was read after the last batch, for nothing happened since: to
// ask a driver takes it a while.
func (r *Run) before(s device.Sensor) *device.State {
	if n := len(r.Batches); n > 0 {
		return r.Batches[n-1].After
	}
	return r.state(s)
}

// state reads the sensor. What it cannot read is noted once and spoils nothing.
func (r *Run) state(s device.Sensor) *device.State {
	if s == nil {
		return nil
	}
	state, err := s.State()
	if err != nil && r.SensorError == "" {
		r.SensorError = err.Error()
	}
	return &state
}
