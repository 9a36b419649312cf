package kernels

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

var full = flag.Bool("full", false, "the whole matrix of problems, which takes an hour")

// lengths are the pairs of Sq and Skv that the tests of attention libraries use: equal lengths, more
// queries than keys, chunked prefill, and few queries against a cache.
var lengths = [][2]int{
	{1, 1}, {1, 3}, {2, 1}, {64, 128}, {128, 192}, {256, 256}, {239, 1}, {799, 3}, {113, 203}, {113, 128}, {128, 217}, {113, 211}, {108, 256},
	{256, 512}, {384, 256}, {640, 128}, {512, 256}, {511, 1}, {3, 513}, {307, 256}, {1024, 1024}, {1023, 1024}, {1024, 1023}, {2048, 2048},
	{1, 128}, {1, 339}, {3, 1024}, {64, 800}, {64, 256}, {3, 799}, {64, 2048}, {16, 20000}, {128, 128}, {2048, 3577}, {4096, 4096}, {4224, 4224},
}

var (
	dims   = []int{64, 96, 128, 192, 256}
	groups = []int{1, 3, 6} // six heads of Q share six, two or one of K and V
)

// chips are GPUs on which Choose is asked: each runs other families.
var chips = []kernel.Chip{{Target: ptx.SM90a, SMs: 132, SharedPerSM: 228 << 10}, {Target: ptx.SM89, SMs: 58, SharedPerSM: 100 << 10}, {Target: ptx.SM80, SMs: 108, SharedPerSM: 164 << 10}}

// The most floating-point operations of a problem. Problems with more get fewer heads and sequences,
// and are left out if that is not enough.
const (
	mostFLOP     = 6e7
	mostFLOPFull = 1e9
)

// point is a place of the matrix.
type point struct{ length, dim, group int }

// drawAt returns a problem with the lengths, the head dimension and the heads of a point. Its other
// features are drawn: heads of V of another size, batches, masks, soft caps, sinks, layouts, placements,
// page sizes, formats and scales.
func drawAt(r *rand.Rand, x point, target ptx.Target) problem.Attention {
	coin := func(n int) bool { return r.IntN(n) == 0 }
	group := groups[x.group]
	p := problem.Attention{Shape: problem.Shape{B: 1 + r.IntN(3), Hq: 6, Hkv: 6 / group, Sq: lengths[x.length][0], Skv: lengths[x.length][1], D: dims[x.dim]}}
	if coin(5) {
		p.DV = dims[r.IntN(len(dims))]
	}
	for most := limit(); p.Shape.FLOP() > most && (p.B > 1 || p.Hkv > 1); {
		p.B, p.Hkv = max(p.B-1, 1), max(p.Hkv-1, 1)
		p.Hq = group * p.Hkv
	}
	if p.Format = problem.E4M3; target.SM < 89 || coin(4) {
		p.Format = problem.E5M2
	}
	p.Output = []problem.Format{problem.F16, problem.BF16}[r.IntN(2)]
	p.LSE = coin(2)
	switch r.IntN(4) {
	case 0:
		p.Causal = true
	case 1:
		p.Window = problem.NewWindow(r.IntN(p.Skv+1)-1, r.IntN(p.Skv+1)-1)
	case 2:
		p.Masked = coin(3)
	}
	if coin(3) { // what every family computes, except for a window, a mask and Q in 16 bits
		if coin(4) {
			p.FormatQ = problem.F16
		}
		return p.Filled()
	}
	if coin(2) {
		p.Softcap = 15
	}
	p.Sinks = coin(3)
	p.Layout = []problem.Layout{problem.BHSD, problem.BSHD}[r.IntN(2)]
	p.FormatQ = []problem.Format{"", problem.F16, problem.BF16}[r.IntN(3)]
	place(r, &p)
	p.Scaling = []problem.Scaling{problem.PerHead, problem.PerTensor, problem.PerBatch, problem.PerToken}[r.IntN(4)]
	if p.Keys == problem.Paged && coin(3) {
		p.Scaling = problem.PerPage
	}
	return p.Filled()
}

func limit() float64 {
	if *full {
		return mostFLOPFull
	}
	return mostFLOP
}

// place draws where the sequences of a problem lie and how long they are. One is full, and some are
// empty.
func place(r *rand.Rand, p *problem.Attention) {
	draw := func(most int) problem.Lengths {
		list := make([]int, p.B)
		for i := range list {
			list[i] = r.IntN(most + 1)
		}
		list[r.IntN(p.B)] = most
		return problem.NewLengths(list)
	}
	p.Queries = []problem.Placement{problem.Uniform, problem.Padded, problem.Packed}[r.IntN(3)]
	p.Keys = []problem.Placement{problem.Uniform, problem.Padded, problem.Packed, problem.Paged, problem.Paged}[r.IntN(5)]
	if p.Queries != problem.Uniform {
		p.LengthsQ = draw(p.Sq)
	}
	if p.Keys != problem.Uniform {
		p.LengthsKV = draw(p.Skv)
	}
	if p.Keys == problem.Paged {
		p.PageSize = 16 << r.IntN(5)
		p.Pages = int(p.Names()["kv_pages"].Int64()) + r.IntN(3)
		p.TableWidth = p.PagesOf(p.Skv) + r.IntN(3)
	}
}

