package timing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Work is what is timed: one launch, or the few that make up an operation.
type Work struct {
	Name string
	// Sets is how many sets of buffers there are. Warm measurements use set 0
	// alone, cold ones take all in turn. 0 counts as 1.
	Sets int
	// Bytes is how much memory a set touches, inputs and outputs.
	Bytes int64
	// Queue queues the work once, on one of the sets.
	Queue func(s device.Stream, set int) error
}

// Launches is the work of one kernel, with a launch for each set of buffers.
func Launches(name string, k device.Kernel, bytes int64, sets ...device.Launch) Work {
	return Work{Name: name, Sets: len(sets), Bytes: bytes, Queue: func(s device.Stream, set int) error {
		return s.Launch(k, sets[set])
	}}
}

func (w Work) sets() int { return max(w.Sets, 1) }

// coldFactor is how many times over the sets must fill the L2 cache: its
// replacement is not exact, and halves of it may keep copies of each other's lines.
const coldFactor = 3

// ColdSets is how many sets of so many bytes it takes for each to be gone from
// the L2 cache when its turn comes again.
func ColdSets(dev device.Info, bytes int64) int {
	if dev.L2 == 0 || bytes <= 0 {
		return 1
	}
	return max(2, int((coldFactor*dev.L2+bytes-1)/bytes))
}

// Timed is work with the method by which it is timed.
type Timed struct {
	t      *Timer
	w      Work
	method Method
	graph  device.Graph // of the mode Graph
	next   int          // the set whose turn it is
}

// EventTime times one launch between two events. Cold, the L2 cache is flushed
// before each by writes to a buffer larger than it.
func (t *Timer) EventTime(w Work, c Cache) (*Timed, error) {
	if w.Queue == nil {
		return nil, errors.New("work without Queue: there is nothing to time")
	}
	sets := 1
	if c == Cold {
		sets = w.sets()
	}
	return &Timed{t: t, w: w, method: Method{Mode: Event, Cache: c, Launches: 1, Sets: sets, Clock: "events"}}, nil
}

// GraphReplay times replays of a graph of so many launches; 0 chooses a number
// with which a replay lasts about a millisecond. Cold, the launches of a graph
// rotate through the sets of the work, which must be more than the L2 cache holds.
func (t *Timer) GraphReplay(ctx context.Context, w Work, c Cache, launches int) (*Timed, error) {
	p, err := t.EventTime(w, c)
	if err != nil {
		return nil, err
	}
	p.method.Mode = Graph
	if c == Cold {
		if need := ColdSets(t.dev.Info(), w.Bytes); w.sets() < need {
			return nil, fmt.Errorf("%s: %d sets of %d bytes stay in an L2 cache of %d: cold launches in a graph need %d sets",
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

// calibrate chooses how many launches a graph has.
func (p *Timed) calibrate(ctx context.Context) (int, error) {
	if err := p.capture(fewestInGraph); err != nil {
		return 0, err
	}
	defer p.Close()
	if _, err := p.one(ctx); err != nil { // the first replay does other things too
		return 0, err
	}
	each, err := p.one(ctx)
	if err != nil {
		return 0, err
	}
	n := math.Ceil(float64(replayTime.Microseconds()) / each)
	return int(min(max(n, fewestInGraph), mostInGraph)), nil
}

// capture makes the graph. Cold, it goes a whole number of times through the sets,
// so that a replay ends where the next begins.
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

// Name is the name of the work.
func (p *Timed) Name() string { return p.w.Name }

// Method is how the work is timed.
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

// WarmUp runs the work for at least a time, and at least three times.
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

// Sample takes n times of one launch, in microseconds. Warm, it first runs the
// work once without timing it: who was timed before left other things in the
// cache.
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

// one takes one time of one launch.
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
