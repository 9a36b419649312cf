package emu

import (
	"fmt"
	"math/bits"

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
			aligned(d, o, func(f *frame, m uint32) { f.w.commitProducts() })
		case x.Has("wait_group"):
			g := groupWait(x.Arg("N").Val)
			o.kind, o.try, o.why = opTry, g.try, g.why
		default:
			aligned(d, o, func(*frame, uint32) {}) // fence: registers are read in order here
		}
	})
}

// groupProduct is a decoded wgmma.mma_async. Each warp of the group multiplies its
// 16 of the 64 rows.
type groupProduct struct {
	product
	n, k         int
	words        int // of a row of either factor: always 32 bytes
	ra           registers
	aDesc, bDesc slot
	scaleD       slot
	not          bool
	aTurned      bool // a is stored by columns
	bTurned      bool // b is stored by rows
	aFlip, bFlip uint32
	rc           registers
	half         bool
}

// startedProduct is a wgmma that has not taken effect.
type startedProduct struct {
	from         origin
	p            *groupProduct
	mask         uint32
	a            []uint32 // from registers, or nil
	aDesc, bDesc matrixDesc
	keep         bool
}

// queuedProduct is a wgmma that has not taken effect.
type queuedProduct struct {
	group uint32
	run   func()
}

// productQueue holds the wgmma instructions of a warp that have not taken effect.
type productQueue struct {
	items   []queuedProduct
	groups  uint32
	last    uint32 // groups up to that of the last product
	waiting bool   // for the other warps of the group
}

// finish carries out the products of the first n groups.
func (q *productQueue) finish(groups uint32) {
	n := 0
	for n < len(q.items) && q.items[n].group < groups {
		q.items[n].run()
		n++
	}
	rest := copy(q.items, q.items[n:])
	clear(q.items[rest:])
	q.items = q.items[:rest]
}

// finishAll carries out all products.
func (q *productQueue) finishAll() {
	for i := range q.items {
		q.items[i].run()
	}
	clear(q.items)
	q.items = q.items[:0]
}

// warpgroup is the warps that multiply together with this one.
func (w *warp) warpgroup() []*warp {
	first := w.id &^ 3
	return w.b.warps[first:min(first+4, len(w.b.warps))]
}

func (w *warp) commitProducts() {
	w.async.products.groups++
	for _, mate := range w.warpgroup() {
		if mate.async.products.waiting {
			w.b.changed()
			return
		}
	}
}

// groupWait is wgmma.wait_group of all but so many groups. A product is the work of
// four warps: it ends when all of them have started it, and then for all of them.
// One thread may tell others that its factors are no longer needed.
type groupWait uint32

// due is how many groups must have ended.
func (g groupWait) due(w *warp) uint32 {
	q := &w.async.products
	if q.groups < uint32(g) {
		return 0
	}
	return min(q.groups-uint32(g), q.last)
}

func (g groupWait) try(f *frame, m uint32) status {
	w := f.w
	q := &w.async.products
	q.waiting = m != w.lanes&^w.exited || g.awaited(w) != nil
	if q.waiting {
		return again
	}
	due := g.due(w)
	for _, mate := range w.warpgroup() {
		mate.async.products.finish(due)
	}
	return done
}

// awaited is a warp that has not committed the groups that are due, or nil.
func (g groupWait) awaited(w *warp) *warp {
	for _, mate := range w.warpgroup() {
		if mate.async.products.groups < g.due(w) && mate.lanes&^mate.exited != 0 {
			return mate
		}
	}
	return nil
}

// why says which warp a wait needs.
func (g groupWait) why(f *frame, m uint32) string {
	if live := f.w.lanes &^ f.w.exited; m != live {
		return fmt.Sprintf("waits for lanes %08x of its warp", live&^m)
	}
	mate := g.awaited(f.w)
	if mate == nil {
		return ""
	}
	return fmt.Sprintf("waits for group %d of wgmma, which warp %d of the warpgroup has not committed", g.due(f.w), mate.id)
}

const warpRows = 16

