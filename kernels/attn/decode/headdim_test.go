package decode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// otherHeads gives V a random head dimension other than that of K.
func otherHeads(r *rand.Rand, p problem.Attention) problem.Attention {
	list := slices.DeleteFunc(slices.Clone(headDims), func(d int) bool { return d == p.D })
	p.DV = list[r.IntN(len(list))]
	return p
}

// TestValueHeadDim compares random problems whose heads of V have another size than those of K with the
// reference, under the checkers: with one length and with the batches of servers.
func TestValueHeadDim(t *testing.T) {
	n := 12
	if *full {
		n = 400
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := draw(r)
		if seed%2 == 1 {
			p = drawServing(r)
		}
		p = otherHeads(r, p)
		in := generate(t, "normal", p, seed)
		checker := check.New()
		b := newBench(t, emulator(t, ptx.SM90, seed%4, checker), in)
		b.SMs = 1 + r.IntN(20)
		all := configs(p)
		c := all[r.IntN(len(all))]
		what := fmt.Sprintf("seed %d, %v lengths %s/%s, pages of %d, %v, %d SMs", seed, p, p.LengthsQ, p.LengthsKV, p.PageSize, c, b.SMs)
		judge(t, what, in, b.run(c))
		for _, defect := range checker.Findings() {
			t.Errorf("%s: %v", what, defect)
		}
	}
}

// TestValueHeadDimEdges runs 192/128, the heads of DeepSeek, and 64/192 at the edges of tiles, causal with
// other numbers of queries than keys, with keys that one block computes and with keys that blocks split.
func TestValueHeadDimEdges(t *testing.T) {
	for i, keys := range []int{1, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 257, 700} {
		for j, heads := range []problem.HeadDim{{D: 192, DV: 128}, {D: 64, DV: 192}} {
			if !*full && (i+j)%2 == 0 {
				continue
			}
			p := attends(1, 4, 2, 5, keys, 0)
			p.Shape, p.LSE, p.Causal = p.WithHeadDim(heads), true, i%3 != 0
			in := generate(t, "normal", p, uint64(i))
			for n, c := range configs(p) {
				if !*full && (i+n)%3 != 0 {
					continue
				}
				b := newBench(t, emulator(t, ptx.SM90, uint64(i%4), nil), in)
				b.SMs = 1 + i%5
				judge(t, fmt.Sprintf("%v, %v", p, c), in, b.run(c))
			}
		}
	}
}

// TestValueHeadDimRefused wants a reason for heads of V of a size that no kernel computes.
func TestValueHeadDimRefused(t *testing.T) {
	p := attends(1, 4, 1, 1, 100, 64)
	for _, dv := range []int{16, 80, 512} {
		p.DV = dv
		if err := Default(p, h200).Check(p, ptx.SM90a); err == nil || !strings.Contains(err.Error(), "heads of V") {
			t.Errorf("DV = %d: %v", dv, err)
		}
	}
}
