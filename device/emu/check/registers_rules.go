package check

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The rules say which bits of a result are undefined if bits of the operands are. They are exact
// where compilers rely on it: for bit fields, packed halves and masks. Otherwise one undefined
// bit makes the whole result undefined.

// ruleOf returns the rule of an instruction that works in each lane separately.
func ruleOf(in *observe.Inst) func(x *undefStep, lane int) uint64 {
	float := false
	for i := range in.Match.Form.Params {
		c := in.Match.Type(&in.Match.Form.Params[i]).Class()
		float = float || c == ptx.ClassFloat || c == ptx.ClassPacked
	}
	switch name := in.Op.Name; name {
	case "and", "or", "xor", "not", "lop3":
		return undefLogic
	case "shl", "shr", "shf", "prmt", "bfe", "bfi":
		return undefShifts[name]
	case "cvta", "selp", "slct", "setp":
		return map[string]func(*undefStep, int) uint64{
			"cvta": undefCopy, "selp": undefSelect, "slct": undefSpread, "setp": undefCompare,
		}[name]
	case "add", "sub", "neg", "mul", "mad":
		if !float && !in.Op.Has("sat") && !in.Op.Has("cc") {
			return undefSum
		}
	case "cvt":
		return undefConvert(in, float)
	}
	return undefSpread
}

// undefSpread makes the result undefined if an operand is. Packed halves are separate.
func undefSpread(x *undefStep, lane int) uint64 {
	var any uint64
	for i := range x.p.src {
		any |= x.bits(&x.p.src[i], lane)
	}
	if x.p.halves {
		return undefAll(any&0xffff)&0xffff | undefAll(any>>16)<<16
	}
	return undefAll(any)
}

// undefAll returns 0 if u is 0, else all ones.
func undefAll(u uint64) uint64 {
	if u == 0 {
		return 0
	}
	return 1<<64 - 1
}

func undefCopy(x *undefStep, lane int) uint64 { return x.bits(&x.p.src[0], lane) }

// undefLogic tries both values of each undefined bit. A bit of the result is defined if it is
// always the same.
func undefLogic(x *undefStep, lane int) uint64 {
	src := x.p.src
	if x.Op.Name == "xor" && sameRegister(&src[0], &src[1]) {
		return 0
	}
	var v, u [4]uint64
	n := min(len(src), 3)
	for i := range n {
		v[i], u[i] = x.value(&src[i], lane), x.bits(&src[i], lane)
	}
	if len(src) > n && x.bits(&src[n], lane) != 0 { // the predicate of lop3.bool
		return 1<<64 - 1
	}
	table := byte(0)
	switch x.Op.Name {
	case "and":
		table = 0xf0 & 0xcc
	case "or":
		table = 0xf0 | 0xcc
	case "xor":
		table = 0xf0 ^ 0xcc
	case "not":
		table = 0x0f
	case "lop3":
		table = byte(x.Arg("immLut").Val)
	}
	all, one := uint64(1<<64-1), uint64(0)
	for choice := range 1 << n {
		var w [3]uint64
		for i := range n {
			if w[i] = v[i] &^ u[i]; choice>>i&1 != 0 {
				w[i] = v[i] | u[i]
			}
		}
		r := truth(table, w[0], w[1], w[2])
		all &= r
		one |= r
	}
	u[3] = all ^ one
	if len(x.p.dst) > 1 && u[3] != 0 { // lop3.bool writes a predicate, too
		return 1<<64 - 1
	}
	return u[3]
}

// truth applies a truth table to three words. Bit 4a+2b+c of the table is the result for the bits
// a, b and c.
func truth(table byte, a, b, c uint64) (r uint64) {
	for i := range 8 {
		if table>>i&1 == 0 {
			continue
		}
		m := uint64(1<<64 - 1)
		for k, w := range [3]uint64{a, b, c} {
			if i>>(2-k)&1 != 0 {
				m &= w
			} else {
				m &^= w
			}
		}
		r |= m
	}
	return r
}

func sameRegister(a, b *undefArg) bool { return a.reg >= 0 && a.reg == b.reg }

