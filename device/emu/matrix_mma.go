package emu

import (
	"attest/device/emu/num"
	"attest/device/emu/tensor"
	"attest/device/emu/tensor/layout"
	"attest/ptx"
)

func init() {
	control("mma", func(d *decoder, x *inst, o *op) { aligned(d, o, buildMMA(d, x)) })
}

// buildMMA is mma.sync.
func buildMMA(d *decoder, x *inst) exec {
	ts, s := x.types(), x.shape()
	switch {
	case ts[0] == "f64":
		a, b, c := layout.MMA(s, 64)
		return buildF64(d, x, s, a, b, c)
	case s == layout.Shape{M: 8, N: 8, K: 4}:
		return buildQuarters(d, x)
	}
	a, b, c := layout.MMA(s, kinds[ts[1]].Bits())
	return buildWarpProduct(d, x, warpProduct{
		product: d.product(x, tensor.MMA, ts[1], ts[2], ts[0]),
		shape:   s, bits: kinds[ts[1]].Bits(), d: ts[0], c: ts[3], at: [3]layout.Fragment{a, b, c},
	})
}

// warpProduct is a product whose factors are in the registers of a warp.
type warpProduct struct {
	product
	shape layout.Shape
	bits  int    // of an element of a factor
	d, c  string // types of the result and the accumulator
	at    [3]layout.Fragment

	ra, rb, rc, rd registers
}

// buildWarpProduct decodes the registers a, b, c and d.
func buildWarpProduct(d *decoder, x *inst, p warpProduct) exec {
	s := p.shape
	per := 32 / p.bits
	a, b, c := x.arg("a"), x.arg("b"), x.arg("c")
	p.ra = places(p.at[0].At, p.at[0].Elements/per, per, byRow(s.K, per))
	p.rb = places(p.at[1].At, p.at[1].Elements/per, per, byColumn(s.K, per))
	p.rc = places(p.at[2].At, p.at[2].Elements, 1, byRow(s.N, 1))
	p.rd = p.rc
	p.ra.slots, p.rb.slots, p.rc.slots = d.sources(a), d.sources(b), d.sources(c)
	p.rd.slots = d.results(x.arg("d"), ptx.B32)
	words := s.K / per
	return func(f *frame, m uint32) {
		w := &f.b.cluster.async.matrix
		w.size(s.M*words, s.N*words, s.M*s.N)
		p.ra.load(f, w.a)
		p.rb.load(f, w.b)
		loadAccumulator(f, &p.rc, p.c, p.d, w.c)
		p.multiply(w, s.M, s.N, s.K, true)
		storeAccumulator(f, m, &p.rd, p.d, p.c, w.c)
	}
}

// loadAccumulator reads c in the precision in which the product is summed: that of
// d or, when c alone is f32, that of c.
func loadAccumulator(f *frame, r *registers, c, d string, to []uint32) {
	if c != "f16" {
		r.load(f, to)
		return
	}
	r.loadHalves(f, to)
	if d == "f32" {
		for i, v := range to {
			to[i] = num.CvtF32F16(uint16(v))
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
			from[i] = uint32(num.CvtF16F32(v))
		}
	}
	r.storeHalves(f, m, from)
}

// buildF64 is a product of doubles; each register has one element.
func buildF64(d *decoder, x *inst, s layout.Shape, a, b, c layout.Fragment) exec {
	ra, rb := places(a.At, a.Elements, 1, byRow(s.K, 1)), places(b.At, b.Elements, 1, byColumn(s.K, 1))
	rc := places(c.At, c.Elements, 1, byRow(s.N, 1))
	slots := func(o *ptx.Operand) (s []slot) {
		for _, e := range d.vector(o) {
			s = append(s, d.src64(e, ptx.F64))
		}
		return s
	}
	ra.slots, rb.slots, rc.slots = slots(x.arg("a")), slots(x.arg("b")), slots(x.arg("c"))
	rd := rc
	rd.slots = d.results(x.arg("d"), ptx.F64)
	round := rounding(x.mod("rnd"))
	return func(f *frame, m uint32) {
		va, vb, vc := make([]uint64, s.M*s.K), make([]uint64, s.N*s.K), make([]uint64, s.M*s.N)
		ra.loadWide(f, va)
		rb.loadWide(f, vb)
		rc.loadWide(f, vc)
		multiplyF64(round, vc, va, vb, s.M, s.N, s.K)
		for i, s := range rd.slots {
			eachLane(m, func(l int) { f.r64[s][l] = vc[rd.reg[i]+rd.lane[l]] })
		}
	}
}

