package runfuzz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Campaign runs the mutants of consecutive seeds.
type Campaign struct {
	Mutator *Mutator
	First   uint64        // the first seed, 0 for the one after all seeds of earlier campaigns in Out
	Count   uint64        // the number of mutants, 0 for no limit
	For     time.Duration // 0 for no limit
	Workers int
	Out     string    // the folder of reproductions and counts
	Log     io.Writer // receives the counts every Every
	Every   time.Duration

	next     atomic.Uint64 // the number of mutants that are handed out
	outcomes [outcomes]atomic.Uint64
	launches atomic.Uint64
	files    atomic.Uint64 // launch files among the mutants
	mu       sync.Mutex
	kinds    map[string]int // failures by the function that fails
	failures int
	busy     []busy
}

// busy is what a worker is doing.
type busy struct {
	seed    atomic.Uint64
	started atomic.Int64 // Unix time in seconds, 0 between mutants
	hangs   bool         // it was found to hang
}

const (
	batch = 256 // mutants that a worker takes at once
	// fileEvery is how often a mutant is a launch file.
	fileEvery = 50
	// mostSaved is the number of reproductions of one kind.
	mostSaved = 3
)

// Run runs the campaign and returns the number of failures. A failure does not end the campaign. A
// mutant that hangs takes its worker with it, because a goroutine that does not end cannot be stopped.
func (c *Campaign) Run(ctx context.Context) (failures int, err error) {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return 0, err
	}
	if c.First == 0 {
		if err := c.resume(); err != nil {
			return 0, err
		}
	}
	c.kinds, c.busy = map[string]int{}, make([]busy, c.Workers)
	start := time.Now()
	if c.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.For)
		defer cancel()
	}
	done := make(chan int, c.Workers)
	for i := range c.Workers {
		go func() {
			c.work(ctx, i)
			done <- i
		}()
	}
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	for running := c.Workers; running > 0; {
		select {
		case i := <-done:
			if !c.busy[i].hangs { // else it was slow, and is no longer waited for
				running--
			}
		case <-tick.C:
			running -= c.hung()
			if err := c.report(start); err != nil {
				return c.failures, err
			}
		}
	}
	return c.failures, c.report(start)
}

// work runs batches of mutants until the campaign ends. A file holds the first seed of the batch, so
// that a mutant which ends the process, as an overflow of Go's stack does, can be found again.
func (c *Campaign) work(ctx context.Context, worker int) {
	mark := markOf(c.Out, strconv.Itoa(worker))
	defer os.Remove(mark)
	for {
		first := c.next.Add(batch) - batch
		if ctx.Err() != nil || c.Count > 0 && first >= c.Count {
			return
		}
		_ = os.WriteFile(mark, fmt.Appendf(nil, "%d\n", c.First+first), 0o644)
		for i := range uint64(batch) {
			if c.Count > 0 && first+i >= c.Count || ctx.Err() != nil {
				return
			}
			c.one(c.First+first+i, &c.busy[worker])
		}
	}
}

// one runs the mutant of a seed. The end of the campaign does not interrupt it.
func (c *Campaign) one(seed uint64, b *busy) {
	b.seed.Store(seed)
	b.started.Store(time.Now().Unix())
	text, res, err := c.Seed(context.Background(), seed)
	b.started.Store(0)
	c.outcomes[res.Outcome].Add(1)
	c.launches.Add(uint64(res.Launches))
	if seed%fileEvery == 0 {
		c.files.Add(1)
	}
	if err != nil {
		c.save(seed, text, err)
	}
}

// Seed makes and runs the mutant of a seed.
func (c *Campaign) Seed(ctx context.Context, seed uint64) (text string, res Result, err error) {
	s := settings(seed)
	if seed%fileEvery == 0 {
		text = File(seed)
		res, err = RunFile(ctx, text, s)
		return text, res, err
	}
	text = c.Mutator.Mutant(seed)
	res, err = Run(ctx, text, s)
	return text, res, err
}

// save writes a failure to a file, unless enough of its kind are there.
func (c *Campaign) save(seed uint64, text string, err error) {
	stack := ""
	var bug *device.Bug
	if errors.As(err, &bug) {
		stack = string(bug.Stack)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures++
	kind := failing(stack)
	c.kinds[kind]++
	if c.kinds[kind] > mostSaved {
		return
	}
	name := filepath.Join(c.Out, fmt.Sprintf("seed-%d.txt", seed))
	data := fmt.Sprintf("seed %d\nsetting %+v\n%v\n%s\n-- text --\n%s", seed, settings(seed), err, stack, text)
	fmt.Fprintf(c.Log, "FAILURE seed %d in %s: %v (%s)\n", seed, kind, err, name)
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		fmt.Fprintf(c.Log, "%v\n%s\n", err, data)
	}
}

// failing returns the function of attest in which a stack begins: the first one below the panic.
func failing(stack string) string {
	_, below, ok := strings.Cut(stack, "panic(")
	if !ok {
		below = stack
	}
	for l := range strings.SplitSeq(below, "\n") {
		if strings.HasPrefix(l, "github.com/GOATnote-Inc/attest/") {
			name, _, _ := strings.Cut(strings.TrimPrefix(l, "github.com/GOATnote-Inc/attest/"), "(0x")
			return name
		}
	}
	return "an unknown place"
}

// hung saves the mutants that workers have run for too long, and returns their number.
func (c *Campaign) hung() (n int) {
	for i := range c.busy {
		b := &c.busy[i]
		started := b.started.Load()
		if b.hangs || started == 0 || time.Since(time.Unix(started, 0)) < 2*mostTime {
			continue
		}
		b.hangs = true
		n++
		seed := b.seed.Load()
		text := File(seed)
		if seed%fileEvery != 0 {
			text = c.Mutator.Mutant(seed)
		}
		c.save(seed, text, fmt.Errorf("seed %d does not end within %v", seed, 2*mostTime))
	}
	return n
}

// report prints the counts and writes them to a file, so that a process which is killed loses little.
func (c *Campaign) report(start time.Time) error {
	n := c.counts(start)
	fmt.Fprintf(c.Log, "%v: %v\n", time.Since(start).Round(time.Second), n)
	return n.write(c.Out)
}
