package timing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Work is the work to be timed: one launch, or the launches of one operation.
type Work struct {
	Name string
	// Sets is the number of sets of buffers. Warm measurements use only set 0, cold
	// measurements use all sets in turn. 0 means 1.
	Sets int
	// Bytes is the size of the inputs and outputs of one set.
	Bytes int64
	// Queue queues the work once, with one of the sets.
	Queue func(s device.Stream, set int) error
}

// Launches returns the work of one kernel, with one launch per set of buffers.
func Launches(name string, k device.Kernel, bytes int64, sets ...device.Launch) Work {
	return Work{Name: name, Sets: len(sets), Bytes: bytes, Queue: func(s device.Stream, set int) error {
		return s.Launch(k, sets[set])
	}}
}

func (w Work) sets() int { return max(w.Sets, 1) }

// coldFactor is the required size of all sets, in multiples of the L2 cache. It is more than
// 1 because the replacement is not exactly LRU, and the two halves of the cache may hold
// copies of each other's lines.
const coldFactor = 3

// ColdSets returns how many sets of the given size are necessary, so that a set is no longer
// in the L2 cache when its turn comes again.
func ColdSets(dev device.Info, bytes int64) int {
	if dev.L2 == 0 || bytes <= 0 {
		return 1
	}
	return max(2, int((coldFactor*dev.L2+bytes-1)/bytes))
}

// Timed is work with the method to time it.
type Timed struct {
	t      *Timer
	w      Work
	method Method
	graph  device.Graph // only in mode Graph
	next   int          // the set of the next launch
}

// EventTime times one launch between two events. If c is Cold, it flushes the L2 cache before
// each launch by writes to a buffer that is larger than the cache.
func (t *Timer) EventTime(w Work, c Cache) (*Timed, error) {
	if w.Queue == nil {
		return nil, errors.New("the work has no Queue function")
	}
	sets := 1
	if c == Cold {
		sets = w.sets()
	}
	return &Timed{t: t, w: w, method: Method{Mode: Event, Cache: c, Launches: 1, Sets: sets, Clock: "events"}}, nil
}

// GraphReplay times replays of a graph with the given number of launches. 0 chooses a number
// with which a replay takes about a millisecond. If c is Cold, the launches use the sets of
// the work in turn, and the sets must be larger than the L2 cache together.
func (t *Timer) GraphReplay(ctx context.Context, w Work, c Cache, launches int) (*Timed, error) {
	p, err := t.EventTime(w, c)
	if err != nil {
		return nil, err
	}
	p.method.Mode = Graph
	if c == Cold {
		if need := ColdSets(t.dev.Info(), w.Bytes); w.sets() < need {
			return nil, fmt.Errorf("%s: %d sets of %d bytes fit in the L2 cache of %d bytes: cold launches in a graph need %d sets",
				w.Name, w.sets(), w.Bytes, t.dev.Info().L2, need)
		}
	}
	if launches == 0 {
		if launches, err = p.calibrate(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
	}
	return p, p.capture(launches)
}

const (
	replayTime    = time.Millisecond
	fewestInGraph = 10
	mostInGraph   = 1000
)

// calibrate returns the number of launches for a graph.
func (p *Timed) calibrate(ctx context.Context) (int, error) {
	if err := p.capture(fewestInGraph); err != nil {
		return 0, err
	}
	defer p.Close()
	if _, err := p.one(ctx); err != nil { // not used, because the first replay has one-time costs
		return 0, err
	}
	each, err := p.one(ctx)
	if err != nil {
		return 0, err
	}
	n := math.Ceil(float64(replayTime.Microseconds()) / each)
	return int(min(max(n, fewestInGraph), mostInGraph)), nil
}

// capture records the graph. In a cold graph, every set is used equally often, so that the
// next replay continues with the first set.
func (p *Timed) capture(launches int) (err error) {
	sets := p.method.Sets
	launches = (launches + sets - 1) / sets * sets
	p.graph, err = p.t.dev.NewGraph(func(s device.Stream) error {
		for i := range launches {
			if err := p.w.Queue(s, i%sets); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: graph of %d launches: %w", p.w.Name, launches, err)
	}
	p.method.Launches = launches
	return nil
}

// Name returns the name of the work.
func (p *Timed) Name() string { return p.w.Name }

// Method returns the method by which the work is timed.
func (p *Timed) Method() Method { return p.method }

// Close frees the graph.
func (p *Timed) Close() error {
	if p.graph == nil {
		return nil
	}
	g := p.graph
	p.graph = nil
	return g.Close()
}

// WarmUp runs the work at least three times and for at least the given time.
func (p *Timed) WarmUp(ctx context.Context, atLeast time.Duration) error {
	start := time.Now()
	for i := 0; i < 3 || time.Since(start) < atLeast; i++ {
		if err := p.queue(p.t.stream); err != nil {
			return fmt.Errorf("%s: %w", p.w.Name, err)
		}
		if err := p.t.stream.Sync(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.w.Name, err)
		}
	}
	return nil
}

// Sample takes n samples, each the time of one launch in microseconds. With a warm cache it
// first runs the work once without timing, because another candidate may have used the cache.
func (p *Timed) Sample(ctx context.Context, n int) ([]float64, error) {
	if p.method.Cache == Warm {
		if err := p.queue(p.t.stream); err != nil {
			return nil, fmt.Errorf("%s: %w", p.w.Name, err)
		}
	}
	times := make([]float64, 0, n)
	for range n {
		us, err := p.one(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.w.Name, err)
		}
		times = append(times, us)
	}
	return times, nil
}

// one takes one sample.
func (p *Timed) one(ctx context.Context) (float64, error) {
	cold := p.method.Cache == Cold && p.method.Mode == Event
	d, err := p.t.between(ctx, cold, p.queue)
	return float64(d.Nanoseconds()) / 1000 / float64(p.method.Launches), err
}

func (p *Timed) queue(s device.Stream) error {
	if p.method.Mode == Graph {
		return p.graph.Replay(s)
	}
	set := p.next
	p.next = (p.next + 1) % p.method.Sets
	return p.w.Queue(s, set)
}
