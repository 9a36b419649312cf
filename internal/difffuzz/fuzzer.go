package difffuzz

import (
	"cmp"
	"context"
	"sync"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Fuzzer compares two devices on one kernel after the other.
type Fuzzer struct {
	Options
	// Seed is the seed of the first kernel. The next kernels have the next seeds.
	Seed uint64
	// Batch is the number of kernels per module. 0 means 32.
	Batch int
	// Kernels is the number of kernels to try. 0 means no limit.
	Kernels int
	// Workers is the number of batches that run at the same time. 0 means 1.
	Workers int
	// Open opens a pair of devices for a worker.
	Open func() (*Pair, error)
	// Found, if not nil, is called with each find after it was shrunk. Calls do not overlap.
	Found func(*Find) error
	// Progress, if not nil, is called with the statistics after each batch. Calls do not
	// overlap.
	Progress func(Stats)

	mu      sync.Mutex
	next    int
	stats   Stats
	byCause map[string]*Find
	// unexplained holds the finds without a FirstDifference, by kind.
	unexplained map[string][]*Find
	err         error
}

// Stats summarises the work of a Fuzzer.
type Stats struct {
	Kernels int
	Finds   []*Find // sorted by seed; only the first find of each cause
	// Crashed holds the seeds of kernels on which the compiler of the other device crashed.
	// Such a crash is a defect of the compiler and not a difference of results.
	Crashed []uint64
	// Next is the seed to continue with.
	Next uint64
}

// Run fuzzes until ctx ends or all kernels have run. When ctx ends, Run finishes the
// batches that are running and still reports their finds.
func (f *Fuzzer) Run(ctx context.Context) (Stats, error) {
	f.Batch, f.Workers = cmp.Or(f.Batch, 32), cmp.Or(f.Workers, 1)
	f.byCause, f.unexplained = map[string]*Find{}, map[string][]*Find{}
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
	sorted.By(f.stats.Finds, func(a, b *Find) int { return cmp.Compare(a.Seed, b.Seed) })
	return f.stats, f.err
}

func (f *Fuzzer) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// nextSeeds returns the seeds of the next batch, or none when it is time to stop.
func (f *Fuzzer) nextSeeds(ctx context.Context) (seeds []uint64) {
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
		seeds := f.nextSeeds(ctx)
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
	whole := context.WithoutCancel(ctx) // a batch is finished even after ctx has ended
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

// find handles a kernel on which the devices differ. Unless the cause is known, it runs the
// kernel again, shrinks it and reports it. It also reports a kernel that shows no
// difference when it runs alone, because a kernel must give the same results in a batch.
func (f *Fuzzer) find(ctx context.Context, pair *Pair, k *Kernel, d *Difference) error {
	whole := context.WithoutCancel(ctx)
	find := &Find{Seed: k.Seed, Kernel: k, Original: k, Difference: d}
	var err error
	if find.First, err = pair.explain(whole, k); err != nil {
		return err
	}
	if f.isKnown(find) || f.tooManyUnexplained(find) {
		return nil
	}
	if find.Reproduced, err = pair.countReproduced(whole, k, d.Kind); err != nil {
		return err
	}
	if find.Reproduced > 0 {
		if err := find.shrink(ctx, pair); err != nil {
			return err
		}
	}
	if find.First, err = pair.explain(whole, find.Kernel); err != nil {
		return err
	}
	if f.isKnown(find) {
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

// isKnown reports whether the cause of a find was seen before, and counts the repetition.
func (f *Fuzzer) isKnown(find *Find) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	cause := find.cause()
	first := f.byCause[cause]
	switch first {
	case nil:
		f.byCause[cause] = find
		return false
	case find:
		return false
	}
	first.Repeats++
	for c, of := range f.byCause { // the cause that this find had before it was shrunk
		if of == find {
			f.byCause[c] = first
		}
	}
	return true
}

// maxUnexplained is the number of finds per kind that are shrunk although no instruction
// is known to cause them.
const maxUnexplained = 10

// tooManyUnexplained reports whether a find is not worth shrinking: no instruction is known
// to cause it, and maxUnexplained such finds of its kind are known already. The find counts
// as a repetition of one of them.
func (f *Fuzzer) tooManyUnexplained(find *Find) bool {
	if find.First != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := find.Difference.Kind
	f.unexplained[kind] = append(f.unexplained[kind], find)
	if len(f.unexplained[kind]) <= maxUnexplained {
		return false
	}
	f.unexplained[kind][0].Repeats++
	return true
}