func rounding(mod string) num.Round {
	switch mod {
	case "rz":
		return num.RZ
	case "rm":
		return num.RM
	case "rp":
		return num.RP
	}
	return num.RN
}

// loadWide collects the elements of 64-bit registers.
func (r *registers) loadWide(f *frame, v []uint64) {
	for i, s := range r.slots {
		for l := range 32 {
			v[r.reg[i]+r.lane[l]] = f.r64[s][l]
		}
	}
}

// buildQuarters is mma.sync.m8n8k4 of f16: four products of eight lanes each.
func buildQuarters(d *decoder, x *inst) exec {
	ts := x.types()
	p := d.product(x, tensor.MMA, ts[1], ts[2], sumType(ts[0], ts[3]))
	a, b, full, half := layout.Quarter(x.mod("alayout") == "col", x.mod("blayout") == "col")
	place := func(t string) layout.Map {
		if t == "f16" {
			return half.At
		}
		return full.At
	}
	ra, rb, rc := d.sources(x.arg("a")), d.sources(x.arg("b")), d.sources(x.arg("c"))
	rd := d.results(x.arg("d"), ptx.B32)
	cAt, dAt := place(ts[3]), place(ts[0])
	return func(f *frame, m uint32) {
		for q := range 4 {
			w := &f.b.cluster.async.matrix
			w.size(16, 16, 64)
			clear(w.a)
			clear(w.b)
			for l := range 32 {
				if layout.QuarterOf(l) != q {
					continue
				}
				for i := range 4 {
					pa, pb := a.At(l, i), b.At(l, i)
					ia, ib := pa.Row*4+pa.Col, pb.Col*4+pb.Row
					w.a[ia/2] |= halfOf(f, ra, l, i) << (ia % 2 * 16)
					w.b[ib/2] |= halfOf(f, rb, l, i) << (ib % 2 * 16)
				}
				for i := range 8 {
					at := cAt(l, i)
					w.c[at.Row*8+at.Col] = quarterIn(f, rc, l, i, ts[3], ts[0])
				}
			}
			p.multiply(w, 8, 8, 4, true)
			for l := range 32 {
				if layout.QuarterOf(l) != q || m>>l&1 == 0 {
					continue
				}
				for i := range 8 {
					at := dAt(l, i)
					quarterOut(f, rd, l, i, ts[0], ts[3], w.c[at.Row*8+at.Col])
				}
			}
		}
	}
}

// sumType is the type in which a product is summed.
func sumType(d, c string) string {
	if c == "f32" {
		return c
	}
	return d
}

// halfOf is element i of a lane's registers of two halves.
func halfOf(f *frame, regs []slot, lane, i int) uint32 {
	return f.r32[regs[i/2]][lane] >> (i % 2 * 16) & 0xffff
}

func quarterIn(f *frame, regs []slot, lane, i int, c, d string) uint32 {
	switch {
	case c == "f32":
		return f.r32[regs[i]][lane]
	case d == "f32":
		return num.CvtF32F16(uint16(halfOf(f, regs, lane, i)))
	}
	return halfOf(f, regs, lane, i)
}

func quarterOut(f *frame, regs []slot, lane, i int, d, c string, v uint32) {
	if d == "f32" {
		f.r32[regs[i]][lane] = v
		return
	}
	if c == "f32" {
		v = uint32(num.CvtF16F32(v))
	}
	r, shift := &f.r32[regs[i/2]][lane], i%2*16
	*r = *r&^(0xffff<<shift) | v<<shift
}
