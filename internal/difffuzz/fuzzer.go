package difffuzz

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Fuzzer compares two devices on one kernel after the other.
type Fuzzer struct {
	Options
	// Seed is that of the first kernel; the others follow it.
	Seed uint64
	// Batch is how many kernels a module has; 0 is 32.
	Batch int
	// Kernels is how many to try at most; 0 is no limit.
	Kernels int
	// Workers is how many batches are under way at once; 0 is 1.
	Workers int
	// Open opens a pair of devices for a worker.
	Open func() (*Pair, error)
	// Found, if not nil, is told of each find once it is shrunk, one at a time.
	Found func(*Find) error
	// Progress, if not nil, is told of the numbers so far, one at a time.
	Progress func(Stats)

	mu    sync.Mutex
	next  int
	stats Stats
	seen  map[string]*Find
	// unexplained are by kind the finds without a First.
	unexplained map[string][]*Find
	err         error
}

// Stats is what a Fuzzer has done.
type Stats struct {
	Kernels int
	Finds   []*Find // by seed; of one cause only the first
	// Crashed are the seeds of kernels that the other device's compiler crashed on. That
	// is its own defect and says nothing about what a kernel computes.
	Crashed []uint64
	// Next is the seed to go on with.
	Next uint64
}

// Run fuzzes until ctx ends or the kernels are done. When ctx ends, batches under way
// are finished and what was found is still told.
func (f *Fuzzer) Run(ctx context.Context) (Stats, error) {
	f.Batch, f.Workers = cmp.Or(f.Batch, 32), cmp.Or(f.Workers, 1)
	f.seen, f.unexplained = map[string]*Find{}, map[string][]*Find{}
	var wait sync.WaitGroup
	for range f.Workers {
		wait.Go(func() {
			if err := f.work(ctx); err != nil {
				f.fail(err)
			}
		})
	}
	wait.Wait()
	f.stats.Next = f.Seed + uint64(f.next)
	slices.SortFunc(f.stats.Finds, func(a, b *Find) int { return cmp.Compare(a.Seed, b.Seed) })
	return f.stats, f.err
}

func (f *Fuzzer) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// take is the seeds of the next batch; none when it is time to stop.
func (f *Fuzzer) take(ctx context.Context) (seeds []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil || f.err != nil {
		return nil
	}
	n := f.Batch
	if f.Kernels > 0 {
		n = min(n, f.Kernels-f.next)
	}
	for i := range n {
		seeds = append(seeds, f.Seed+uint64(f.next+i))
	}
	f.next += n
	return seeds
}

func (f *Fuzzer) work(ctx context.Context) error {
	pair, err := f.Open()
	if err != nil {
		return err
	}
	defer pair.Close()
	for {
		seeds := f.take(ctx)
		if len(seeds) == 0 {
			return nil
		}
		if err := f.batch(ctx, pair, seeds); err != nil {
			return err
		}
	}
}

func (f *Fuzzer) batch(ctx context.Context, pair *Pair, seeds []uint64) error {
	ks := make([]*Kernel, len(seeds))
	for i, seed := range seeds {
		ks[i] = Generate(seed, f.Options)
	}
	whole := context.WithoutCancel(ctx) // a batch is finished even when time is up
	diffs, err := pair.differ(whole, ks)
	if err != nil {
		return err
	}
	for i, d := range diffs {
		if d == nil {
			continue
		}
		if d.Kind == "crash" {
			f.crashed(ks[i].Seed)
			continue
		}
		if err := f.find(ctx, pair, ks[i], d); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Kernels += len(ks)
	if f.Progress != nil {
		f.Progress(f.stats)
	}
	return nil
}

// find runs a kernel again, shrinks it, unless its cause is known, and tells of it. One on
// which the devices differ no more is told, too: batched and alone it is the same kernel.
func (f *Fuzzer) find(ctx context.Context, pair *Pair, k *Kernel, d *Difference) error {
	whole := context.WithoutCancel(ctx)
	find := &Find{Seed: k.Seed, Kernel: k, Original: k, Difference: d}
	var err error
	if find.First, err = pair.explain(whole, k); err != nil {
		return err
	}
	if f.known(find) || f.enough(find) {
		return nil
	}
	if find.Seen, err = pair.again(whole, k, d.Kind); err != nil {
		return err
	}
	if find.Seen > 0 {
		if err := find.shrink(ctx, pair); err != nil {
			return err
		}
	}
	if find.First, err = pair.explain(whole, find.Kernel); err != nil {
		return err
	}
	if f.known(find) {
		return nil
	}
	outs, err := pair.Reference.Run(whole, NewBatch([]*Kernel{find.Kernel}))
	if err == nil && len(outs) == 1 {
		find.Expect = &outs[0]
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Finds = append(f.stats.Finds, find)
	if f.Found != nil {
		return f.Found(find)
	}
	return nil
}

func (f *Fuzzer) crashed(seed uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Crashed = append(f.stats.Crashed, seed)
}

// known counts a find whose cause was seen before.
func (f *Fuzzer) known(find *Find) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	cause := find.cause()
	first := f.seen[cause]
	switch first {
	case nil:
		f.seen[cause] = find
		return false
	case find:
		return false
	}
	first.Repeats++
	for c, of := range f.seen { // what it stood for before it was shrunk
		if of == find {
			f.seen[c] = first
		}
	}
	return true
}

// mostUnexplained is how many finds of a kind are shrunk without knowing which
// instruction is behind them.
const mostUnexplained = 10

// enough counts a find that is not worth the work any more: no instruction is known to
// be behind it, as behind many of its kind before.
func (f *Fuzzer) enough(find *Find) bool {
	if find.First != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := find.Difference.Kind
	f.unexplained[kind] = append(f.unexplained[kind], find)
	if len(f.unexplained[kind]) <= mostUnexplained {
		return false
	}
	f.unexplained[kind][0].Repeats++
	return true
}
