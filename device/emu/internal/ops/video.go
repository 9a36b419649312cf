package ops

import (
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

// videoShift returns vshl or vshr. The count of a clamped shift is at most 32.
func videoShift(x *inst) func(a, b int64) int64 {
	wrap, left := x.Mod("mode") == "wrap", x.Op.Name == "vshl"
	return func(a, b int64) int64 {
		n := min(uint32(b), 32)
		if wrap {
			n = uint32(b) & 31
		}
		if left {
			return a << n
		}
		return a >> n
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
	to, part := d.Dst(x.Arg("d"), ptx.B32), partOf(x.Arg("d"))
	merge, second := x.Arg("d").Flags&ptx.Selector != 0, x.Mod("op2")
	v := videoResult{signed: x.Type("d") == ptx.S32, sat: x.Has("sat"), op: x.Op.Name}
	if v.op == "vset" {
		v.signed = a.signed
	}
	var c slot
	if x.Arg("c") != nil {
		c = d.Src32(x.Arg("c"), ptx.B32)
	}
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			t := do(a.at(f, l), b.at(f, l))
			switch {
			case merge:
				f.R32[to][l] = v.merge(part, f.R32[c][l], t)
			case second != "":
				f.R32[to][l] = v.second(second, t, f.R32[c][l])
			default:
				f.R32[to][l] = uint32(v.saturated(t))
			}
		})
	}
}

// videoResult says how the 64-bit result of the first operation of a scalar video instruction is used. GPUs
// since Maxwell have no such instructions. The rules are those of the code that NVIDIA's assembler
// writes for sm_90, which differs from the PTX manual: see D41.
type videoResult struct {
	signed, sat bool
	op          string
}

// shifts reports whether the operation is a shift. Only shifts saturate as the manual says.
func (v *videoResult) shifts() bool { return v.op == "vshl" || v.op == "vshr" }

// saturated returns a result without a selector.
func (v *videoResult) saturated(t int64) int64 {
	switch {
	case !v.sat:
		return t
	case v.shifts():
		return lanePart{0, 32}.clamp(t<<30>>30, v.signed) // t has 34 bits
	case v.signed:
		return lanePart{0, 32}.clamp(t, true)
	}
	return max(t, 0) // too large a number is not limited
}

// merge returns c with a part replaced by the result. Saturation compares unsigned numbers, so that a
// negative number becomes the largest one. The upper half is replaced by the upper half of the result.
func (v *videoResult) merge(part lanePart, c uint32, t int64) uint32 {
	switch {
	case v.sat && v.shifts():
		t = v.saturated(t)
	case v.sat:
		limit := uint64(1)<<part.size - 1
		if v.signed {
			limit >>= 1
		}
		t = int64(min(uint64(t), limit))
	}
	if part == (lanePart{16, 16}) {
		t >>= 16
	}
	return part.put(c, t)
}

// second returns the result of the second operation. Sums, differences and saturated shifts have 32 bits here, and
// their sign counts even if the result is unsigned.
func (v *videoResult) second(op string, t int64, c uint32) uint32 {
	t = v.saturated(t)
	if v.op == "vadd" || v.op == "vsub" || v.sat && v.shifts() {
		t = int64(int32(t))
	}
	less := uint64(t) < uint64(c)
	if v.signed {
		less = t < int64(int32(c))
	}
	switch {
	case op == "add":
		return uint32(t) + c
	case less == (op == "min"):
		return uint32(t)
	}
	return c
}

// buildVideoMad builds vmad. The factors and c are signed numbers of 32 bits, whatever their types, and
// the product and the sum have 64 bits: see D41.
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
			t := int64(int32(a.at(f, l))) * int64(int32(b.at(f, l)))
			v := int64(int32(f.R32[c.slot][l]))
			if negProduct {
				t = -t
			}
			if negC {
				v = -v
			}
			t += v
			if plusOne {
				t++
			}
			if signed {
				t >>= shift
			} else {
				t = int64(uint64(t) >> shift)
			}
			if sat {
				t = lanePart{0, 32}.clamp(t, signed)
			}
			f.R32[to][l] = uint32(t)
		})
	}
}