func buildGroupProduct(d *decoder, x *inst) exec {
	ts, s := types(x), shape(x)
	size := kinds[ts[1]].Bits()
	per := 32 / size
	p := &groupProduct{
		product: d.product(x, tensor.WGMMA, ts[1], ts[2], ts[0]),
		n:       s.N, k: s.K, words: s.K / per, aDesc: -1,
		bDesc: d.src64(x.Arg("bDesc"), ptx.B64), half: ts[0] == "f16",
		aTurned: flag(x, "immTransA"), bTurned: flag(x, "immTransB"),
		aFlip: signFlip(x, "immScaleA", size), bFlip: signFlip(x, "immScaleB", size),
	}
	p.scaleD, p.not = d.pred(x.Arg("scaleD"))
	atA, _, _ := layout.MMA(layout.Shape{M: warpRows, N: 8, K: s.K}, size)
	_, atC := layout.WGMMA(s, size)
	p.rc = places(atC.At, atC.Elements, 1, byRow(s.N, 1))
	p.rc.slots = d.results(x.Arg("d"), ptx.B32)
	if o := x.Arg("a"); o != nil {
		p.ra = places(atA.At, atA.Elements/per, per, byRow(s.K, per))
		p.ra.slots = d.sources(o)
	} else {
		p.aDesc = d.src64(x.Arg("aDesc"), ptx.B64)
	}
	return p.start
}

// flag is an immediate operand that is 0 or 1, or left out.
func flag(x *inst, name string) bool {
	o := x.Arg(name)
	return o != nil && o.Val == 1
}

// signFlip is what negates the elements of a word when the scale is -1.
func signFlip(x *inst, scale string, size int) uint32 {
	if o := x.Arg(scale); o == nil || o.Val != -1 {
		return 0
	}
	return map[int]uint32{8: 0x80808080, 16: 0x80008000, 32: 0x80000000}[size]
}

// start takes note of a product with what it needs of registers other than the
// accumulator.
func (p *groupProduct) start(f *frame, m uint32) {
	l := bits.TrailingZeros32(m)
	if last := f.w.id | 3; last >= len(f.b.warps) {
		f.raise(-1, "a warpgroup is four warps; this one lacks warp %d", last)
	}
	q := &f.w.async.products
	q.last = q.groups + 1
	scale := f.p[p.scaleD]
	if p.not {
		scale = ^scale
	}
	s := &startedProduct{
		from: f.origin(-1), p: p, mask: m,
		bDesc: matrixDesc(f.r64[p.bDesc][l]), keep: scale>>l&1 != 0,
	}
	if p.aDesc >= 0 {
		s.aDesc = matrixDesc(f.r64[p.aDesc][l])
	} else {
		s.a = make([]uint32, warpRows*p.words)
		p.ra.load(f, s.a)
	}
	s.announce()
	q.items = append(q.items, queuedProduct{q.groups, s.run})
	if f.b.cluster.async.early() {
		q.finishAll()
	}
}

// run multiplies.
func (s *startedProduct) run() {
	p, f := s.p, s.from.f
	w := &f.b.cluster.async.matrix
	w.size(warpRows*p.words, p.n*p.words, warpRows*p.n)
	if s.a != nil {
		copy(w.a, s.a)
	} else {
		s.aDesc.load(s.from, w.a, f.w.id%4*warpRows, warpRows, p.aTurned)
	}
	s.bDesc.load(s.from, w.b, 0, p.n, p.bTurned)
	flip(w.a, p.aFlip)
	flip(w.b, p.bFlip)
	if p.half {
		p.rc.loadHalves(f, w.c)
	} else {
		p.rc.load(f, w.c)
	}
	p.multiply(w, warpRows, p.n, p.k, s.keep)
	if p.half {
		p.rc.storeHalves(f, s.mask, w.c)
	} else {
		p.rc.store(f, s.mask, w.c)
	}
	s.from.completed(-1, 0, false)
}

func flip(words []uint32, sign uint32) {
	if sign == 0 {
		return
	}
	for i := range words {
		words[i] ^= sign
	}
}

// announce tells the cluster's observer what the product will read.
func (s *startedProduct) announce() {
	f, p := s.from.f, s.p
	if f.b.watch == nil {
		return
	}
	if p.aDesc >= 0 {
		f.touchedUnits(s.mask, s.aDesc.units(s.from, f.w.id%4*warpRows, warpRows, p.aTurned), 16)
	}
	f.touchedUnits(s.mask, s.bDesc.units(s.from, 0, p.n, p.bTurned), 16)
	f.started(-1, nil)
}
