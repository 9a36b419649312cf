package decode

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

var full = flag.Bool("full", false, "many more problems and configurations, which takes minutes")

// judge compares a result with float64 over the same quantised inputs. The errors are those of
// rounding P and O to f16, relative to the largest values of V; bf16 has three bits less.
func judge(t testing.TB, what string, in inputs, r result) {
	t.Helper()
	q, _ := in.Query(t)
	want, err := ref.Attention(t.Context(), q, in.K, in.V, in.Options())
	if err != nil {
		t.Fatal(err)
	}
	most := 2e-3
	if in.P.Output == problem.BF16 {
		most *= 8
	}
	e, err := want.Compare(r.Tensor(t), ref.CompareOptions{Tol: most})
	if err != nil || e.Bad > 0 {
		t.Errorf("%s: %v, %v", what, e, err)
	}
	if r.LSE == nil {
		return
	}
	if e, err := want.CompareLSE(r.LogSums(), ref.CompareOptions{Tol: 2e-5}); err != nil || e.Bad > 0 {
		t.Errorf("%s: lse %v, %v", what, e, err)
	}
}

// configs returns configurations for a problem: the default, chunks, and other sizes.
func configs(p problem.Attention) (list []Config) {
	c := Default(p, h200)
	chunks := c
	chunks.Chunk = 2 * c.TileN
	deep := c
	deep.TileN, deep.Stages, deep.BlocksPerSM = 16*c.RowTiles, 5, 1
	wide := c
	wide.Warps, wide.Stages, wide.BlocksPerSM = 8, 2, 1
	blocks, single := Prefill(p, h200), c
	single.RowTiles, single.TileN, single.RowBlocks = 1, min(c.TileN, 32), true
	for _, c := range []Config{c, chunks, deep, wide, Default(p, kernel.Chip{}), Decode(p, kernel.Chip{SharedPerSM: h200.SharedPerSM, SMs: 1}), blocks, single} {
		if c.Check(p, ptx.SM89) == nil {
			list = append(list, c)
		}
	}
	return list
}

// draw returns a random problem.
func draw(r *rand.Rand) problem.Attention {
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	p := problem.Attention{LSE: r.IntN(2) == 0, Causal: r.IntN(2) == 0}
	p.D, p.Hkv, p.B = pick(64, 96, 128, 192, 256), pick(1, 2, 3), pick(1, 2, 3)
	p.Sq = pick(1, 1, 2, 3, 5, 8)
	p.Hq = p.Hkv * pick(1, 2, 3, 4, 8)
	p.Skv = 1 + r.IntN(pick(20, 100, 1500))
	p.Format = []problem.Format{problem.E4M3, problem.E4M3, problem.E5M2}[r.IntN(3)]
	p.Output = []problem.Format{problem.F16, problem.BF16}[r.IntN(2)]
	return p.Filled()
}

// TestRandomProblems compares random problems with the reference, in several orders of warps.
func TestRandomProblems(t *testing.T) {
	n := 10
	if *full {
		n = 1000
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := draw(r)
		in := generate(t, "normal", p, seed)
		b := newBench(t, emulator(t, ptx.SM90, seed%4, nil), in)
		b.SMs = 1 + r.IntN(20)
		all := configs(p)
		c := all[r.IntN(len(all))]
		judge(t, fmt.Sprintf("seed %d, %v, %v, %d SMs", seed, p, c, b.SMs), in, b.run(c))
	}
}

// TestEdges runs numbers of keys at the edges of tiles, and numbers of rows at the edges of row
// tiles.
func TestEdges(t *testing.T) {
	turn := 0
	for _, d := range headDims {
		for _, keys := range []int{1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257} {
			turn++
			rows := []int{1, 4, 15, 16, 17, 31, 32, 33, 48, 63, 64}[turn%11]
			if !*full && turn%6 != 0 {
				continue
			}
			p := attends(1, rows, 1, 1, keys, d)
			p.LSE = true
			if turn%2 == 0 {
				p.Hq, p.Sq, p.Causal = 1, rows, true
			}
			in := generate(t, "normal", p, uint64(turn))
			for i, c := range configs(p) {
				if !*full && (i+turn)%2 == 0 {
					continue
				}
				b := newBench(t, emulator(t, ptx.SM90, uint64(turn%4), nil), in)
				b.SMs = 1 + turn%5
				judge(t, fmt.Sprintf("%v, %v", p, c), in, b.run(c))
			}
		}
	}
}

// TestDecode: Decode divides the work of an H200 as the fastest configuration of TestCardTimes did. With
// 16 rows it has 16 parts to merge instead of 33.
func TestDecode(t *testing.T) {
	chip := kernel.Chip{SharedPerSM: h200.SharedPerSM, SMs: 132}
	for _, x := range []struct {
		p    problem.Attention
		want string
	}{
		{attends(16, 32, 8, 1, 8192, 128), "16x32 warps-8 stages-2 blocks-1"},
		{attends(64, 32, 8, 1, 2048, 128), "16x32 warps-4 stages-3 blocks-2"},
		{attends(1, 32, 8, 1, 8192, 128), "16x32 warps-4 stages-2 blocks-2"},
		{attends(256, 16, 1, 1, 4096, 128), "16x32 warps-4 stages-2 blocks-2"},
		{attends(4, 32, 2, 1, 32768, 128), "16x32 warps-8 stages-2 blocks-1"},
		{attends(8, 64, 8, 4, 8192, 128), "32x64 warps-8 stages-2 blocks-1"},
		{attends(32, 16, 2, 1, 4096, 256), "16x16 warps-8 stages-3 blocks-1"},
		{attends(16, 8, 8, 1, 4096, 64), "16x64 warps-4 stages-2 blocks-2"},
	} {
		if got := Decode(x.p, chip); got.String() != x.want {
			t.Errorf("%v: %v, want %s", x.p, got, x.want)
		} else if err := got.Check(x.p, ptx.SM90a); err != nil {
			t.Error(err)
		}
	}
}
