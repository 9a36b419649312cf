package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/tensor"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

// quarters is a decoded mma.sync.m8n8k4 of f16: four products of eight lanes each.
type quarters struct {
	a, b, c, d         []slot
	atA, atB, atC, atD layout.Map
	halfC, halfD       bool // f16, not f32
}

func buildQuarters(d *decoder, x *inst) exec {
	ts := Types(x)
	a, b, full, half := layout.Quarter(x.Mod("alayout") == "col", x.Mod("blayout") == "col")
	p := &quarters{
		a: d.Sources(x.Arg("a")), b: d.Sources(x.Arg("b")), c: d.Sources(x.Arg("c")), d: d.Results(x.Arg("d"), ptx.B32),
		atA: a.At, atB: b.At, atC: full.At, atD: full.At, halfC: ts[3] == "f16", halfD: ts[0] == "f16",
	}
	if p.halfC {
		p.atC = half.At
	}
	if p.halfD {
		p.atD = half.At
	}
	return func(f *frame, m uint32) {
		for q := range uint32(4) {
			p.run(f, m&(0x000f000f<<(4*q)))
		}
	}
}

// run multiplies the matrices of the lanes m.
func (p *quarters) run(f *frame, m uint32) {
	var a, b [32]uint32
	var c [64]uint32
	machine.EachLane(m, func(l int) {
		for i := range 4 {
			x, y := p.atA(l, i), p.atB(l, i)
			a[x.Row*4+x.Col], b[y.Col*4+y.Row] = halfOf(f, p.a, l, i), halfOf(f, p.b, l, i)
		}
		for i := range 8 {
			at := p.atC(l, i)
			c[at.Row*8+at.Col] = p.accumulator(f, l, i)
		}
	})
	tensor.MulAddQuarter(c[:], a[:], b[:], c[:], p.halfD)
	machine.EachLane(m, func(l int) {
		for i := range 8 {
			at := p.atD(l, i)
			v := c[at.Row*8+at.Col]
			if p.halfD {
				r, shift := &f.R32[p.d[i/2]][l], i%2*16
				*r = *r&^(0xffff<<shift) | v<<shift
			} else {
				f.R32[p.d[i]][l] = v
			}
		}
	})
}

// accumulator returns element i of a lane's c, in the type of d.
func (p *quarters) accumulator(f *frame, lane, i int) uint32 {
	switch {
	case !p.halfC:
		return f.R32[p.c[i]][lane]
	case !p.halfD:
		return scalar.CvtF32F16(uint16(halfOf(f, p.c, lane, i)))
	}
	return halfOf(f, p.c, lane, i)
}

// halfOf returns element i of a lane's registers of two halves.
func halfOf(f *frame, regs []slot, lane, i int) uint32 {
	return f.R32[regs[i/2]][lane] >> (i % 2 * 16) & 0xffff
}
