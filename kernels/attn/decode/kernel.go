package decode

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// write returns the kernel and the arguments of its launch. The text depends on the
// problem's facts, but not on its sizes.
func write(p problem.Attention, c Config, t ptx.Target) (*build.Kernel, []kernel.Arg, error) {
	if err := c.Check(p, t); err != nil {
		return nil, nil, fmt.Errorf("decode kernel %v: %w", c, err)
	}
	k := build.New(fmt.Sprintf("attn_decode_%s_%s_%s", p.Format, attn.DimName(p), p.Output), t)
	if v := (ptx.Version{Major: 8, Minor: 1}); p.Format == problem.E4M3 && t.SM == 89 && t.MinVersion().Less(v) {
		k.Version(v.Major, v.Minor) // sm_89 has e4m3 since PTX 8.1
	}
	k.ReqNTid(c.threads())
	k.MaxNReg(c.maxRegisters(p, t))
	g := newGen(k, p, c)
	if c.Dependent {
		k.GriddepcontrolLaunchDependents() // the next launch waits for the end of this one in any case
		k.GriddepcontrolWait()
	}
	it := g.openItem()
	k.If(it.position.SetpLt(it.parts), func() { g.attend(it) })
	return k, g.args, nil
}

// gen holds what all parts of the kernel that is being written need.
type gen struct {
	k    *build.Kernel
	p    problem.Attention
	c    Config
	d    int // head dimension of Q and K
	dv   int // head dimension of V and O
	plan plan
	args []kernel.Arg // the arguments of the launch, in the order of the parameters

	q, keys, values       build.Global[build.B8]
	qs, ks, vs, sinks     build.Global[build.F32]
	lengthsQ, lengthsKV   build.Global[build.U32] // the lengths of padded and paged sequences
	offsetsQ, offsetsKV   build.Global[build.U32] // where packed sequences begin
	pages                 build.Global[build.U32]
	partialO, partialL    build.Global[build.F32]
	arrived               build.Global[build.U32]
	mask                  build.Global[build.B8]
	heads, headsKV, group build.U32 // heads of Q, heads of K and V, and how many heads of Q share a head of K and V
	seqQ, seqKV, splits   build.U32
	items, rowBlocks      build.U32 // heads of K and V in the batch, and items per head
	batches, slots        build.U32 // the number of sequences, and of blocks that the GPU runs at a time
	totalQ, totalKV       build.U32 // rows of packed sequences
	pageRows, tableWidth  build.U32
	left, right           build.U32 // keys of a window before and after the query's own
	blocksQ, blocksKV     build.U32 // blocks of rows that share a scale, in a sequence
	qSteps, kSteps        *strides  // nil if the tensors are contiguous
	vSteps, oSteps        *strides
	scale, cap            build.F32
	out                   part.Output
	lse                   build.Global[build.F32]
	tid, lane, warp       build.U32
	team, rowTile         build.U32 // the warp's team, and its tile of rows in the team
	w                     tile.Warp
	shared                build.Shared[build.B8]
}

// newGen declares the parameters.
func newGen(k *build.Kernel, p problem.Attention, c Config) *gen {
	g := &gen{k: k, p: p, c: c, d: p.D, dv: p.DimV(), plan: c.plan(p)}
	params := attn.NewParams(k)
	g.q, g.keys, g.values = params.Bytes("q"), params.Bytes("k"), params.Bytes("v")
	g.scaleParams(params)
	if p.Sinks {
		g.sinks = params.Floats("sinks")
	}
	if p.Masked {
		g.mask = params.Bytes("mask")
	}
	g.batchParams(params)
	g.out = part.Output{K: k, O: params.Halves("o"), Type: attn.OutputType(p), D: g.dv}
	if p.LSE {
		g.lse = params.Floats("lse")
	}
	g.partialO, g.partialL, g.arrived = params.Floats("partial_o"), params.Floats("partial_l"), params.Words("arrived")
	g.heads, g.headsKV, g.group = params.U32("heads", "H"), params.U32("headsKV", "Hkv"), params.U32("group", "H/Hkv")
	g.seqQ, g.seqKV = params.U32("seqQ", "Sq"), params.U32("seqKV", "Skv")
	g.gridParams(params)
	g.scale = params.F32("scale", "scale")
	if p.Softcap != 0 {
		g.cap = params.F32("softcap", "softcap")
	}
	if p.Window.Limited() { // a window without a limit reaches beyond all keys
		limit := func(side string) string { return fmt.Sprintf("%s < 0 ? Sq + Skv : min(%s, Sq + Skv)", side, side) }
		g.left, g.right = params.U32("left", limit("window_left")), params.U32("right", limit("window_right"))
	}
	g.blockParams(params)
	g.strideParams(params)
	g.args = params.Args()

	g.shared = k.DynamicShared(128)
	g.tid = k.TidX()
	g.lane, g.warp = g.tid.And(31), g.tid.Shr(5)
	g.w = tile.NewWarp(k, g.lane)
	g.team, g.rowTile = part.Divide(k, g.warp, c.RowTiles), g.warp.And(c.RowTiles-1)
	return g
}

// gridParams declares what a block needs to find its share of the work.
func (g *gen) gridParams(params *attn.Params) {
	switch {
	case g.c.balanced(g.p):
		g.batches, g.slots = params.U32("batches", "B"), params.U32("slots", "slots")
		return
	case g.c.RowBlocks:
		g.items, g.rowBlocks = params.U32("items", "items"), params.U32("rowBlocks", "row_blocks")
	}
	g.splits = params.U32("splits", "splits")
}

// batchParams declares the operands that say where sequences lie and how long they are.
func (g *gen) batchParams(params *attn.Params) {
	switch g.p.Queries {
	case problem.Padded:
		g.lengthsQ = params.Words("seqused_q")
	case problem.Packed:
		g.offsetsQ, g.totalQ = params.Words("cu_seqlens_q"), params.U32("totalQ", "total_q")
	}
	switch g.p.Keys {
	case problem.Padded:
		g.lengthsKV = params.Words("seqused_k")
	case problem.Packed:
		g.offsetsKV, g.totalKV = params.Words("cu_seqlens_k"), params.U32("totalKV", "total_kv")
	case problem.Paged:
		g.lengthsKV, g.pages = params.Words("seqused_k"), params.Words("page_table")
		g.pageRows, g.tableWidth = params.U32("pageRows", "page_size"), params.U32("tableWidth", "max_pages")
	}
}

// attend computes the block's keys of an item and writes or merges the result.
func (g *gen) attend(it item) {
	k := g.k
	r := g.openRing(it)
	r.fill()
	a := g.newAttention(it)
	k.Loop(0, r.rounds, 1, func(n build.U32) {
		r.wait()         // this thread's bytes of tile n have arrived
		g.syncTeam()     // the bytes of the whole team have arrived, and all its warps have finished the tile before
		slot := r.next() // the copy of a later tile begins
		a.scores(slot)   // S = Q·Kᵀ
		a.weigh(r.key(n), slot)
		a.output(slot) // O += P·V
	})
	g.finish(it, a)
}

// syncTeam waits for the warps of a team.
func (g *gen) syncTeam() {
	switch {
	case g.c.RowTiles == 1:
		g.w.Sync()
	case g.c.teams() == 1:
		g.k.SyncThreads()
	default: // barrier 0 is for the whole block
		g.k.BarSyncThreads(g.team.Add(1), 32*g.c.RowTiles)
	}
}
