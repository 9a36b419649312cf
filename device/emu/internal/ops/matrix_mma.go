package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/tensor"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("mma", func(d *decoder, x *inst, o *op) { aligned(d, o, buildMMA(d, x)) })
}

// buildMMA builds mma.sync.
func buildMMA(d *decoder, x *inst) exec {
	ts, s := Types(x), Shape(x)
	switch {
	case ts[0] == "f64":
		a, b, c := layout.MMA(s, 64)
		return buildF64(d, x, s, a, b, c)
	case s == layout.Shape{M: 8, N: 8, K: 4}:
		return buildQuarters(d, x)
	}
	bits := kinds[ts[1]].Bits()
	a, b, c := layout.MMA(s, bits)
	p := warpProduct{
		product: productOf(d, x, tensor.MMA, ts[1], ts[2], ts[0]),
		shape:   s, depthA: s.K, bits: bits, d: ts[0], c: ts[3], at: [3]layout.Fragment{a, b, c},
	}
	if x.Arg("e") != nil {
		p.depthA = s.K / 2
		p.at[0], _, _ = layout.MMA(layout.Shape{M: s.M, N: s.N, K: p.depthA}, bits)
		p.product = sparseProduct{p.product, bits}
		p.meta = metadataOf(d, x, s, bits, "e", "f")
	}
	return buildWarpProduct(d, x, p)
}

// warpProduct is a product whose factors are in the registers of a warp.
type warpProduct struct {
	product
	shape  layout.Shape
	depthA int    // elements of a row of A: K, or half of it if A is sparse
	bits   int    // the bits of an element of a factor
	d, c   string // types of the result and the accumulator
	at     [3]layout.Fragment
	meta   *metadata // nil if A is not sparse

	ra, rb, rc, rd registers
}

// buildWarpProduct decodes the registers a, b, c and d.
func buildWarpProduct(d *decoder, x *inst, p warpProduct) exec {
	s := p.shape
	per := 32 / p.bits
	a, b, c := x.Arg("a"), x.Arg("b"), x.Arg("c")
	p.ra = places(p.at[0].At, p.at[0].Elements/per, per, byRow(p.depthA, per))
	p.rb = places(p.at[1].At, p.at[1].Elements/per, per, byColumn(s.K, per))
	p.rc = places(p.at[2].At, p.at[2].Elements, 1, byRow(s.N, 1))
	p.rd = p.rc
	p.ra.slots, p.rb.slots, p.rc.slots = d.Sources(a), d.Sources(b), d.Sources(c)
	p.rd.slots = d.Results(x.Arg("d"), ptx.B32)
	words := s.K / per
	return func(f *frame, m uint32) {
		w := f.Block.Cluster.Async.Matrix
		w.Resize(s.M*p.depthA/per, s.N*words, s.M*s.N)
		if p.meta != nil {
			w.Meta = p.meta.load(&f.R32[p.meta.slot], w.Meta)
		}
		p.ra.load(f, w.A)
		p.rb.load(f, w.B)
		loadAccumulator(f, &p.rc, p.c, p.d, w.C)
		p.multiply(w, s.M, s.N, s.K, true)
		storeAccumulator(f, m, &p.rd, p.d, p.c, w.C)
	}
}

// loadAccumulator reads c in the precision of the sum: the precision of d, or the
// precision of c if only c is f32.
func loadAccumulator(f *frame, r *registers, c, d string, to []uint32) {
	if c != "f16" {
		r.load(f, to)
		return
	}
	r.loadHalves(f, to)
	if d == "f32" {
		for i, v := range to {
			to[i] = scalar.CvtF32F16(uint16(v))
		}
	}
}

// storeAccumulator writes d.
func storeAccumulator(f *frame, m uint32, r *registers, d, c string, from []uint32) {
	if d != "f16" {
		r.store(f, m, from)
		return
	}
	if c == "f32" {
		for i, v := range from {
			from[i] = uint32(scalar.CvtF16F32(v))
		}
	}
	r.storeHalves(f, m, from)
}

// buildF64 builds a product of doubles. Each register holds one element.
func buildF64(d *decoder, x *inst, s layout.Shape, a, b, c layout.Fragment) exec {
	ra, rb := places(a.At, a.Elements, 1, byRow(s.K, 1)), places(b.At, b.Elements, 1, byColumn(s.K, 1))
	rc := places(c.At, c.Elements, 1, byRow(s.N, 1))
	slots := func(o *ptx.Operand) (s []slot) {
		for _, e := range machine.Elements(o) {
			s = append(s, d.Src64(e, ptx.F64))
		}
		return s
	}
	ra.slots, rb.slots, rc.slots = slots(x.Arg("a")), slots(x.Arg("b")), slots(x.Arg("c"))
	rd := rc
	rd.slots = d.Results(x.Arg("d"), ptx.F64)
	round := rounding(x.Mod("rnd"))
	fma := func(a, b, c uint64) uint64 { return scalar.FmaF64R(round, a, b, c) }
	return func(f *frame, m uint32) {
		va, vb, vc := make([]uint64, s.M*s.K), make([]uint64, s.N*s.K), make([]uint64, s.M*s.N)
		ra.loadWide(f, va)
		rb.loadWide(f, vb)
		rc.loadWide(f, vc)
		tensor.MulAddF64(vc, s.M, s.N, s.K, va, vb, vc, fma)
		for i, s := range rd.slots {
			machine.EachLane(m, func(l int) { f.R64[s][l] = vc[rd.reg[i]+rd.lane[l]] })
		}
	}
}

func rounding(mod string) scalar.Round {
	switch mod {
	case "rz":
		return scalar.RZ
	case "rm":
		return scalar.RM
	case "rp":
		return scalar.RP
	}
	return scalar.RN
}

// loadWide collects the elements of 64-bit registers.
func (r *registers) loadWide(f *frame, v []uint64) {
	for i, s := range r.slots {
		for l := range 32 {
			v[r.reg[i]+r.lane[l]] = f.R64[s][l]
		}
	}
}
