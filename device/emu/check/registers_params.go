package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Undefined values are followed through the arguments and results of calls that are in .param
// memory. Arguments and results in registers, an older convention, count as defined.

// undefParam is a variable in .param memory with undefined bits.
type undefParam struct {
	lanes uint32
	bits  [][32]byte // by byte and lane: its undefined bits
	from  undefOrigin
}

// isCallParam reports whether the instruction reads or writes an argument or a result of a call.
// The parameters of a kernel are defined.
func isCallParam(in *observe.Inst) bool {
	if in.Op.Name != "ld" && in.Op.Name != "st" || in.Space("a") != ptx.Param {
		return false
	}
	o := in.Arg("a")
	if o.Sym == nil || o.Sym.Kind != ptx.VarSymbol {
		return false
	}
	if in.Func.Entry {
		for _, v := range in.Func.Params {
			if v.Sym == o.Sym {
				return false
			}
		}
	}
	return true
}

// param returns a variable of the frame. It makes one if there is none.
func (f *undefFrame) param(sym *ptx.Symbol) *undefParam {
	if f.params == nil {
		f.params = map[*ptx.Symbol]*undefParam{}
	}
	q := f.params[sym]
	if q == nil {
		q = &undefParam{bits: make([][32]byte, sym.Var.Size())}
		f.params[sym] = q
	}
	return q
}

// storeParam is the rule of st.param: the undefined bits go with the call.
func (x *undefStep) storeParam() {
	sym, n := x.p.at.Sym, x.p.size
	for i := range x.p.src {
		a := &x.p.src[i]
		undefined := a.reg >= 0 && x.f.regs[a.reg].lanes&x.Mask != 0
		if !undefined && x.f.params[sym] == nil {
			continue
		}
		q := x.f.param(sym)
		at := int(x.p.at.Val) + i*n
		x.Lanes(func(l int) {
			u := x.bits(a, l)
			for k := range min(n, 8) {
				if at+k < len(q.bits) {
					q.bits[at+k][l] = byte(u >> (8 * k))
				}
			}
			if u != 0 {
				q.lanes |= 1 << l
			}
		})
		if undefined {
			q.from = x.f.regs[a.reg].from
			if q.from.id < 0 {
				q.from.id = x.ID
			}
		}
	}
}

// loadParam is the rule of ld.param of an argument or a result.
func (x *undefStep) loadParam() {
	q, n := x.f.params[x.p.at.Sym], x.p.size
	if q == nil || q.lanes&x.Mask == 0 {
		x.define()
		return
	}
	x.from = q.from
	for i := range x.p.dst {
		at := int(x.p.at.Val) + i*n
		x.Lanes(func(l int) {
			var u uint64
			for k := range min(n, 8) {
				if q.lanes>>l&1 != 0 && at+k < len(q.bits) {
					u |= uint64(q.bits[at+k][l]) << (8 * k)
				}
			}
			if bits := 8 * n; x.p.signed && u>>(bits-1)&1 != 0 {
				u |= ^undefOnes(bits)
			}
			x.put(&x.p.dst[i], l, u)
		})
	}
}

// copyLanes copies the undefined bits of lanes from another variable. nil stands for a variable that
// is defined.
func (q *undefParam) copyLanes(from *undefParam, lanes uint32) {
	q.lanes &^= lanes
	if from == nil || from.lanes&lanes == 0 {
		return
	}
	q.lanes |= from.lanes & lanes
	q.from = from.from
	for i := range q.bits {
		lanesOf(lanes, func(l int) {
			q.bits[i][l] = 0
			if i < len(from.bits) {
				q.bits[i][l] = from.bits[i][l]
			}
		})
	}
}

// callVariables returns the variables of a call: those of its results and its arguments.
func callVariables(in *ptx.Inst) (rets, args []ptx.Operand) {
	seen := false
	for i := range in.Args {
		switch o := &in.Args[i]; {
		case o.Kind == ptx.ListOperand && !seen:
			rets = o.Elems
		case o.Kind == ptx.ListOperand:
			args = o.Elems
		default:
			seen = true
		}
	}
	return rets, args
}

func paramOf(os []ptx.Operand, i int) *ptx.Symbol {
	if i < len(os) && os[i].Kind == ptx.SymOperand && os[i].Sym.Kind == ptx.VarSymbol && os[i].Sym.Var.Space == ptx.Param {
		return os[i].Sym
	}
	return nil
}

// call passes the arguments of lanes to the next level of calls.
func (w *undefWatch) call(u *undefWarp, s *observe.Step) {
	f := u.frame(s, w.p.funcs[s.Func])
	d := u.depth(s.Depth() + 1)
	rets, args := callVariables(s.Inst.Inst)
	s.Lanes(func(l int) { d.site[l] = s.ID })
	for i := range rets {
		if sym := paramOf(rets, i); sym != nil && f.params[sym] != nil {
			f.params[sym].copyLanes(nil, s.Mask)
		}
	}
	for i := range max(len(args), len(d.args)) {
		var from *undefParam
		if sym := paramOf(args, i); sym != nil {
			from = f.params[sym]
		}
		if i == len(d.args) {
			d.args = append(d.args, &undefParam{})
		}
		if from != nil && len(d.args[i].bits) < len(from.bits) {
			more := len(from.bits) - len(d.args[i].bits)
			d.args[i].bits = append(d.args[i].bits, make([][32]byte, more)...)
		}
		d.args[i].copyLanes(from, s.Mask)
	}
}

// receiveArgs copies the arguments of lanes that enter a function to its parameters.
func (f *undefFrame) receiveArgs(d *undefDepth, lanes uint32) {
	for _, q := range f.params {
		q.copyLanes(nil, lanes)
	}
	for i, v := range f.fn.f.Params {
		if i < len(d.args) && d.args[i].lanes&lanes != 0 && v.Space == ptx.Param {
			f.param(v.Sym).copyLanes(d.args[i], lanes)
		}
	}
}

// ret passes the results of lanes back to the functions that called.
func (w *undefWatch) ret(u *undefWarp, s *observe.Step) {
	depth := s.Depth()
	d := u.depth(depth)
	var f *undefFrame
	for _, g := range d.frames {
		if g.fn.f == s.Func {
			f = g
		}
	}
	if f == nil || depth == 0 {
		return
	}
	for i, v := range s.Func.Returns {
		q := f.params[v.Sym]
		if q == nil {
			continue
		}
		lanesOf(q.lanes&s.Mask&^d.fresh, func(l int) {
			site := &w.c.l.Program[d.site[l]]
			rets, _ := callVariables(site.Inst)
			if sym := paramOf(rets, i); sym != nil {
				u.at(depth-1, w.p.funcs[site.Func]).param(sym).copyLanes(q, 1<<l)
			}
		})
	}
}
