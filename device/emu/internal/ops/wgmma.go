package ops

import (
	"fmt"
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/tensor"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("wgmma", func(d *decoder, x *inst, o *op) {
		switch {
		case x.Has("mma_async"):
			aligned(d, o, buildGroupProduct(d, x))
		case x.Has("commit_group"):
			aligned(d, o, func(f *frame, m uint32) { f.Warp.CommitProducts() })
		case x.Has("wait_group"):
			g := groupWait(x.Arg("N").Val)
			o.Kind, o.Try, o.Why = machine.OpTry, g.try, g.why
		default:
			aligned(d, o, func(*frame, uint32) {}) // a fence has no effect, because registers are read in order
		}
	})
}

// groupProduct is a decoded wgmma.mma_async. Each warp of the group computes 16 of
// the 64 rows.
type groupProduct struct {
	product
	n, k         int
	wordsA       int // words of a row of a: 32 bytes
	wordsB       int // words of a column of b: 32 bytes, or 64 if a is sparse
	ra           registers
	meta         *metadata // nil if a is not sparse
	aDesc, bDesc slot
	scaleD       slot
	not          bool
	aTransposed  bool // a is stored by columns
	bTransposed  bool // b is stored by rows
	aFlip, bFlip uint32
	rc           registers
	half         bool
}

// startedProduct is a wgmma that has not taken effect.
type startedProduct struct {
	from         machine.Origin
	p            *groupProduct
	mask         uint32
	a            []uint32 // the rows of a if a is in registers, otherwise nil
	meta         machine.Lanes32
	aDesc, bDesc matrixDesc
	keep         bool
}

// groupWait is wgmma.wait_group with the number of groups that may stay outstanding. The
// four warps of a warpgroup compute a product together: the product ends for all of them
// once all have started it. One thread may therefore signal for the whole warpgroup that
// the factors are no longer needed.
type groupWait uint32

// due returns the number of groups that must have ended.
func (g groupWait) due(w *machine.Warp) uint32 {
	q := &w.Async.Products
	if q.Groups < uint32(g) {
		return 0
	}
	return min(q.Groups-uint32(g), q.Last)
}

func (g groupWait) try(f *frame, m uint32) machine.Status {
	w := f.Warp
	q := &w.Async.Products
	q.Waiting = m != w.Lanes&^w.Exited || g.awaited(w) != nil
	if q.Waiting {
		return machine.Again
	}
	due := g.due(w)
	for _, mate := range w.Warpgroup() {
		mate.Async.Products.Finish(due)
	}
	return machine.Done
}

// awaited returns a warp of w's warpgroup that has not yet committed the groups that are
// due, or nil.
func (g groupWait) awaited(w *machine.Warp) *machine.Warp {
	for _, mate := range w.Warpgroup() {
		if mate.Async.Products.Groups < g.due(w) && mate.Lanes&^mate.Exited != 0 {
			return mate
		}
	}
	return nil
}

// why describes the warp or the lanes that the wait needs.
func (g groupWait) why(f *frame, m uint32) string {
	if live := f.Warp.Lanes &^ f.Warp.Exited; m != live {
		return fmt.Sprintf("waits for lanes %08x of its warp", live&^m)
	}
	mate := g.awaited(f.Warp)
	if mate == nil {
		return ""
	}
	return fmt.Sprintf("waits for group %d of wgmma, which warp %d of the warpgroup has not committed", g.due(f.Warp), mate.ID)
}

const warpRows = 16

func buildGroupProduct(d *decoder, x *inst) exec {
	ts, s := Types(x), Shape(x)
	size := kinds[ts[1]].Bits()
	per := 32 / size
	p := &groupProduct{
		product: productOf(d, x, tensor.WGMMA, ts[1], ts[2], ts[0]),
		n:       s.N, k: s.K, wordsA: s.K / per, wordsB: s.K / per, aDesc: -1,
		bDesc: d.Src64(x.Arg("bDesc"), ptx.B64), half: ts[0] == "f16",
		aTransposed: flag(x, "immTransA"), bTransposed: flag(x, "immTransB"),
		aFlip: signFlip(x, "immScaleA", size), bFlip: signFlip(x, "immScaleB", size),
	}
	p.scaleD, p.not = d.Pred(x.Arg("scaleD"))
	if x.Arg("spMeta") != nil {
		p.wordsA /= 2
		p.product = sparseProduct{p.product, size}
		p.meta = metadataOf(d, x, s, size, "spMeta", "spSel")
	}
	depthA := p.wordsA * per
	atA, _, _ := layout.MMA(layout.Shape{M: warpRows, N: 8, K: depthA}, size)
	_, atC := layout.WGMMA(s, size)
	p.rc = places(atC.At, atC.Elements, 1, byRow(s.N, 1))
	p.rc.slots = d.Results(x.Arg("d"), ptx.B32)
	if o := x.Arg("a"); o != nil {
		p.ra = places(atA.At, atA.Elements/per, per, byRow(depthA, per))
		p.ra.slots = d.Sources(o)
	} else {
		p.aDesc = d.Src64(x.Arg("aDesc"), ptx.B64)
	}
	return p.start
}

