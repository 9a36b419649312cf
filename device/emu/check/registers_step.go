package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// undefStep is the execution of an instruction that undefined values reach.
type undefStep struct {
	*observe.Step
	w    *undefWatch
	u    *undefWarp
	f    *undefFrame
	p    *undefPlan
	from undefOrigin // the origin of its undefined results, if it is known
}

// bits returns the undefined bits of an operand in a lane, of the bits that the instruction uses.
func (x *undefStep) bits(a *undefArg, lane int) uint64 {
	if a.reg < 0 {
		return 0
	}
	u := x.f.regs[a.reg].of(lane)
	if a.width < 64 {
		u &= 1<<a.width - 1
	}
	return u
}

// value returns the value of an operand in a lane.
func (x *undefStep) value(a *undefArg, lane int) uint64 {
	if a.o == nil {
		return 0
	}
	return x.Value(a.o, lane) & undefOnes(a.width)
}

// put sets the undefined bits of a result in a lane.
func (x *undefStep) put(d *undefArg, lane int, u uint64) {
	if d.reg < 0 {
		return
	}
	r := &x.f.regs[d.reg]
	if u != 0 {
		if from := x.origin(); r.from.load != nil && r.from.load != from.load {
			r.from.use(r.lanes &^ x.Mask) // a register has one origin
		}
		r.from = x.origin()
	}
	r.set(lane, u&undefOnes(x.f.fn.regs[d.reg].sym.Type.Bits()))
}

// origin returns the origin of the undefined results: the origin of the first undefined operand,
// unless the rule has set another.
func (x *undefStep) origin() undefOrigin {
	if x.from.kind != "" {
		return x.from
	}
	for i := range x.p.src {
		a := &x.p.src[i]
		if a.reg < 0 || x.f.regs[a.reg].lanes&x.Mask == 0 {
			continue
		}
		x.from = x.f.regs[a.reg].from
		if x.from.id < 0 {
			x.from.id = x.ID
		}
		x.from.moved = x.from.moved && x.Op.Name == "mov"
		if x.from.load != nil {
			x.from.crossed = x.crossed(x.from.load)
		}
		break
	}
	return x.from
}

// define is the rule of an instruction whose results are defined.
func (x *undefStep) define() {
	for i := range x.p.dst {
		if r := x.p.dst[i].reg; r >= 0 {
			x.f.regs[r].lanes &^= x.Mask
		}
	}
}

// uses is the rule of an instruction that uses its operands in a way that other threads can see.
func (x *undefStep) uses() {
	use := undefOperand
	switch {
	case x.p.stores:
		use = undefStored
	case x.Arg("index") != nil: // brx.idx
		use = undefGuard
	}
	for i := range x.p.src {
		x.use(use, &x.p.src[i])
	}
	x.define()
}

// addresses reports undefined registers in addresses.
func (x *undefStep) addresses() {
	for i := range x.p.addr {
		x.use(undefAddress, &x.p.addr[i])
	}
}

// use reports an operand that is undefined in lanes that execute the instruction.
func (x *undefStep) use(how undefUse, a *undefArg) {
	var lanes uint32
	x.Lanes(func(l int) {
		if x.bits(a, l) != 0 {
			lanes |= 1 << l
		}
	})
	if lanes != 0 {
		x.report(how, a.reg, lanes, false)
		x.f.regs[a.reg].lanes &^= lanes
	}
}

// lanewise returns the rule of an instruction that computes its results in each lane separately.
// of returns the undefined bits of the results.
func lanewise(of func(x *undefStep, lane int) uint64) func(x *undefStep) {
	return func(x *undefStep) {
		x.origin() // a result may overwrite an operand
		x.Lanes(func(l int) {
			u := of(x, l)
			for i := range x.p.dst {
				x.put(&x.p.dst[i], l, u)
			}
		})
	}
}

// undefMove is the rule of mov, which copies, packs and unpacks.
func undefMove(x *undefStep) {
	x.origin()
	src, dst := x.p.src, x.p.dst
	var out [4]uint64
	x.Lanes(func(l int) {
		switch {
		case len(src) == len(dst):
			for i := range dst {
				out[i] = x.bits(&src[i], l)
			}
		case len(dst) == 1:
			out[0] = x.pack(l)
		default:
			x.unpack(l, &out)
		}
		for i := range dst {
			x.put(&dst[i], l, out[i])
		}
	})
}

// pack returns the undefined bits of packed pieces. A value of 128 bits is undefined as a whole.
func (x *undefStep) pack(lane int) (u uint64) {
	for i := range x.p.src {
		a := &x.p.src[i]
		if a.width*len(x.p.src) > 64 {
			u |= x.bits(a, lane)
			continue
		}
		u |= x.bits(a, lane) << (i * a.width)
	}
	if x.p.dst[0].width > 64 && u != 0 {
		u = 1<<64 - 1
	}
	return u
}

func (x *undefStep) unpack(lane int, out *[4]uint64) {
	u := x.pack(lane)
	for i := range x.p.dst {
		d := &x.p.dst[i]
		out[i] = u
		if d.width*len(x.p.dst) <= 64 {
			out[i] = u >> (i * d.width) & undefOnes(d.width)
		}
	}
}

// undefUse is the way in which an undefined value is used.
type undefUse uint8

const (
	undefAddress undefUse = iota
	undefStored
	undefGuard
	undefOperand
)

// place sets the address of a place in local memory.
func (x *undefStep) place(a *finding.Place, o *undefOrigin) {
	a.Touch("local", x.w.c.l.onlyLocal(o), int64(o.off), o.size, "")
}

// onlyLocal returns the name of the local variable that an offset lies in. It is
// known where the kernel itself declares exactly one variable; else it is "".
func (l *launch) onlyLocal(o *undefOrigin) string {
	in := &l.Program[o.id]
	if !in.Func.Entry {
		return ""
	}
	var one *ptx.Var
	for _, s := range in.Func.Body {
		if v, ok := s.(*ptx.Var); ok && v.Space == ptx.Local {
			if one != nil {
				return ""
			}
			one = v
		}
	}
	if one != nil && int64(o.off) < one.Size() {
		return one.Sym.Name
	}
	return ""
}