// undefSum is the rule of integer sums and products: carries make all bits above the lowest
// undefined bit undefined.
func undefSum(x *undefStep, lane int) uint64 {
	src := x.p.src
	u := x.bits(&src[0], lane)
	if len(src) > 1 {
		u |= x.bits(&src[1], lane)
	}
	switch x.Op.Name {
	case "sub":
		if sameRegister(&src[0], &src[1]) {
			return 0
		}
	case "mul", "mad":
		if x.zero(&src[0], lane) || x.zero(&src[1], lane) {
			u = 0
		} else if x.Op.Has("hi") {
			u = undefAll(u)
		}
		if len(src) > 2 {
			u |= x.bits(&src[2], lane)
		}
	}
	return -(u & -u)
}

// zero reports whether an operand is 0 and defined.
func (x *undefStep) zero(a *undefArg, lane int) bool {
	return x.bits(a, lane) == 0 && x.value(a, lane) == 0
}

// undefSelect is the rule of selp. The side that is not chosen does not matter. If the predicate
// is undefined, bits that are equal on both sides are defined.
func undefSelect(x *undefStep, lane int) uint64 {
	a, b, c := &x.p.src[0], &x.p.src[1], &x.p.src[2]
	if x.bits(c, lane) != 0 {
		return x.bits(a, lane) | x.bits(b, lane) | x.value(a, lane) ^ x.value(b, lane)
	}
	if x.value(c, lane) != 0 {
		return x.bits(a, lane)
	}
	return x.bits(b, lane)
}

// undefCompare is the rule of setp. The result is undefined if undefined bits decide it.
func undefCompare(x *undefStep, lane int) uint64 {
	src := x.p.src
	if len(src) > 2 {
		c := &src[2]
		if x.bits(c, lane) != 0 {
			return 1
		}
		decides := map[string]uint64{"and": 0, "or": 1}
		if v, ok := decides[x.Match.Mod("bool")]; ok && x.value(c, lane) == v {
			return 0
		}
	}
	ua, ub := x.bits(&src[0], lane), x.bits(&src[1], lane)
	if ua|ub == 0 || sameRegister(&src[0], &src[1]) {
		return 0
	}
	t := x.comparedType()
	va, vb := x.value(&src[0], lane), x.value(&src[1], lane)
	cmp := x.Match.Mod("cmp")
	switch {
	case t.Class() == ptx.ClassFloat || t.Class() == ptx.ClassPacked:
		return 1
	case cmp == "eq" || cmp == "ne":
		if (va^vb)&^(ua|ub) != 0 {
			return 0
		}
		return 1
	}
	if t.Class() == ptx.ClassSigned {
		sign := uint64(1) << (t.Bits() - 1)
		va, vb = va^sign, vb^sign
	}
	if cmp == "gt" || cmp == "ge" || cmp == "hi" || cmp == "hs" {
		va, ua, vb, ub = vb, ub, va, ua
	}
	less := func(a, b uint64) bool { return a < b }
	if cmp == "le" || cmp == "ge" || cmp == "ls" || cmp == "hs" {
		less = func(a, b uint64) bool { return a <= b }
	}
	if less(va&^ua, vb|ub) == less(va|ua, vb&^ub) {
		return 0
	}
	return 1
}

func (x *undefStep) comparedType() ptx.Type {
	for i := range x.Match.Form.Params {
		if p := &x.Match.Form.Params[i]; p.Name == "a" {
			return x.Match.Type(p)
		}
	}
	return ptx.NoType
}

// undefConvert returns the rule of cvt: between integers bit by bit, to pairs half by half.
func undefConvert(in *observe.Inst, float bool) func(x *undefStep, lane int) uint64 {
	if in.Op.Has("pack") || in.Op.Has("sat") {
		return undefSpread
	}
	var d, a ptx.Type
	for i := range in.Match.Form.Params {
		switch p := &in.Match.Form.Params[i]; p.Name {
		case "d":
			d = in.Match.Type(p)
		case "a":
			a = in.Match.Type(p)
		}
	}
	if !float {
		return func(x *undefStep, lane int) uint64 {
			u := x.bits(&x.p.src[0], lane)
			if a.Class() == ptx.ClassSigned && u>>(a.Bits()-1)&1 != 0 {
				u |= ^undefOnes(a.Bits())
			}
			return u & undefOnes(d.Bits())
		}
	}
	if half := d.Bits() / 2; in.Arg("b") != nil {
		return func(x *undefStep, lane int) uint64 {
			hi, lo := x.bits(&x.p.src[0], lane), x.bits(&x.p.src[1], lane)
			return undefAll(hi)<<half | undefAll(lo)&undefOnes(half)
		}
	}
	return undefSpread
}

