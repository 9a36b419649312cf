package ops

import (
	"math"
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	for _, op := range []string{"vadd", "vsub", "vabsdiff", "vmin", "vmax"} {
		build(op, func(d *decoder, x *inst) exec { return buildVideo(d, x, pairOps[op]) })
	}
	build("vshl", func(d *decoder, x *inst) exec { return buildVideo(d, x, videoShift(x)) })
	build("vshr", func(d *decoder, x *inst) exec { return buildVideo(d, x, videoShift(x)) })
	build("vset", func(d *decoder, x *inst) exec {
		cmp := x.Mod("cmp")
		return buildVideo(d, x, func(a, b int64) int64 { return compared(cmp, a, b) })
	})
	build("vmad", buildVideoMad)
}

// pairOps holds the arithmetic of the video instructions by the start of the opcode.
var pairOps = map[string]func(a, b int64) int64{
	"vadd":     func(a, b int64) int64 { return a + b },
	"vsub":     func(a, b int64) int64 { return a - b },
	"vmin":     func(a, b int64) int64 { return min(a, b) },
	"vmax":     func(a, b int64) int64 { return max(a, b) },
	"vabsdiff": func(a, b int64) int64 { return max(a, b) - min(a, b) },
	"vavrg": func(a, b int64) int64 { // rounded away from zero
		if a+b >= 0 {
			return (a + b + 1) >> 1
		}
		return (a + b) >> 1
	},
}

// compared returns 1 if a and b compare as the modifier says, else 0.
func compared(cmp string, a, b int64) int64 {
	ok := false
	switch cmp {
	case "eq":
		ok = a == b
	case "ne":
		ok = a != b
	case "lt":
		ok = a < b
	case "le":
		ok = a <= b
	case "gt":
		ok = a > b
	case "ge":
		ok = a >= b
	}
	if ok {
		return 1
	}
	return 0
}

// videoShift returns vshl or vshr. The count of a clamped shift is at most 32. A saturated result
// that does not fit 64 bits keeps its sign.
func videoShift(x *inst) func(a, b int64) int64 {
	wrap, left, sat := x.Mod("mode") == "wrap", x.Op.Name == "vshl", x.Has("sat")
	return func(a, b int64) int64 {
		n := min(uint32(b), 32)
		if wrap {
			n = uint32(b) & 31
		}
		switch {
		case !left:
			return a >> n
		case sat && n == 32 && a > 0:
			return math.MaxInt64
		case sat && n == 32 && a < 0:
			return math.MinInt64
		}
		return a << n
	}
}

// lanePart is the byte, half or word of a register that a selector names.
type lanePart struct{ shift, size int }

// partOf returns the part that a selector such as b3 or h1 names, or the whole word.
func partOf(o *ptx.Operand) lanePart {
	if o.Flags&ptx.Selector == 0 {
		return lanePart{0, 32}
	}
	word := o.Elems[0].Sym.Name
	size := 8
	if word[0] == 'h' {
		size = 16
	}
	return lanePart{int(word[1]-'0') * size, size}
}

// get returns the part of v, extended by its sign or by zeros.
func (p lanePart) get(v uint32, signed bool) int64 { return extend(v>>p.shift, p.size, signed) }

// put returns c with the part replaced by v.
func (p lanePart) put(c uint32, v int64) uint32 {
	mask := uint32(1<<p.size-1) << p.shift
	return c&^mask | uint32(v)<<p.shift&mask
}

// clamp limits v to the range of the part.
func (p lanePart) clamp(v int64, signed bool) int64 {
	if signed {
		return min(max(v, -1<<(p.size-1)), 1<<(p.size-1)-1)
	}
	return min(max(v, 0), 1<<p.size-1)
}

// extend returns the low bits of v, extended by their sign or by zeros.
func extend(v uint32, size int, signed bool) int64 {
	if signed {
		return int64(v) << (64 - size) >> (64 - size)
	}
	return int64(uint64(v) << (64 - size) >> (64 - size))
}

// videoSource is a source of a scalar video instruction.
type videoSource struct {
	slot   slot
	part   lanePart
	signed bool
}

