package stages

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
		g.work.Each(g.fused)
	default:
		g.work.Each(g.unfused)
	}
	return k, g.args, nil
}

// version returns the lowest PTX version: sm_89 has e4m3 since 8.1, and sm_80 can wait for
// the parity of an mbarrier since 7.1.
func version(p problem.Attention, t ptx.Target) (major, minor int) {
	v := t.MinVersion()
	for _, need := range []ptx.Version{{Major: 7, Minor: 1}, {Major: 8, Minor: 1}} {
		if (need.Major == 7 || p.Format == problem.E4M3 && t.SM < 90) && v.Less(need) {
			v = need
		}
	}
	return v.Major, v.Minor
}

// maxRegisters is the limit of registers per thread: two blocks of 256 threads then fit on an
// SM.
const maxRegisters = 128

// gen holds what all roles of the kernel that is being written need.
type gen struct {
	k    *build.Kernel
	p    problem.Attention
	c    Config
	d    int          // head dimension
	args []kernel.Arg // the arguments of the launch, in the order of the parameters

	q, kk, v             build.Global[build.B8]
	seq                  build.U32
	headBytes            build.U32 // the bytes of one head in each of Q, K and V
	tid, warpID          build.U32
	w                    tile.Warp
	plan                 plan
	shared               build.Shared[build.B8]
	bias, exponent, zero build.B32 // constants of decoding that instructions need in registers
	ring                 tile.Ring // the ring of decoded tiles, if there are producer warps

	mask   part.Mask
	work   part.Work
	scales part.Scales
	out    part.Output
	lse    part.LSE
}

// newGen declares the parameters and initialises shared memory.
func newGen(k *build.Kernel, p problem.Attention, c Config) *gen {
	g := &gen{k: k, p: p, c: c, d: p.D, plan: c.plan(p.D)}
	params := attn.NewParams(k)
	g.q, g.kk, g.v = params.Bytes("q"), params.Bytes("k"), params.Bytes("v")
	qs, ks, vs := params.Floats("qs"), params.Floats("ks"), params.Floats("vs")
	o := params.Halves("o")
	if p.LSE {
		g.lse.To = params.Floats("lse")
	}
	batch, heads, seq := params.U32("batch", "B"), params.U32("heads", "H"), params.U32("seq", "Sq")
	scale := params.F32("scale", "scale")
	g.args = params.Args()
	g.shared = k.DynamicShared(128)

	g.seq, g.headBytes = seq, seq.MulLo(g.d)
	g.mask = part.Mask{K: k, SeqQ: seq, SeqKV: seq}
	g.work = part.Work{K: k, Rows: c.TileM, Keys: c.TileN, Heads: heads.MulLo(batch), Mask: g.mask, Persistent: c.Persistent, Linear: true}
	g.scales = part.Scales{K: k, Q: qs, Key: ks, V: vs, Softmax: scale, HeadsInBatch: heads, Step: step(p)}
	g.out = part.Output{K: k, O: o, Type: attn.OutputType(p), SeqQ: seq, D: g.d}
	g.lse.K, g.lse.SeqQ = k, seq

	g.tid = k.TidX()
	g.w = tile.NewWarp(k, g.tid.And(31))
	g.warpID = g.tid.Shr(5)
	g.decodeConstants()
	if c.LUT {
		g.fillTable()
	}
	if c.Producers > 0 {
		g.openSlots()
	}
	if c.LUT || c.Producers > 0 {
		k.SyncThreads() // the table and the barriers are initialised
	}
	return g
}

// head returns where an item's head begins in Q, K or V.
func (g *gen) head(it part.Item, p build.Global[build.B8]) build.Global[build.B8] {
	return build.GlobalAt[build.B8](p.Addr().Add(it.Head.MulWide(g.headBytes)))
}

// logitScale returns |c|, the factor by which scores become logits to base 2, and flip: xor
// with flip moves a negative sign to Q.
func (g *gen) logitScale(it part.Item) (c build.F32, flip build.B32) {
	k := g.k
	c = g.scales.Logit(it.Head)
	flip = k.B32(0x80008000).Selp(0, c.SetpLt(0))
	return part.Magnitude(c), flip
}

// half returns a tile of f16 in shared memory, padded or swizzled.
func (g *gen) half(at, rows, cols int) tile.Tile[build.F16] {
	mem := build.SharedAs[build.F16](g.shared, at)
	if g.c.Swizzle {
		return tile.Swizzled(g.k, mem, rows, cols)
	}
	return tile.Padded(g.k, mem, rows, cols)
}
