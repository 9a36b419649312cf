package emu

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/ptx"
)

// buildMov is mov: copies, packs and unpacks.
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
	case widthOf(t) == w128:
		to, from := d.dst(dst, t), d.src64(src, t)
		return func(f *frame, m uint32) {
			move(&f.r64[to], &f.r64[from], m)
			move(&f.r64[to+1], &f.r64[from+1], m)
		}
	case widthOf(t) == w64:
		to, from := d.dst(dst, t), d.src64(src, t)
		return func(f *frame, m uint32) { move(&f.r64[to], &f.r64[from], m) }
	}
	to, from := d.dst(dst, t), d.src32(src, t)
	return func(f *frame, m uint32) { move(&f.r32[to], &f.r32[from], m) }
}

// moveVector is mov.v2 and mov.v4: element by element.
func moveVector(d *decoder, dst, src *ptx.Operand, t ptx.Type) exec {
	var to, from []cell
	for _, e := range vector(src) {
		from = append(from, d.from(e, t))
	}
	for _, e := range vector(dst) {
		to = append(to, d.into(e, t))
	}
	return func(f *frame, m uint32) {
		var v [4]uint64
		eachLane(m, func(l int) {
			for i, c := range from {
				v[i] = c.get(f, l)
			}
			for i, c := range to {
				c.set(f, l, v[i], t.Bits())
			}
		})
	}
}

// move copies the lanes of m.
func move[E any](to, from *[32]E, m uint32) {
	if m == fullMask {
		*to = *from
		return
	}
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		to[l] = from[l]
	}
}

func movePred(d *decoder, dst, src *ptx.Operand) exec {
	to := d.dst(dst, ptx.Pred)
	from, neg := d.pred(src)
	return func(f *frame, m uint32) {
		v := f.p[from]
		if neg {
			v = ^v
		}
		f.setPred(to, m, v)
	}
}

// setPred gives the lanes m of a predicate the bits of v.
func (f *frame) setPred(p slot, m, v uint32) { f.p[p] = f.p[p]&^m | v&m }

// parts decodes the elements of a vector that is one value of type t in pieces.
func parts(d *decoder, o *ptx.Operand, t ptx.Type, write bool) (cs []cell, size int) {
	es := vector(o)
	size = t.Bits() / len(es)
	piece := map[int]ptx.Type{8: ptx.B8, 16: ptx.B16, 32: ptx.B32, 64: ptx.B64}[size]
	for _, e := range es {
		if write {
			cs = append(cs, d.into(e, piece))
		} else {
			cs = append(cs, d.from(e, piece))
		}
	}
	return cs, size
}

// pack puts pieces side by side, the first lowest.
func pack(d *decoder, dst, src *ptx.Operand, t ptx.Type) exec {
	cs, size := parts(d, src, t, false)
	to := cell{s: d.dst(dst, t), width: widthOf(t)}
	if to.width == w128 {
		return func(f *frame, m uint32) {
			eachLane(m, func(l int) { f.r64[to.s][l], f.r64[to.s+1][l] = cs[0].get(f, l), cs[1].get(f, l) })
		}
	}
	mask := uint64(1)<<size - 1
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			v := uint64(0)
			for i, c := range cs {
				v |= c.get(f, l) & mask << (i * size)
			}
			to.set(f, l, v, t.Bits())
		})
	}
}

// unpack takes a value apart, the lowest piece first.
func unpack(d *decoder, dst, src *ptx.Operand, t ptx.Type) exec {
	cs, size := parts(d, dst, t, true)
	from := d.from(src, t)
	if widthOf(t) == w128 {
		return func(f *frame, m uint32) {
			eachLane(m, func(l int) {
				lo, hi := f.r64[from.s][l], f.r64[from.s+1][l]
				cs[0].set(f, l, lo, 64)
				cs[1].set(f, l, hi, 64)
			})
		}
	}
	mask := uint64(1)<<size - 1
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			v := from.get(f, l)
			for i, c := range cs {
				c.set(f, l, v>>(i*size)&mask, size)
			}
		})
	}
}
