package verify

import "github.com/GOATnote-Inc/attest/ptx"

// shape is what is known about how a register's value changes over the lanes of a warp.
// With it, the number of a warp, which is a thread's index divided by 32, counts as the
// same in all lanes. It assumes that a block's first dimension is a multiple of 32 threads,
// as all code that computes a warp's number this way does.
type shape uint8

const (
	noShape  shape = iota
	linear         // a multiple of 32, plus the lane
	shifted        // linear, plus something that is not a multiple of 32
	multiple       // a multiple of 32: %ntid.x times something
	extent         // %ntid.x
)

// shapes returns the shapes of registers that are written once. It follows the order of the
// text, in which values flow outside of loops.
func (c *code) shapes() []shape {
	regs := len(c.fn.Regs)
	sh, count := make([]shape, regs), make([]int32, regs)
	for _, r := range c.defs {
		count[r]++
	}
	for i := range c.at {
		ws := c.writes(i)
		if len(ws) == 1 && count[ws[0]] == 1 {
			sh[ws[0]] = c.shapeOf(c.at[i].in, sh)
		}
	}
	return sh
}

func (c *code) shapeOf(in *ptx.Inst, sh []shape) shape {
	arg := func(i int) shape { return c.operandShape(in, i, sh) }
	switch in.Op.Name {
	case "mov", "cvt":
		return arg(1)
	case "mul":
		if in.Op.Has("lo") && (arg(1) == extent || arg(2) == extent) {
			return multiple
		}
	case "mad":
		if in.Op.Has("lo") {
			product := noShape
			if arg(1) == extent || arg(2) == extent {
				product = multiple
			}
			return sum(arg(3), product)
		}
	case "and", "rem":
		if arg(1) == linear && c.keepsLane(in) {
			return linear
		}
	case "add":
		if arg(2) == linear || arg(2) == shifted {
			return sum(arg(2), arg(1))
		}
		return sum(arg(1), arg(2))
	}
	return noShape
}

// keepsLane reports whether an and or a rem by a constant leaves the lane's number in place:
// the index of a thread within its warpgroup is %tid.x & 127.
func (c *code) keepsLane(in *ptx.Inst) bool {
	if len(in.Args) < 3 {
		return false
	}
	v, ok := c.consts.of(&in.Args[2])
	if in.Op.Name == "rem" {
		return ok && v > 0 && v%32 == 0
	}
	return ok && v&31 == 31
}

// sum returns the shape of a + b.
func sum(a, b shape) shape {
	switch {
	case a == linear && b == multiple:
		return linear
	case a == linear || a == shifted:
		return shifted
	}
	return noShape
}

func (c *code) operandShape(in *ptx.Inst, i int, sh []shape) shape {
	if i >= len(in.Args) {
		return noShape
	}
	o := &in.Args[i]
	if v, ok := c.consts.of(o); ok {
		if v%32 == 0 {
			return multiple
		}
		return noShape
	}
	switch o.Kind {
	case ptx.RegOperand:
		if o.Sym.Kind == ptx.RegSymbol {
			return sh[o.Sym.ID]
		}
	case ptx.SpecialOperand:
		switch o.Sym.Name {
		case "%tid.x":
			return linear
		case "%ntid.x":
			return extent
		}
	}
	return noShape
}

// dropsLane reports whether the instruction's result does not depend on the lane's number in
// its first source: a shift or a mask removes the number, or a comparison has the same
// answer for all lanes of a warp.
func (c *code) dropsLane(in *ptx.Inst) bool {
	if len(in.Args) < 3 {
		return false
	}
	v, ok := c.consts.of(&in.Args[2])
	if !ok {
		return false
	}
	switch in.Op.Name {
	case "shr":
		return v >= 5
	case "div":
		return v > 0 && v%32 == 0
	case "and":
		return v&31 == 0
	case "setp":
		switch {
		case in.Op.Has("lt"), in.Op.Has("lo"), in.Op.Has("ge"), in.Op.Has("hs"):
			return v%32 == 0
		case in.Op.Has("le"), in.Op.Has("ls"), in.Op.Has("gt"), in.Op.Has("hi"):
			return v%32 == 31
		}
	}
	return false
}