// flag reports whether an immediate operand is present and equal to 1.
func flag(x *inst, name string) bool {
	o := x.Arg(name)
	return o != nil && o.Val == 1
}

// signFlip returns the mask that negates the elements of a word if the scale is -1.
func signFlip(x *inst, scale string, size int) uint32 {
	if o := x.Arg(scale); o == nil || o.Val != -1 {
		return 0
	}
	return map[int]uint32{8: 0x80808080, 16: 0x80008000, 32: 0x80000000}[size]
}

// start queues a product with a copy of the registers that it reads, except the
// accumulator.
func (p *groupProduct) start(f *frame, m uint32) {
	l := bits.TrailingZeros32(m)
	if last := f.Warp.ID | 3; last >= len(f.Block.Warps) {
		f.Raise(-1, "a warpgroup has four warps: this one lacks warp %d", last)
	}
	q := &f.Warp.Async.Products
	q.Last = q.Groups + 1
	scale := f.Pred[p.scaleD]
	if p.not {
		scale = ^scale
	}
	s := &startedProduct{
		from: f.Origin(-1), p: p, mask: m,
		bDesc: matrixDesc(f.R64[p.bDesc][l]), keep: scale>>l&1 != 0,
	}
	if p.aDesc >= 0 {
		s.aDesc = matrixDesc(f.R64[p.aDesc][l])
	} else {
		s.a = make([]uint32, warpRows*p.wordsA)
		p.ra.load(f, s.a)
	}
	if p.meta != nil {
		s.meta = f.R32[p.meta.slot]
	}
	s.announce()
	q.Items = append(q.Items, machine.QueuedProduct{Group: q.Groups, Frame: f, Sums: p.rc.slots, Run: s.run})
	if f.Block.Cluster.Async.Early() {
		q.FinishAll()
	}
}

// run computes the product.
func (s *startedProduct) run() {
	p, f := s.p, s.from.Frame
	w := f.Block.Cluster.Async.Matrix
	w.Resize(warpRows*p.wordsA, p.n*p.wordsB, warpRows*p.n)
	if p.meta != nil {
		w.Meta = p.meta.load(&s.meta, w.Meta)
	}
	if s.a != nil {
		copy(w.A, s.a)
	} else {
		s.aDesc.load(s.from, w.A, p.linesA(f))
	}
	s.bDesc.load(s.from, w.B, p.linesB())
	flipSigns(w.A, p.aFlip)
	flipSigns(w.B, p.bFlip)
	if p.half {
		p.rc.loadHalves(f, w.C)
	} else {
		p.rc.load(f, w.C)
	}
	p.multiply(w, warpRows, p.n, p.k, s.keep)
	if p.half {
		p.rc.storeHalves(f, s.mask, w.C)
	} else {
		p.rc.store(f, s.mask, w.C)
	}
	s.from.AnnounceCompletion(-1, 0, false)
}

// linesA returns the rows of a that a warp reads from shared memory.
func (p *groupProduct) linesA(f *frame) matrixLines {
	return matrixLines{f.Warp.ID % 4 * warpRows, warpRows, p.wordsA, p.aTransposed}
}

func (p *groupProduct) linesB() matrixLines { return matrixLines{0, p.n, p.wordsB, p.bTransposed} }

func flipSigns(words []uint32, sign uint32) {
	if sign == 0 {
		return
	}
	for i := range words {
		words[i] ^= sign
	}
}

// announce tells the observer of the cluster which shared memory the product will read.
func (s *startedProduct) announce() {
	f, p := s.from.Frame, s.p
	if f.Block.Watch == nil {
		return
	}
	if p.aDesc >= 0 {
		f.AnnounceUnits(s.mask, s.aDesc.units(s.from, p.linesA(f)), 16)
	}
	f.AnnounceUnits(s.mask, s.bDesc.units(s.from, p.linesB()), 16)
	f.AnnounceStart(-1, nil)
}
