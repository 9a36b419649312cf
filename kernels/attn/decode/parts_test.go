package decode

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestManyParts merges more partial results than a warp has lanes, and more rows than the threads of a
// block sum at a time, under the checkers.
func TestManyParts(t *testing.T) {
	for i, heads := range []problem.HeadDim{{D: 128}, {D: 64}, {D: 96}, {D: 256}, {D: 64, DV: 256}} {
		for j, rows := range []int{3, 16, 50} {
			if !*full && (i+j)%2 == 1 {
				continue
			}
			p := attends(1, rows, 1, 1, 0, 0)
			p.Shape, p.LSE, p.Sinks = p.WithHeadDim(heads), true, j == 1
			for _, warps := range []int{4, 8} {
				c := Default(p, h200)
				if c.Warps, c.BlocksPerSM = warps, 1; c.teams() > p.DimV()/16 {
					continue
				}
				c.Chunk = c.TileN
				p.Skv = 35*c.TileN + 7
				in := generate(t, "normal", p, uint64(10*i+j))
				checker := check.New()
				what := fmt.Sprintf("%v, %v", p, c)
				judge(t, what, in, newBench(t, emulator(t, ptx.SM90, uint64(i%4), checker), in).run(c))
				for _, f := range checker.Findings() {
					t.Errorf("%s: %v", what, f)
				}
			}
		}
	}
}

// TestSplits wants few parts where merging them would take longer than computing them: few items with
// many rows. Shapes whose merge is short fill the GPU.
func TestSplits(t *testing.T) {
	chip := kernel.Chip{SharedPerSM: h200.SharedPerSM, SMs: 132}
	for _, c := range []struct {
		p           problem.Attention
		least, most int
	}{
		{attends(1, 32, 8, 1, 8192, 128), 16, 16},
		{attends(16, 32, 8, 1, 8192, 128), 1, 1},
		{attends(4, 32, 2, 1, 32768, 128), 16, 16},
		{attends(128, 16, 1, 1, 1024, 128), 1, 1},
		{attends(1, 16, 1, 1, 131072, 128), 88, 94},  // one block would merge 132 parts of 8 KiB
		{attends(1, 4, 1, 1, 131072, 128), 120, 132}, // of 2 KiB
		{attends(1, 64, 1, 1, 131072, 128), 88, 94},  // of 32 KiB, but the products of a block take longer, too
		{attends(1, 1, 1, 1, 20, 128), 1, 1},
	} {
		k, err := New(c.p, Decode(c.p, chip), ptx.SM90a)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := k.Bind(c.p, chip, kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := plan.Steps[0].Grid[1]; n < c.least || n > c.most {
			t.Errorf("%v: %d splits, want %d to %d", c.p, n, c.least, c.most)
		}
	}
}
