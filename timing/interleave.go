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
	ABBA   Order = "abba"   // alternately forwards and backwards, so that a steady drift cancels
	Random Order = "random" // shuffled in each round, with the seed
)

// Plan says how candidates are measured. The zero value is a good default.
type Plan struct {
	WarmUp time.Duration // per candidate; 0 means 200 ms
	Batch  int           // samples per turn; 0 means 5
	Order  Order         // empty means Random
	Seed   uint64
	Stop   Stop
	Sensor device.Sensor            // if not nil, read before and after each batch
	Each   func(round int, b Batch) // if not nil, called after each batch
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
		return p, fmt.Errorf("batches of %d samples, at least %d and at most %d samples: the numbers do not fit together", p.Batch, p.Stop.Least, p.Stop.Most)
	}
	return p, nil
}

// Interleave measures candidates in turns until the plan's Stop rule ends the run. All
// candidates get the same number of samples. After an error, the run holds the samples that
// were taken.
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

// rounds gives every candidate a turn in each round.
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
		if r.Ended = p.Stop.reason(times, time.Since(start)); r.Ended != "" {
			return nil
		}
	}
}

// batch takes n samples of a candidate and records the state of the GPU before and after
// them.
func (r *Run) batch(ctx context.Context, s device.Sensor, c Candidate, i, n int) (Batch, error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	b := Batch{Candidate: i, Before: r.before(s), Start: time.Now()}
	var err error
	b.Micros, err = c.Sample(ctx, n)
	b.End, b.After = time.Now(), r.state(s)
	if t, ok := c.(interface{ Controls() []float64 }); ok {
		b.Controls = t.Controls()
	}
	if err == nil && len(b.Micros) != n {
		err = fmt.Errorf("%s returned %d samples instead of %d", c.Name(), len(b.Micros), n)
	}
	r.Batches = append(r.Batches, b)
	return b, err
}

// before returns the state before a batch. It is the state after the last batch, because
// nothing has run since then and reading the sensor takes time.
func (r *Run) before(s device.Sensor) *device.State {
	if n := len(r.Batches); n > 0 {
		return r.Batches[n-1].After
	}
	return r.state(s)
}

// state reads the sensor. The first error is recorded in the run, and the run continues.
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
