package stages

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// write writes the text of the kernel and the arguments of its launch. The text depends on
// the problem's facts, not on its sizes.
func write(p problem.Attention, c Config, t ptx.Target) (*build.Kernel, []kernel.Arg, error) {
	if err := c.Check(p, t); err != nil {
		return nil, nil, fmt.Errorf("attention kernel %v: %w", c, err)
	}
	k := build.New(fmt.Sprintf("attn_%s_d%d_%s", p.Format.Decoded(), p.D, p.Output), t)
	k.Version(version(p, t))
	k.ReqNTid(c.threads())
	k.MaxNReg(maxRegisters)
	g := newGen(k, p, c)
	switch {
	case c.Producers > 0:
		g.specialised()
	case c.FusedSoftmax:
		g.eachItem(g.fused)
	default:
		g.eachItem(g.unfused)
	}
	return k, g.args, nil
}

// version is the least PTX version: 8.1 brought e4m3 to sm_89, 7.1 waiting for an
// mbarrier by parity to sm_80.
func version(p problem.Attention, t ptx.Target) (major, minor int) {
	v := t.MinVersion()
	for _, need := range []ptx.Version{{Major: 7, Minor: 1}, {Major: 8, Minor: 1}} {
		if (need.Major == 7 || p.Format == problem.E4M3 && t.SM < 90) && v.Less(need) {
			v = need
		}
	}
	return v.Major, v.Minor
}

// maxRegisters is the most a thread may have: two blocks of 256 threads then fit an SM.
const maxRegisters = 128

// gen is a kernel being written: what all its parts need.
type gen struct {
	k    *build.Kernel
	p    problem.Attention
	c    Config
	d    int          // head dimension
	args []kernel.Arg // of the launch, in the order of the parameters

	q, kk, v           build.Global[build.B8]
	qs, ks, vs         build.Global[build.F32]
	o                  build.Global[build.B16]
	lse                build.Global[build.F32]
	batch, heads, seq  build.U32
	scale              build.F32
	tid, warpID        build.U32
	w                  tile.Warp
	plan               plan
	shared             build.Shared[build.B8]
	bias, letter, zero build.B32 // constants of decoding that instructions want in registers
	ring               tile.Ring // of decoded tiles, with producers
}

func newGen(k *build.Kernel, p problem.Attention, c Config) *gen {
	g := &gen{k: k, p: p, c: c, d: p.D, plan: c.plan(p.D)}
	params := attn.NewParams(k)
	g.q, g.kk, g.v = params.Bytes("q"), params.Bytes("k"), params.Bytes("v")
	g.qs, g.ks, g.vs = params.Floats("qs"), params.Floats("ks"), params.Floats("vs")
	g.o = params.Halves("o")
	if p.LSE {
		g.lse = params.Floats("lse")
	}
	g.batch, g.heads, g.seq = params.U32("batch", "B"), params.U32("heads", "H"), params.U32("seq", "Sq")
	g.scale = params.F32("scale", "scale")
	g.args = params.Args()
	g.shared = k.DynamicShared(128)

	g.tid = k.TidX()
	g.w = tile.NewWarp(k, g.tid.And(k.U32(31)))
	g.warpID = g.tid.Shr(k.U32(5))
	g.decodeConstants()
	if c.LUT {
		g.fillTable()
	}
	if c.Producers > 0 {
		g.openSlots()
	}
	if c.LUT || c.Producers > 0 {
		k.SyncThreads() // table and barriers are there
	}
	return g
}

// item is one tile of query rows of one head: what a block does at a time. What only
// its beginning or its end needs is worked out there, and takes no registers between.
type item struct {
	g     *gen
	head  build.U32 // counted through the batch
	row0  build.U32 // its first row
	bytes build.U32 // of the head in each of Q, K and V
	tiles build.U32 // of K and V
}

// eachItem runs body for the block's items: one, or with persistent blocks as many
// as it takes. Neighbouring blocks work on the same head, whose K and V then come
// from the L2 cache.
func (g *gen) eachItem(body func(item)) {
	k := g.k
	m := uint32(g.c.TileM)
	rowTiles := func() build.U32 { return g.seq.Add(k.U32(m - 1)).Div(k.U32(m)) }
	more := func(i build.U32) build.Pred {
		return i.SetpLt(rowTiles().MulLo(g.heads).MulLo(g.batch))
	}
	each := func(i build.U32) {
		n := rowTiles()
		head := i.Div(n)
		body(g.item(head, i.Sub(head.MulLo(n)).MulLo(k.U32(m))))
	}
	if !g.c.Persistent {
		block := k.CtaidX()
		k.If(more(block), func() { each(block) })
		return
	}
	i := k.CtaidX().Var()
	k.While(func() build.Pred { return more(i.Get()) }, func() {
		each(i.Get())
		i.Set(i.Get().Add(k.NctaidX()))
	})
}

// item is the item of a head that starts at row0.
func (g *gen) item(head, row0 build.U32) item {
	k, n := g.k, uint32(g.c.TileN)
	return item{
		g: g, head: head, row0: row0,
		bytes: g.seq.MulLo(k.U32(uint32(g.d))),
		tiles: g.seq.Add(k.U32(n - 1)).Div(k.U32(n)),
	}
}

// of is where the head's data begin in Q, K, V or O.
func of[T build.Value](it item, p build.Global[T]) build.Global[T] {
	return move(p, it.head.MulWide(it.bytes))
}

// logitScale is c = |log₂e·scale·qs·ks·step²|, by which scores become logits to base 2.
// The softmax takes the maximum before it multiplies, so c must be above zero: its sign
// goes to Q instead, by xor with flip, and zero becomes a number so small that all
// logits still round to zero.
func (it item) logitScale() (c build.F32, flip build.B32) {
	g := it.g
	k, step := g.k, step(g.p)
	h := it.head.Rem(g.heads)
	c = g.scale.Mul(k.F32(float32(math.Log2E * step * step)))
	c = c.Mul(g.qs.At(h).Ld()).Mul(g.ks.At(h).Ld())
	flip = k.B32(0x80008000).Selp(k.B32(0), c.SetpLt(k.F32(0)))
	return c.Abs().Max(k.F32(0x1p-100), build.NaN), flip
}

// valueScale is vs·step: what sums of V's codes are multiplied by.
func (it item) valueScale() build.F32 {
	g := it.g
	return g.vs.At(it.head.Rem(g.heads)).Ld().Mul(g.k.F32(float32(step(g.p))))
}

// move is the address n elements further on.
func move[T build.Value](p build.Global[T], n build.U64) build.Global[T] {
	var zero T
	if size := zero.Type().Bytes(); size > 1 {
		n = n.MulLo(p.Kernel().U64(uint64(size)))
	}
	return build.GlobalAt[T](p.Addr().Add(n))
}

// half is a tile of halves in shared memory, padded or swizzled.
func (g *gen) half(at, rows, cols int) tile.Tile[build.F16] {
	mem := build.SharedAs[build.F16](g.shared, at)
	if g.c.Swizzle {
		return tile.Swizzled(g.k, mem, rows, cols)
	}
	return tile.Padded(g.k, mem, rows, cols)
}
