package decode

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/operand"
	"github.com/GOATnote-Inc/attest/ptx"
)

// fuser decodes contractions.
type fuser struct {
	sums  map[*ptx.Inst]contraction
	saved map[*ptx.Inst][]ptx.Operand // copies of the factors of products, once they are made
	saves map[*ptx.Inst]bool          // products that must save their factors
}

func newFuser(sums map[*ptx.Inst]contraction) *fuser {
	f := &fuser{sums: sums, saved: map[*ptx.Inst][]ptx.Operand{}, saves: map[*ptx.Inst]bool{}}
	for _, c := range sums {
		if c.save {
			f.saves[c.mul] = true
		}
	}
	return f
}

// save copies the factors of a product to new registers before the product is computed, if an
// instruction in front of the add or sub overwrites them.
func (u *fuser) save(d *operand.Decoder, mul *ptx.Inst) {
	if !u.saves[mul] {
		return
	}
	for _, o := range mul.Args[1:] {
		if o.Kind == ptx.RegOperand {
			from := o
			o = newRegister(d, &from)
			beforeLanes(d, &o, &from, 0)
		}
		u.saved[mul] = append(u.saved[mul], o)
	}
}

// replace returns the instruction to decode in place of in: the fma for an add or sub that is
// contracted, and otherwise in itself.
func (u *fuser) replace(d *operand.Decoder, in *ptx.Inst) *ptx.Inst {
	c, ok := u.sums[in]
	if !ok {
		return in
	}
	factors := c.mul.Args[1:]
	if c.save {
		factors = u.saved[c.mul]
	}
	a, b, addend := factors[0], factors[1], in.Args[1]
	if c.first {
		addend = in.Args[2]
	}
	if in.Op.Name == "sub" && c.first {
		addend = negated(d, &addend, floatType(in.Op))
	}
	if c.negated != (in.Op.Name == "sub" && !c.first) {
		a = negated(d, &a, floatType(in.Op))
	}
	return &ptx.Inst{Pos: in.Pos, Op: fused(in.Op), Args: []ptx.Operand{in.Args[0], a, b, addend}}
}

// negated returns an operand with the negative value of o.
func negated(d *operand.Decoder, o *ptx.Operand, t ptx.Type) ptx.Operand {
	sign := map[ptx.Type]uint64{
		ptx.F32: 1 << 31, ptx.F64: 1 << 63, ptx.F16: 1 << 15, ptx.BF16: 1 << 15, ptx.F16x2: 0x80008000, ptx.BF16x2: 0x80008000,
	}[t]
	switch {
	case o.Kind == ptx.RegOperand:
		n := newRegister(d, o)
		beforeLanes(d, &n, o, sign)
		return n
	case t == ptx.F64:
		return ptx.Operand{Kind: ptx.F64Operand, Val: int64(machine.Constant(o, t) ^ sign)}
	}
	return ptx.Operand{Kind: ptx.F32Operand, Val: int64(machine.Constant(o, t) ^ sign)}
}

// newRegister returns a new register like o.
func newRegister(d *operand.Decoder, o *ptx.Operand) ptx.Operand {
	s := &ptx.Symbol{Name: o.Sym.Name, Kind: ptx.RegSymbol, Type: o.Sym.Type, ID: int32(len(d.Func.Regs))}
	d.Func.Regs = append(d.Func.Regs, d.Func.NewRegs(s.Type, 1))
	return ptx.RegOp(s)
}

// beforeLanes adds an operation before the present instruction that copies a register with some bits
// flipped.
func beforeLanes(d *operand.Decoder, to, from *ptx.Operand, flip uint64) {
	dst, src := d.Reg(to), d.Reg(from)
	run := func(f *machine.Frame, m uint32) {
		machine.EachLane(m, func(l int) { f.R32[dst][l] = f.R32[src][l] ^ uint32(flip) })
	}
	if machine.WidthOf(from.Sym.Type) == machine.W64 {
		run = func(f *machine.Frame, m uint32) {
			machine.EachLane(m, func(l int) { f.R64[dst][l] = f.R64[src][l] ^ flip })
		}
	}
	d.Pre = append(d.Pre, machine.Op{Run: run, Guard: -1, Target: -1})
}
