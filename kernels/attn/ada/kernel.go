package ada

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// write returns the kernel and the arguments of its launch. The text depends on the
// problem's facts and on whether heads share K and V, but not on its sizes.
func write(p problem.Attention, c Config) (*build.Kernel, []kernel.Arg, error) {
	if err := c.Check(p); err != nil {
		return nil, nil, fmt.Errorf("ada attention kernel %v: %w", c, err)
	}
	k := build.New(attn.EntryName("ada", p), c.target())
	if c.Widen {
		k.Version(7, 1) // the first with waits for a parity of an mbarrier on sm_80
	} else {
		k.Version(8, 4) // the first with products of FP8 on sm_89
	}
	k.ReqNTid(c.threads())
	k.MinNCTAPerSM(c.BlocksPerSM)
	g := newGen(k, p, c)
	if c.Whole {
		g.work.Each(g.attendWhole)
	} else {
		g.work.Each(g.attend)
	}
	return k, g.args, nil
}

// gen holds what all parts of the kernel that is being written need.
type gen struct {
	k    *build.Kernel
	p    problem.Attention
	c    Config
	d    int // head dimension
	plan plan
	args []kernel.Arg // the arguments of the launch, in the order of the parameters

	q, kk, v    build.Global[build.B8]
	lse         build.Global[build.F32]
	seqQ, seqKV build.U32
	headsKV     build.U32
	headsPerKV  build.U32
	mem         build.Shared[build.B8]
	tid         build.U32
	warp        build.U32
	group       build.U32 // the warp's group of 16 query rows
	share       build.U32 // the number of the warp among those with the same rows
	w           tile.Warp
	mul         products
	mask        part.Mask
	work        part.Work
	scales      part.Scales
	out         part.Output
}

func newGen(k *build.Kernel, p problem.Attention, c Config) *gen {
	g := &gen{k: k, p: p, c: c, d: p.D, plan: c.plan(p.D), mul: c.products(p)}
	params := attn.NewParams(k)
	g.q, g.kk, g.v = params.Bytes("q"), params.Bytes("k"), params.Bytes("v")
	qs, ks, vs := params.Floats("qs"), params.Floats("ks"), params.Floats("vs")
	o := params.Halves("o")
	if p.LSE {
		g.lse = params.Floats("lse")
	}
	heads := params.U32("heads", "H")
	g.headsKV, g.headsPerKV = params.U32("headsKV", "Hkv"), params.U32("group", "H/Hkv")
	g.seqQ, g.seqKV = params.U32("seqQ", "Sq"), params.U32("seqKV", "Skv")
	scale := params.F32("scale", "scale")
	g.args = params.Args()

	g.mem = k.DynamicShared(sharedUnit)
	g.tid = k.TidX()
	g.w = tile.NewWarp(k, g.tid.And(31))
	// Through a shuffle, ptxas knows that the warp's number is the same in all lanes.
	g.warp = g.tid.Shr(5).ShflSyncIdx(0, 31, k.FullMask())
	g.group, g.share = g.warp, k.U32(0)
	switch {
	case c.Whole:
		// Each sub-core, which has every fourth warp, gets warps of all shares.
		g.share = g.warp.Add(g.warp.Shr(2)).And(c.Shares - 1)
		g.group = part.Divide(k, g.warp, c.Shares)
	case c.Shares > 1:
		g.share = part.Divide(k, g.warp, c.rowGroups())
		g.group = g.warp.Sub(g.share.MulLo(c.rowGroups()))
	}
	g.mask = part.Mask{K: k, SeqQ: g.seqQ, SeqKV: g.seqKV, Causal: p.Causal}
	g.work = part.Work{K: k, Rows: c.Rows, Keys: c.roundKeys(), Mask: g.mask, PerBatch: &heads, Split: 1}
	g.scales = part.Scales{
		K: k, Q: qs, Key: ks, V: vs, Softmax: scale, InBatch: true, Grouped: p.Hq != p.Hkv, Group: g.headsPerKV,
		PerTensor: p.Scaling == problem.PerTensor, Step: g.mul.step(),
	}
	g.out = part.Output{K: k, O: o, Type: attn.OutputType(p), SeqQ: g.seqQ, D: g.d}
	return g
}

// tile returns a tile of bytes in shared memory, as two-byte words for ldmatrix.
func (g *gen) tile(at, rows int) tile.Tile[build.F16] {
	mem := build.SharedAs[build.F16](g.mem, at)
	if pitched(g.d) {
		return tile.Padded(g.k, mem, rows, g.d/2)
	}
	return tile.Swizzled(g.k, mem, rows, g.d/2)
}

// pitch returns the bytes of a row of a tile.
func (g *gen) pitch() int { return tile.Bytes(1, g.d, !pitched(g.d)) }

// ownTile returns the tile at a place in the team's memory.
func (g *gen) ownTile(at int) tile.Tile[build.F16] {
	t := g.tile(g.plan.rings+at, g.c.TileN)
	if g.c.Shares > 1 {
		t = t.Plus(g.share.MulLo(g.plan.team))
	}
	return t
}

// headKV returns the head of K and V for an item.
func (g *gen) headKV(it part.Item) build.U32 {
	if g.p.Hkv == g.p.Hq {
		return it.Head
	}
	return it.Batch.MadLo(g.headsKV, it.HeadInBatch.Div(g.headsPerKV))
}

// row0 returns the first of the warp's query rows.
func (g *gen) row0(it part.Item) build.U32 { return it.Row0.Add(g.group.MulLo(warpRows)) }
