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
	// Sets is the number of sets of buffers. 0 means 1. Cold measurements and work with a
	// Spoiler use all sets in turn; other warm measurements use only set 0.
	Sets int
	// Bytes is the size of the inputs and outputs of one set.
	Bytes int64
	// Queue queues the work once, with one of the sets.
	Queue func(s device.Stream, set int) error
	// Spoiler, if not nil, gives the launches of each pass over the sets new inputs and
	// spoiled outputs.
	Spoiler Spoiler
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
	t        *Timer
	w        Work
	method   Method
	graph    device.Graph // only in mode Graph
	control  device.Graph // the spoiling of graph without its launches; nil without a Spoiler
	next     int          // the set of the next launch
	controls []float64    // the controls of the last Sample
}

// EventTime times one launch between two events. If c is Cold, it flushes the L2 cache before
// each launch by writes to a buffer that is larger than the cache.
func (t *Timer) EventTime(w Work, c Cache) (*Timed, error) {
	if w.Queue == nil {
		return nil, errors.New("the work has no Queue function")
	}
	sets := 1
	if c == Cold || w.Spoiler != nil {
		sets = w.sets()
	}
	return &Timed{t: t, w: w, method: Method{Mode: Event, Cache: c, Launches: 1, Sets: sets, Clock: "events"}}, nil
}

// GraphReplay times replays of a graph with the given number of launches. 0 chooses a number
// with which a replay takes about a millisecond: at least 10 launches, or fewer if these take more
// than 10 ms, but at least 2. If c is Cold, the launches use the sets of
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
	longReplay    = 10 * time.Millisecond
	fewestInGraph = 10
	fewestLong    = 2
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
	return launchesOf(each), nil
}

// launchesOf returns the number of launches in a graph if each takes some microseconds.
func launchesOf(each float64) int {
	if each <= 0 {
		return mostInGraph
	}
	of := func(d time.Duration) float64 { return math.Ceil(float64(d.Microseconds()) / each) }
	fewest := min(max(of(longReplay), fewestLong), fewestInGraph)
	return int(min(max(of(replayTime), fewest), mostInGraph))
}

// capture records the graph. Every set is used equally often, so that the next replay
// continues with the first set. With a Spoiler, each pass over the sets starts with the
// spoiling, and a second graph holds the spoiling alone.
func (p *Timed) capture(launches int) (err error) {
	sets := p.method.Sets
	passes := (launches + sets - 1) / sets
	p.method.Launches = passes * sets
	p.graph, err = p.t.dev.NewGraph(func(s device.Stream) error { return p.queuePasses(s, passes, true) })
	if err == nil && p.w.Spoiler != nil {
		p.control, err = p.t.dev.NewGraph(func(s device.Stream) error { return p.queuePasses(s, passes, false) })
	}
	if err != nil {
		return fmt.Errorf("%s: graph of %d launches: %w", p.w.Name, p.method.Launches, errors.Join(err, p.Close()))
	}
	return nil
}

// queuePasses queues passes over all sets: the spoiling and, if launch is set, the launches.
func (p *Timed) queuePasses(s device.Stream, passes int, launch bool) error {
	for pass := range passes {
		if p.w.Spoiler != nil {
			if err := p.w.Spoiler.Spoil(s, pass); err != nil {
				return err
			}
		}
		for set := 0; launch && set < p.method.Sets; set++ {
			if err := p.w.Queue(s, set); err != nil {
				return err
			}
		}
	}
	return nil
}

// Name returns the name of the work.
func (p *Timed) Name() string { return p.w.Name }

// Method returns the method by which the work is timed.
func (p *Timed) Method() Method { return p.method }

// Close frees the graphs.
func (p *Timed) Close() (err error) {
	for _, g := range []device.Graph{p.graph, p.control} {
		if g != nil {
			err = errors.Join(err, g.Close())
		}
	}
	p.graph, p.control = nil, nil
	return err
}

// WarmUp runs the work at least three times and for at least the given time.
func (p *Timed) WarmUp(ctx context.Context, atLeast time.Duration) error {
	start := time.Now()
	for i := 0; i < 3 || time.Since(start) < atLeast; i++ {
		if err := p.untimed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// untimed runs the work once without timing.
func (p *Timed) untimed(ctx context.Context) error {
	err := p.prepare(p.t.stream, true)
	if err == nil {
		err = p.queue(p.t.stream)
	}
	if err == nil {
		err = p.t.stream.Sync(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.w.Name, err)
	}
	return nil
}

// Sample takes n samples, each the time of one launch in microseconds. With a warm cache it
// first runs the work once without timing, because another candidate may have used the cache.
func (p *Timed) Sample(ctx context.Context, n int) ([]float64, error) {
	if p.w.Spoiler != nil {
		if err := p.w.Spoiler.Begin(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", p.w.Name, err)
		}
	}
	if p.method.Cache == Warm {
		if err := p.untimed(ctx); err != nil {
			return nil, err
		}
	}
	times := make([]float64, 0, n)
	p.controls = nil
	for range n {
		us, err := p.one(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.w.Name, err)
		}
		times = append(times, us)
	}
	return times, nil
}

// Controls returns, for each sample of the last call of Sample, the time of the spoiling that
// was subtracted, in microseconds per launch. It returns nil if nothing was subtracted.
func (p *Timed) Controls() []float64 { return p.controls }

// one takes one sample. If the graph contains the spoiling, it also measures the spoiling
// alone, half of the time before and half of the time after the launches, and returns the
// difference.
func (p *Timed) one(ctx context.Context) (float64, error) {
	if p.control == nil {
		return p.measure(ctx, true)
	}
	var us [2]float64
	for i := range us {
		launches := (len(p.controls)+i)%2 == 0
		t, err := p.measure(ctx, launches)
		if err != nil {
			return 0, err
		}
		if launches {
			us[0] = t
		} else {
			us[1] = t
		}
	}
	p.controls = append(p.controls, us[1])
	return us[0] - us[1], nil
}

// measure times the work, or only its spoiling, in microseconds per launch.
func (p *Timed) measure(ctx context.Context, launches bool) (float64, error) {
	queue := p.queue
	if !launches {
		queue = p.control.Replay
	}
	before := func(s device.Stream) error {
		err := p.prepare(s, launches)
		if err == nil && p.method.Cache == Cold && p.method.Mode == Event {
			err = p.t.flushCache()
		}
		return err
	}
	d, err := p.t.between(ctx, before, queue)
	return float64(d.Nanoseconds()) / 1000 / float64(p.method.Launches), err
}

// prepare queues what comes before a run and is not timed.
func (p *Timed) prepare(s device.Stream, launches bool) error {
	if p.w.Spoiler == nil {
		return nil
	}
	passes := (p.method.Launches + p.method.Sets - 1) / p.method.Sets
	if err := p.w.Spoiler.Next(s, passes, launches); err != nil || p.method.Mode == Graph {
		return err
	}
	return p.w.Spoiler.Spoil(s, 0)
}

func (p *Timed) queue(s device.Stream) error {
	if p.method.Mode == Graph {
		return p.graph.Replay(s)
	}
	set := p.next
	p.next = (p.next + 1) % p.method.Sets
	return p.w.Queue(s, set)
}