// TestMatrix computes problems of the matrix with the kernels that Choose returns for them, and compares
// with the reference. Memory that belongs to no sequence is NaN, and unused entries of page tables
// are -1. With -full it runs every combination of lengths, head dimension and groups on each chip.
func TestMatrix(t *testing.T) {
	var points []point
	for i := range lengths {
		for d := range dims {
			for g := range groups {
				points = append(points, point{i, d, g})
			}
		}
	}
	n := 120
	if *full {
		n = len(chips) * len(points)
	}
	order := rand.New(rand.NewPCG(5, 5)).Perm(len(points)) // so that a run that is stopped has seen a bit of everything
	used := map[string]int{}
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		chip := chips[i%len(chips)]
		p := drawAt(r, points[order[i/len(chips)]], chip.Target)
		if p.Shape.FLOP() > limit() {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { used[compute(t, p, chip, uint64(i))]++ })
	}
	for _, name := range []string{"decode", "prefill", "hopper", "ada"} {
		if used[name] == 0 {
			t.Errorf("no problem was computed by %s: %v", name, used)
		}
	}
}

// compute runs the kernel that Choose returns for a problem, judges the result, and returns the name
// of the kernel.
func compute(t *testing.T, p problem.Attention, chip kernel.Chip, seed uint64) string {
	what := fmt.Sprintf("%v, lengths %s/%s, pages of %d, on %v", p, p.LengthsQ, p.LengthsKV, p.PageSize, chip.Target)
	name, err := Choose(p, chip)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	k, err := Build(name, p, chip)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := k.Serves(p, chip); err != nil {
		t.Fatalf("%s: %s: %v", what, name, err)
	}
	in := kerneltest.Generate(t, "normal", p, seed)
	b := kerneltest.NewBench(t, kerneltest.Emulator(t, chip.Target, emu.Options{Schedule: seed % 4}), in)
	b.SMs = 1 + int(seed)%20
	judge(t, what+", "+name, in, k.Claims["p"], b.Run(k))
	return name
}

// judge compares a result with float64 over the same quantised inputs. Its errors are those of
// rounding P and O: weights in f16 are exact enough that O decides, and weights of one byte are wrong
// by up to a sixteenth, or an eighth in e5m2. The LSE of one key is its logit. The tensor cores of Hopper
// keep 13 bits of each sum of 32 products, so the error of a logit grows with the head dimension.
func judge(t *testing.T, what string, in kerneltest.Inputs, weights string, r kerneltest.Result) {
	t.Helper()
	q, _ := in.Query(t)
	want, err := ref.Attention(t.Context(), q, in.K, in.V, in.Options())
	if err != nil {
		t.Fatal(err)
	}
	most, rmse, lse := 2e-3, 1e-3, 2e-5
	if weights != string(problem.F16) {
		most, rmse, lse = 0.12, 0.016, 2e-3*max(1, float64(in.P.D)/128)
	}
	if in.P.Output == problem.BF16 {
		most, rmse = max(most, 8*2e-3), max(rmse, 8e-3)
	}
	e, err := want.Compare(r.Tensor(t), ref.CompareOptions{Tol: most})
	if err != nil || e.Bad > 0 || !(e.RMSE <= rmse) {
		t.Errorf("%s: %v, %v", what, e, err)
	}
	if r.LSE == nil {
		return
	}
	if e, err := want.CompareLSE(r.LogSums(), ref.CompareOptions{Tol: lse}); err != nil || e.Bad > 0 {
		t.Errorf("%s: lse %v, %v", what, e, err)
	}
}

// TestRefused asks for what no kernel computes. The errors say what is possible.
func TestRefused(t *testing.T) {
	few := problem.Attention{Shape: problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 300, D: 64}, Format: problem.E5M2}
	many := problem.Attention{Shape: problem.Square(2, 4, 300, 64), Format: problem.E5M2}
	for _, c := range []struct {
		what   string
		change func(*problem.Attention)
		want   string
	}{
		{"head dimension", func(p *problem.Attention) { p.D = 80 }, "head dimension 80 is not supported: use 64, 96, 128, 192 or 256"},
		{"large head dimension", func(p *problem.Attention) { p.D = 1 << 16 }, "head dimension 65536 is not supported: use 64, 96, 128, 192 or 256"},
		{"page size", func(p *problem.Attention) { p.Keys, p.PageSize = problem.Paged, 1<<17 }, "pages of 131072 rows: use at most 65536"},
		{"format", func(p *problem.Attention) { p.Keys, p.Format = problem.Paged, problem.U8 }, "format u8 is not supported: use e4m3 or e5m2"},
		{"format of 16 bits", func(p *problem.Attention) { p.Format = problem.F16 }, "format f16 is not supported: use e4m3 or e5m2"},
		{"output", func(p *problem.Attention) { p.Output = problem.F32 }, "output f32 is not supported: use f16 or bf16"},
		{"bias", func(p *problem.Attention) { p.Bias = problem.F16 }, "bias, which decode kernels do not support"},
		{"rope", func(p *problem.Attention) { p.Rope = problem.RotatePairs }, "rope, which decode kernels do not support"},
		{"append", func(p *problem.Attention) { p.Keys, p.Appends = problem.Padded, true }, "append, which decode kernels do not support"},
		{"window and causal", func(p *problem.Attention) { p.Causal, p.Window = true, problem.NewWindow(4, 0) }, "use the window 4,0, which is causal"},
		{"blocks of packed rows", func(p *problem.Attention) {
			p.Keys, p.Scaling, p.ScaleBlockQ, p.ScaleBlockKV = problem.Packed, problem.PerBlock, 16, 16
		}, "use per-token"},
	} {
		for _, p := range []problem.Attention{few, many} {
			c.change(&p)
			for _, chip := range chips {
				if name, err := Choose(p.Filled(), chip); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s, %v on %v: %s, %v, want %q", c.what, p, chip.Target, name, err, c.want)
				}
			}
		}
	}
}
