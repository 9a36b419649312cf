package decode

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// drawServing returns a random problem as servers have them: sequences of different lengths,
// some of them empty, in pages of any size, packed or padded; windows, soft caps, sinks; either layout,
// some with gaps.
func drawServing(r *rand.Rand) problem.Attention {
	p := draw(r)
	p.Causal = r.IntN(3) == 0
	if !p.Causal && r.IntN(2) == 0 {
		p.Window = problem.NewWindow(r.IntN(100)-1, r.IntN(20)-1)
	}
	if r.IntN(3) == 0 {
		p.Softcap = 5 + 20*r.Float64()
	}
	p.Sinks = r.IntN(3) == 0
	if p.Mask() == "none" && r.IntN(3) == 0 {
		p.Masked, p.MaskBits = true, r.IntN(2) == 0
	}
	if r.IntN(4) == 0 {
		p.Sq = 1 + r.IntN(150) // chunked prefill
	}
	p.Layout = []problem.Layout{problem.BHSD, problem.BSHD}[r.IntN(2)]
	p.Queries = []problem.Placement{problem.Uniform, problem.Padded, problem.Packed}[r.IntN(3)]
	p.Keys = []problem.Placement{problem.Uniform, problem.Padded, problem.Packed, problem.Paged, problem.Paged}[r.IntN(5)]
	lengths := func(most int) problem.Lengths {
		list := make([]int, p.B)
		for i := range list {
			list[i] = r.IntN(most + 1)
		}
		list[r.IntN(p.B)] = most
		return problem.NewLengths(list)
	}
	if p.Queries != problem.Uniform {
		p.LengthsQ = lengths(p.Sq)
	}
	if p.Keys != problem.Uniform {
		p.LengthsKV = lengths(p.Skv)
	}
	if p.Keys == problem.Paged {
		p.PageSize = []int{16, 32, 48, 64, 128, 256, 1, 4, 24}[r.IntN(9)]
		p.Pages = int(p.Names()["kv_pages"].Int64()) + r.IntN(3)
		p.TableWidth = p.PagesOf(p.Skv) + r.IntN(3)
	}
	p.FormatQ = []problem.Format{"", problem.F16, problem.BF16}[r.IntN(3)]
	p.Scaling = []problem.Scaling{problem.PerHead, problem.PerTensor, problem.PerBatch, problem.PerToken}[r.IntN(4)]
	switch {
	case r.IntN(2) == 0:
	case p.Keys == problem.Paged:
		p.Scaling = problem.PerPage
	case p.Keys != problem.Packed && p.Queries != problem.Packed:
		p.Scaling, p.ScaleBlockQ, p.ScaleBlockKV = problem.PerBlock, 1+r.IntN(3), []int{1, 7, 64, 128}[r.IntN(4)]
	}
	if p = p.Filled(); r.IntN(3) == 0 {
		p.Gaps = p.UsualGaps()
	}
	return p
}

// TestServing compares random problems of servers with the reference. Memory that belongs to no
// sequence is NaN, and unused entries of page tables are -1.
func TestServing(t *testing.T) {
	n := 12
	if *full {
		n = 300
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := drawServing(r)
		if err := p.Check(); err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		in := generate(t, "normal", p, seed)
		var checker *check.Checker
		b := newBench(t, emulator(t, ptx.SM90, seed%4, nil), in)
		if seed%4 == 0 || *full {
			checker = check.New()
			b = newBench(t, emulator(t, ptx.SM90, seed%4, checker), in)
		}
		b.SMs = 1 + r.IntN(20)
		all := configs(p)
		c := all[r.IntN(len(all))]
		what := fmt.Sprintf("seed %d, %v lengths %s/%s, pages of %d, %v, %d SMs", seed, p, p.LengthsQ, p.LengthsKV, p.PageSize, c, b.SMs)
		judge(t, what, in, b.run(c))
		if checker == nil {
			continue
		}
		for _, defect := range checker.Findings() {
			t.Errorf("%s: %v", what, defect)
		}
	}
}