func videoSourceOf(d *decoder, x *inst, name string) videoSource {
	o := x.Arg(name)
	return videoSource{d.Src32(o, x.Type(name)), partOf(o), x.Type(name) == ptx.S32}
}

func (s videoSource) at(f *frame, lane int) int64 { return s.part.get(f.R32[s.slot][lane], s.signed) }

// buildVideo builds a scalar video instruction: the operation on parts of a and b, saturation, and
// then a second operation on c or a merge with c.
func buildVideo(d *decoder, x *inst, do func(a, b int64) int64) exec {
	a, b := videoSourceOf(d, x, "a"), videoSourceOf(d, x, "b")
	to, part, signed := d.Dst(x.Arg("d"), ptx.B32), partOf(x.Arg("d")), x.Type("d") == ptx.S32
	sat, second := x.Has("sat"), x.Mod("op2")
	merge := x.Arg("d").Flags&ptx.Selector != 0
	var c slot
	if x.Arg("c") != nil {
		c = d.Src32(x.Arg("c"), ptx.B32)
	}
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			t := do(a.at(f, l), b.at(f, l))
			if sat {
				t = part.clamp(t, signed)
			}
			switch {
			case merge:
				f.R32[to][l] = part.put(f.R32[c][l], t)
			case second != "":
				f.R32[to][l] = uint32(secondOp(second, t<<31>>31, extend(f.R32[c][l], 32, signed))) // t has 33 bits
			default:
				f.R32[to][l] = uint32(t)
			}
		})
	}
}

func secondOp(op string, t, c int64) int64 {
	switch op {
	case "min":
		return min(t, c)
	case "max":
		return max(t, c)
	}
	return t + c
}

// buildVideoMad builds vmad. The product and the sum have 128 bits.
func buildVideoMad(d *decoder, x *inst) exec {
	a, b, c := videoSourceOf(d, x, "a"), videoSourceOf(d, x, "b"), videoSourceOf(d, x, "c")
	negative := func(name string) bool { return x.Arg(name).Flags&ptx.Minus != 0 }
	negProduct, negC := negative("a") != negative("b"), negative("c")
	signed := a.signed || b.signed || negProduct || negC
	plusOne, sat := x.Has("po"), x.Has("sat")
	shift := map[string]uint{"shr7": 7, "shr15": 15}[x.Mod("scale")]
	to := d.Dst(x.Arg("d"), ptx.B32)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			t := product128(a.at(f, l), b.at(f, l))
			v := f.R32[c.slot][l]
			one := uint64(0)
			switch {
			case plusOne:
				one = 1
			case negProduct:
				t, one = wide{^t.hi, ^t.lo}, 1
			case negC:
				v, one = ^v, 1
			}
			addend := wide{lo: uint64(v)}
			if signed {
				addend.lo = uint64(int64(int32(v)))
				addend.hi = uint64(int64(int32(v)) >> 63)
			}
			r := t.add(addend).add(wide{lo: one}).shiftRight(shift)
			if sat {
				r = clampMad(r, signed)
			}
			f.R32[to][l] = uint32(r)
		})
	}
}

// clampMad limits a result to 32 bits.
func clampMad(r uint64, signed bool) uint64 {
	if signed {
		return uint64(min(max(int64(r), math.MinInt32), math.MaxInt32))
	}
	return min(r, math.MaxUint32)
}

// wide is a number of 128 bits.
type wide struct{ hi, lo uint64 }

// product128 returns the product of two signed numbers.
func product128(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	if (a < 0) != (b < 0) {
		return wide{^hi, ^lo}.add(wide{lo: 1})
	}
	return wide{hi, lo}
}

func (w wide) add(v wide) wide {
	lo, carry := bits.Add64(w.lo, v.lo, 0)
	hi, _ := bits.Add64(w.hi, v.hi, carry)
	return wide{hi, lo}
}

// shiftRight returns the low 64 bits of w >> n for n below 64.
func (w wide) shiftRight(n uint) uint64 {
	if n == 0 {
		return w.lo
	}
	return w.lo>>n | w.hi<<(64-n)
}
