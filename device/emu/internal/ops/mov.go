package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// buildMov builds mov: copies, packs and unpacks.
func buildMov(d *decoder, x *inst) exec {
	dst, src := x.Arg("d"), x.Arg("a")
	t := x.Type("d")
	switch {
	case x.Mod("vec") != "":
		return moveVector(d, dst, src, t)
	case t == ptx.Pred:
		return movePred(d, dst, src)
	case dst.Kind == ptx.VecOperand:
		return unpack(d, dst, src, t)
	case src.Kind == ptx.VecOperand:
		return pack(d, dst, src, t)
	case machine.WidthOf(t) == machine.W128:
		to, from := d.Dst(dst, t), d.Src64(src, t)
		return func(f *frame, m uint32) {
			machine.MoveLanes(&f.R64[to], &f.R64[from], m)
			machine.MoveLanes(&f.R64[to+1], &f.R64[from+1], m)
		}
	case machine.WidthOf(t) == machine.W64:
		to, from := d.Dst(dst, t), d.Src64(src, t)
		return func(f *frame, m uint32) { machine.MoveLanes(&f.R64[to], &f.R64[from], m) }
	}
	to, from := d.Dst(dst, t), d.Src32(src, t)
	return func(f *frame, m uint32) { machine.MoveLanes(&f.R32[to], &f.R32[from], m) }
}

// moveVector builds mov.v2 and mov.v4, which move element by element.
func moveVector(d *decoder, dst, src *ptx.Operand, t ptx.Type) exec {
	var to, from []machine.Cell
	for _, e := range machine.Elements(src) {
		from = append(from, d.StoreSrc(e, t))
	}
	for _, e := range machine.Elements(dst) {
		to = append(to, d.LoadDst(e, t))
	}
	return func(f *frame, m uint32) {
		var v [4]uint64
		machine.EachLane(m, func(l int) {
			for i, c := range from {
				v[i] = c.Get(f, l)
			}
			for i, c := range to {
				c.Set(f, l, v[i], t.Bits())
			}
		})
	}
}

func movePred(d *decoder, dst, src *ptx.Operand) exec {
	to := d.Dst(dst, ptx.Pred)
	from, neg := d.Pred(src)
	return func(f *frame, m uint32) {
		v := f.Pred[from]
		if neg {
			v = ^v
		}
		f.SetPred(to, m, v)
	}
}

// parts decodes the elements of a vector that together are one value of type t.
func parts(d *decoder, o *ptx.Operand, t ptx.Type, write bool) (cs []machine.Cell, size int) {
	es := machine.Elements(o)
	size = t.Bits() / len(es)
	piece := map[int]ptx.Type{8: ptx.B8, 16: ptx.B16, 32: ptx.B32, 64: ptx.B64}[size]
	for _, e := range es {
		if write {
			cs = append(cs, d.LoadDst(e, piece))
		} else {
			cs = append(cs, d.StoreSrc(e, piece))
		}
	}
	return cs, size
}

// pack builds a mov that packs the elements of a vector into one value, the first element
// in the lowest bits.
func pack(d *decoder, dst, src *ptx.Operand, t ptx.Type) exec {
	cs, size := parts(d, src, t, false)
	to := machine.Cell{Slot: d.Dst(dst, t), Width: machine.WidthOf(t)}
	if to.Width == machine.W128 {
		return func(f *frame, m uint32) {
			machine.EachLane(m, func(l int) { f.R64[to.Slot][l], f.R64[to.Slot+1][l] = cs[0].Get(f, l), cs[1].Get(f, l) })
		}
	}
	mask := uint64(1)<<size - 1
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			v := uint64(0)
			for i, c := range cs {
				v |= c.Get(f, l) & mask << (i * size)
			}
			to.Set(f, l, v, t.Bits())
		})
	}
}

// unpack builds the inverse of pack.
func unpack(d *decoder, dst, src *ptx.Operand, t ptx.Type) exec {
	cs, size := parts(d, dst, t, true)
	from := d.StoreSrc(src, t)
	if machine.WidthOf(t) == machine.W128 {
		return func(f *frame, m uint32) {
			machine.EachLane(m, func(l int) {
				lo, hi := f.R64[from.Slot][l], f.R64[from.Slot+1][l]
				cs[0].Set(f, l, lo, 64)
				cs[1].Set(f, l, hi, 64)
			})
		}
	}
	mask := uint64(1)<<size - 1
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			v := from.Get(f, l)
			for i, c := range cs {
				c.Set(f, l, v>>(i*size)&mask, size)
			}
		})
	}
}
