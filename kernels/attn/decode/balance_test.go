package decode

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// products counts the tensor-core instructions of each block.
type products struct {
	mu     sync.Mutex
	blocks map[int]int
}

func (p *products) Launch(*observe.LaunchInfo) observe.LaunchObserver { return p }
func (p *products) Wants(in *observe.Inst) bool                       { return in.Op.Name == "mma" }
func (p *products) End(error)                                         {}

func (p *products) Cluster(c *observe.ClusterInfo) observe.ClusterObserver {
	return &blockProducts{all: p, block: c.Blocks[0].Index}
}

type blockProducts struct {
	all      *products
	block, n int
}

func (b *blockProducts) Step(*observe.Step)           { b.n++ }
func (b *blockProducts) Pass(*observe.Step)           {}
func (b *blockProducts) Access(*observe.Access)       {}
func (b *blockProducts) Start(*observe.Async)         {}
func (b *blockProducts) Complete(*observe.Completion) {}
func (b *blockProducts) Mbarrier(*observe.Mbarrier)   {}
func (b *blockProducts) Open(*observe.Opening)        {}
func (b *blockProducts) End() {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.all.blocks[b.block] = b.n
}

// TestBalance wants the work of ragged batches to be spread over the GPU: no block does much more
// than an equal share, whatever the lengths of the sequences are and wherever the long ones stand.
func TestBalance(t *testing.T) {
	const sms, most = 2, 2400
	for _, c := range []struct {
		name    string
		lengths []int
		share   float64 // the share of the products of a block, relative to an equal share of all blocks that run at a time
	}{
		{"one long sequence among short ones", []int{90, 90, 90, 90, 90, most, 90, 90}, 1.6},
		{"equal lengths", []int{500, 500, 500, 500}, 1.3},
		{"a single sequence", []int{most}, 1.4},
		{"falling lengths", []int{2000, 1000, 350, 150, 50, 0}, 1.6},
		{"more sequences than lanes", slices.Concat(slices.Repeat([]int{20}, 39), []int{1300}), 1.6},
	} {
		p := attends(len(c.lengths), 4, 1, 1, slices.Max(c.lengths), 64)
		p.Keys, p.PageSize, p.LengthsKV = problem.Paged, 64, problem.NewLengths(c.lengths)
		in := generate(t, "normal", p, 1)
		count := &products{blocks: map[int]int{}}
		b := newBench(t, emulator(t, ptx.SM90, 0, count), in)
		b.SMs = sms
		config := Default(p, h200)
		judge(t, c.name, in, b.run(config))
		total, largest := 0, 0
		for _, n := range count.blocks {
			total, largest = total+n, max(largest, n)
		}
		equal := float64(total) / float64(sms*config.BlocksPerSM)
		if share := float64(largest) / equal; share > c.share {
			t.Errorf("%s: a block computes %.2f times an equal share, want at most %.2f", c.name, share, c.share)
		}
	}
}

// TestSchedules compares random ragged batches with the reference on different numbers of SMs, so
// that sequences have from one to many parts.
func TestSchedules(t *testing.T) {
	for i, sms := range []int{1, 3, 30, 132} {
		p := attends(3, 4, 2, 1, 700, 64)
		p.LSE, p.Keys, p.LengthsKV = true, problem.Packed, "700,0,130"
		in := generate(t, "normal", p, uint64(i))
		b := newBench(t, emulator(t, ptx.SM90, uint64(i), nil), in)
		b.SMs = sms
		judge(t, fmt.Sprintf("%d SMs", sms), in, b.run(Default(p, h200)))
	}
}
