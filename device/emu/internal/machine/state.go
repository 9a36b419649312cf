package machine

import (
	"encoding/binary"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

// state is a frame as observers see it: it implements observe.State.
type state Frame

// state returns the frame as observers see it.
func (f *Frame) state() observe.State { return (*state)(f) }

// Value returns a scalar operand in a lane.
func (s *state) Value(o *ptx.Operand, lane int) uint64 {
	switch o.Kind {
	case ptx.RegOperand:
		return s.register(o, lane)
	case ptx.SpecialOperand:
		return s.Warp.specialValue(o.Sym.Name, lane)
	case ptx.SymOperand, ptx.AddrOperand:
		return s.base(o, lane) + uint64(o.Val)
	}
	return uint64(o.Val)
}

// Address returns the state space and the address of an address operand in a lane.
func (s *state) Address(o *ptx.Operand, space ptx.Space, lane int) (ptx.Space, uint64) {
	addr := s.Value(o, lane)
	if space != ptx.Generic {
		return space, addr
	}
	if o.Sym != nil && o.Sym.Kind == ptx.VarSymbol {
		return o.Sym.Var.Space, addr
	}
	for _, w := range []ptx.Space{ptx.Shared, ptx.Local, ptx.Param} {
		if addr>>memory.WindowBits == memory.GenericBase(w)>>memory.WindowBits {
			return w, addr & (1<<memory.WindowBits - 1)
		}
	}
	return ptx.Global, addr
}

// Depth returns the number of calls that the lanes are inside of.
func (s *state) Depth() int { return s.depth }

// Frame returns where the local variables of the present function start.
func (s *state) Frame() uint64 { return s.local }

// Top returns where the stack of a lane ends.
func (s *state) Top(lane int) uint64 { return (*Frame)(s).Top(lane) }

// Callers returns the source lines of the calls that led here, the innermost first.
func (s *state) Callers() []string { return (*Frame)(s).callers() }

// register returns the value of a register in a lane.
func (s *state) register(o *ptx.Operand, lane int) uint64 {
	r := s.fn.Reg(o)
	var v uint64
	switch WidthOf(o.Sym.Type) {
	case wPred:
		v = uint64(s.Pred[r] >> lane & 1)
		if o.Neg {
			v ^= 1
		}
	case W32:
		v = uint64(s.R32[r][lane])
	default:
		v = s.R64[r][lane]
	}
	return v + uint64(o.Val)
}

// base returns the address of a variable or function, or the value of a base register.
func (s *state) base(o *ptx.Operand, lane int) uint64 {
	switch {
	case o.Sym == nil:
		return 0
	case o.Sym.Kind == ptx.RegSymbol:
		r := *o
		r.Kind, r.Val = ptx.RegOperand, 0
		return s.register(&r, lane)
	case o.Sym.Kind == ptx.FuncSymbol:
		return s.fn.Prog.FuncAddr(o.Sym)
	}
	addr, _ := s.fn.Variable(o.Sym)
	return addr
}

// Stored returns the bytes that a lane is about to write with st or stmatrix.
func (s *state) Stored(in *observe.Inst, lane, size int) (data []byte, ok bool) {
	if in.Op.Name == "stmatrix" {
		return s.storedRow(in, lane)
	}
	t := in.Type("b")
	for _, e := range Elements(in.Arg("b")) {
		var b [8]byte
		n := t.Bytes()
		if n > 8 || e.Kind == ptx.SymOperand {
			return nil, false
		}
		v := s.Value(e, lane)
		if e.Kind != ptx.RegOperand && e.Kind != ptx.SpecialOperand {
			v = Constant(e, t)
		}
		binary.LittleEndian.PutUint64(b[:], v)
		data = append(data, b[:n]...)
	}
	return data, len(data) == size
}

// storedRow returns the row of an 8×8 matrix of 16-bit elements that stmatrix is about to write to
// the address of a lane. The elements of the row come from several lanes.
func (s *state) storedRow(in *observe.Inst, lane int) (data []byte, ok bool) {
	regs := Elements(in.Arg("r"))
	if lane/8 >= len(regs) || !in.Op.Has("b16") {
		return nil, false
	}
	reg, trans := regs[lane/8], in.Op.Has("trans")
	data = make([]byte, 16)
	for l := range 32 {
		v := uint32(s.Value(reg, l))
		for i := range 2 {
			if at := layout.LdMatrix(l, i, trans); at.Row == lane%8 {
				binary.LittleEndian.PutUint16(data[2*at.Col:], uint16(v>>(16*i)))
			}
		}
	}
	return data, true
}

// Word returns the value that a lane is about to write with st. ok is false unless the
// value is one register of up to 32 bits and offsets belong to that store.
func (s *state) Word(offsets *[32]uint64, lane int) (v uint32, ok bool) {
	w := s.Warp
	if offsets != (*[32]uint64)(&w.Offsets) || len(w.Moving) != 1 || w.Moving[0].Width != W32 {
		return 0, false
	}
	return s.R32[w.Moving[0].Slot][lane], true
}
