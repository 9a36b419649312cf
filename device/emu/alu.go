package emu

import "math/bits"

// The shapes most instructions have: one to three sources, a result, each of them
// a lane in a 32- or 64-bit register. The functions get values extended by zeros;
// what they return is cut to the register's width.

func un32(d, a slot, fn func(a uint32) uint32) exec {
	return func(f *frame, m uint32) {
		rd, ra := &f.r32[d], &f.r32[a]
		if m == fullMask {
			for l := range rd {
				rd[l] = fn(ra[l])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			rd[l] = fn(ra[l])
		}
	}
}

func bin32(d, a, b slot, fn func(a, b uint32) uint32) exec {
	return func(f *frame, m uint32) {
		rd, ra, rb := &f.r32[d], &f.r32[a], &f.r32[b]
		if m == fullMask {
			for l := range rd {
				rd[l] = fn(ra[l], rb[l])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			rd[l] = fn(ra[l], rb[l])
		}
	}
}

func tern32(d, a, b, c slot, fn func(a, b, c uint32) uint32) exec {
	return func(f *frame, m uint32) {
		rd, ra, rb, rc := &f.r32[d], &f.r32[a], &f.r32[b], &f.r32[c]
		if m == fullMask {
			for l := range rd {
				rd[l] = fn(ra[l], rb[l], rc[l])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			rd[l] = fn(ra[l], rb[l], rc[l])
		}
	}
}

func un64(d, a slot, fn func(a uint64) uint64) exec {
	return func(f *frame, m uint32) {
		rd, ra := &f.r64[d], &f.r64[a]
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			rd[l] = fn(ra[l])
		}
	}
}

func bin64(d, a, b slot, fn func(a, b uint64) uint64) exec {
	return func(f *frame, m uint32) {
		rd, ra, rb := &f.r64[d], &f.r64[a], &f.r64[b]
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			rd[l] = fn(ra[l], rb[l])
		}
	}
}

func tern64(d, a, b, c slot, fn func(a, b, c uint64) uint64) exec {
	return func(f *frame, m uint32) {
		rd, ra, rb, rc := &f.r64[d], &f.r64[a], &f.r64[b], &f.r64[c]
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			rd[l] = fn(ra[l], rb[l], rc[l])
		}
	}
}

// perLane is an instruction of any shape: values come and go through cells.
func perLane(dst cell, width int, srcs []cell, fn func(v []uint64) uint64) exec {
	return func(f *frame, m uint32) {
		var v [4]uint64
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			for i, s := range srcs {
				v[i] = s.get(f, l)
			}
			dst.set(f, l, fn(v[:len(srcs)]), width)
		}
	}
}

// anyShape decodes an instruction whose destination and sources are values of
// whatever widths the table gives them, by the names of its operands.
func anyShape(d *decoder, x *inst, dst string, srcs []string, fn func(v []uint64) uint64) exec {
	t := x.typ(dst)
	to := d.into(x.arg(dst), t)
	var from []cell
	for _, s := range srcs {
		from = append(from, d.from(x.arg(s), x.typ(s)))
	}
	return perLane(to, registerBits(x.arg(dst), t), from, fn)
}

// predOf collects a predicate from a condition on each lane.
func (f *frame) predOf(p slot, m uint32, cond func(lane int) bool) {
	var v uint32
	for rest := m; rest != 0; rest &= rest - 1 {
		if l := bits.TrailingZeros32(rest); cond(l) {
			v |= 1 << l
		}
	}
	f.setPred(p, m, v)
}
