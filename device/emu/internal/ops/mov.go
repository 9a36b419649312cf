package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
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
	case isVector(dst) && isVector(src), t == ptx.B128 && (isVector(dst) || isVector(src)):
		return repack(d, dst, src, t)
	case isVector(dst):
		return unpack(d, dst, src, t)
	case isVector(src):
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

// isVector reports whether an operand is a vector in braces or a whole vector register.
func isVector(o *ptx.Operand) bool {
	return o.Kind == ptx.VecOperand || o.Kind == ptx.RegOperand && o.Sym.Vec > 0 && o.Comp == 0
}

// pack builds a mov that packs the elements of a vector into one value of up to 64 bits, the
// first element in the lowest bits.
func pack(d *decoder, dst, src *ptx.Operand, t ptx.Type) exec {
	cs, size := parts(d, src, t, false)
	to := machine.Cell{Slot: d.Dst(dst, t), Width: machine.WidthOf(t)}
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

// repack builds a mov between two vectors that have the same number of bits, and a mov that packs
// or unpacks 128 bits.
func repack(d *decoder, dst, src *ptx.Operand, t ptx.Type) exec {
	from, fromBits := halves(d, src, t, false)
	to, toBits := halves(d, dst, t, true)
	fromBytes, toBytes := fromBits/8, toBits/8
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			var b [16 + 8]byte
			for i, c := range from {
				memory.PutWord(b[i*fromBytes:][:8], c.Get(f, l))
			}
			for i, c := range to {
				c.Set(f, l, memory.Word(b[i*toBytes:][:toBytes]), toBits)
			}
		})
	}
}

// halves is parts, and it also accepts a 128-bit register, whose parts are its 64-bit halves.
func halves(d *decoder, o *ptx.Operand, t ptx.Type, write bool) ([]machine.Cell, int) {
	if isVector(o) {
		return parts(d, o, t, write)
	}
	slot := d.Reg(o)
	return []machine.Cell{{Slot: slot, Width: machine.W64}, {Slot: slot + 1, Width: machine.W64}}, 64
}