// undefShifts are the rules of instructions that move bits. An undefined amount makes the whole
// result undefined.
var undefShifts = map[string]func(x *undefStep, lane int) uint64{
	"shl": func(x *undefStep, lane int) uint64 {
		if x.bits(&x.p.src[1], lane) != 0 {
			return undefSpread(x, lane)
		}
		return x.bits(&x.p.src[0], lane) << min(x.value(&x.p.src[1], lane), 64)
	},
	"shr": func(x *undefStep, lane int) uint64 {
		if x.bits(&x.p.src[1], lane) != 0 {
			return undefSpread(x, lane)
		}
		n, width := x.value(&x.p.src[1], lane), x.p.src[0].width
		u := x.bits(&x.p.src[0], lane)
		if x.comparedType().Class() == ptx.ClassSigned {
			up := 64 - width
			return uint64(int64(u<<up)>>up>>min(n, 63)) & undefOnes(width)
		}
		return u >> min(n, 64)
	},
	"shf": func(x *undefStep, lane int) uint64 {
		if x.bits(&x.p.src[2], lane) != 0 {
			return undefSpread(x, lane)
		}
		n := x.value(&x.p.src[2], lane)
		if x.Op.Has("wrap") {
			n &= 31
		}
		n = min(n, 32)
		u := x.bits(&x.p.src[1], lane)<<32 | x.bits(&x.p.src[0], lane)
		if x.Op.Has("l") {
			return u << n >> 32
		}
		return u >> n & 0xffffffff
	},
	"prmt": func(x *undefStep, lane int) (r uint64) {
		if x.bits(&x.p.src[2], lane) != 0 || x.Match.Mod("mode") != "" {
			return undefSpread(x, lane)
		}
		u := x.bits(&x.p.src[1], lane)<<32 | x.bits(&x.p.src[0], lane)
		c := x.value(&x.p.src[2], lane)
		for i := range 4 {
			sel := c >> (4 * i) & 15
			b := u >> (8 * (sel & 7)) & 0xff
			if sel&8 != 0 { // the sign of the byte, repeated
				b = undefAll(b>>7) & 0xff
			}
			r |= b << (8 * i)
		}
		return r
	},
	"bfe": func(x *undefStep, lane int) uint64 {
		if x.bits(&x.p.src[1], lane)|x.bits(&x.p.src[2], lane) != 0 {
			return undefSpread(x, lane)
		}
		at, n := x.value(&x.p.src[1], lane)&255, x.value(&x.p.src[2], lane)&255
		u, width := x.bits(&x.p.src[0], lane), uint64(x.p.src[0].width)
		field := u >> min(at, 64) & undefOnes(int(n))
		if n > 0 && x.comparedType().Class() == ptx.ClassSigned {
			if top := min(at+n, width) - 1; u>>top&1 != 0 {
				field |= ^undefOnes(int(min(n, width-min(at, width))))
			}
		}
		return field
	},
	"bfi": func(x *undefStep, lane int) uint64 {
		if x.bits(&x.p.src[2], lane)|x.bits(&x.p.src[3], lane) != 0 {
			return undefSpread(x, lane)
		}
		at, n := min(x.value(&x.p.src[2], lane)&255, 64), x.value(&x.p.src[3], lane)&255
		field := undefOnes(int(n))
		return x.bits(&x.p.src[1], lane)&^(field<<at) | x.bits(&x.p.src[0], lane)&field<<at
	},
}

// lanesOf calls do for each lane of a mask, in order.
func lanesOf(m uint32, do func(lane int)) {
	for ; m != 0; m &= m - 1 {
		do(bits.TrailingZeros32(m))
	}
}
