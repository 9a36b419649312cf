package mutate

import (
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// place leads to an operand: the index of an argument, and then indices of elements.
type place []int

// in returns the operand at a place of an instruction.
func (p place) in(i *ptx.Inst) *ptx.Operand {
	o := &i.Args[p[0]]
	for _, e := range p[1:] {
		o = &o.Elems[e]
	}
	return o
}

// reads returns the places of the operands that the instruction reads: registers, constants,
// and the addresses of loads and of stores.
func (s *site) reads() (all []place) {
	at, err := s.Match.Bind(s.Args)
	if err != nil {
		return nil
	}
	for i := range s.Match.Form.Params {
		p := &s.Match.Form.Params[i]
		if at[i] < 0 || p.Kind == isa.Label || p.Kind == isa.Name || p.Kind == isa.Args {
			continue
		}
		if p.Access == isa.Read || p.Kind == isa.Addr || p.Kind == isa.TensorMap {
			all = append(all, leaves(&s.Args[at[i]], place{at[i]})...)
		}
	}
	return all
}

// leaves returns the places of an operand and of the operands inside it.
func leaves(o *ptx.Operand, at place) (all []place) {
	if o.Kind != ptx.VecOperand {
		all = append(all, at)
	}
	for i := range o.Elems {
		all = append(all, leaves(&o.Elems[i], append(slices.Clone(at), i))...)
	}
	return all
}

// swapped exchanges neighbouring operands of the same type. It leaves the operands of
// commutative operations, whose exchange changes nothing.
func (s *site) swapped() (all []*ptx.Inst) {
	var regs []place
	for _, p := range s.reads() {
		if o := p.in(s.Inst); o.Kind == ptx.RegOperand || o.IsConst() {
			regs = append(regs, p)
		}
	}
	for i := 1; i < len(regs); i++ {
		a, b := regs[i-1], regs[i]
		if !s.exchangeable(a.in(s.Inst), b.in(s.Inst)) || s.commutes(a, b) {
			continue
		}
		in := s.copyOf()
		x, y := a.in(in), b.in(in)
		*x, *y = *y, *x
		all = append(all, in)
	}
	return all
}

// exchangeable reports whether two operands are different and of one type.
func (s *site) exchangeable(a, b *ptx.Operand) bool {
	if a.Kind == ptx.RegOperand && b.Kind == ptx.RegOperand {
		return a.Sym != b.Sym && a.Sym.Type == b.Sym.Type && a.Sym.Vec == b.Sym.Vec
	}
	return a.IsConst() != b.IsConst() || a.Val != b.Val
}

// commutes reports whether the order of two arguments makes no difference.
func (s *site) commutes(a, b place) bool {
	if len(a) > 1 || len(b) > 1 {
		return false
	}
	first, second := min(a[0], b[0]), max(a[0], b[0])
	switch s.Op.Name {
	case "add", "mul", "min", "max", "and", "or", "xor", "mul24", "fma", "mad":
		return first == 1 && second == 2
	case "setp", "set":
		return s.Mod("cmp") == "eq" || s.Mod("cmp") == "ne"
	}
	return false
}

// recent holds the registers that instructions have used, the newest last.
type recent struct{ regs []*ptx.Symbol }

// mostRecent is the number of registers that are remembered. A mistake rarely names a
// register from far away.
const mostRecent = 64

func (r *recent) add(in *ptx.Inst) {
	for i := range in.Args {
		r.addOperand(&in.Args[i])
	}
	r.regs = r.regs[max(len(r.regs)-mostRecent, 0):]
}

func (r *recent) addOperand(o *ptx.Operand) {
	if o.Sym != nil && o.Sym.Kind == ptx.RegSymbol {
		r.regs = append(r.regs, o.Sym)
	}
	for i := range o.Elems {
		r.addOperand(&o.Elems[i])
	}
}

// like returns the newest register of the same type as another one, or nil.
func (r *recent) like(sym *ptx.Symbol) *ptx.Symbol {
	for _, s := range slices.Backward(r.regs) {
		if s != sym && s.Type == sym.Type && s.Vec == sym.Vec {
			return s
		}
	}
	return nil
}

// otherRegister replaces one register that is read, in an operand or in an address.
func (s *site) otherRegister() (all []*ptx.Inst) {
	for _, p := range s.reads() {
		o := p.in(s.Inst)
		if o.Sym == nil || o.Sym.Kind != ptx.RegSymbol {
			continue
		}
		if other := s.recent.like(o.Sym); other != nil {
			in := s.copyOf()
			p.in(in).Sym = other
			all = append(all, in)
		}
	}
	return all
}

// predicateNegated negates a predicate that is read.
func (s *site) predicateNegated() (all []*ptx.Inst) {
	for _, p := range s.reads() {
		if o := p.in(s.Inst); o.Kind == ptx.RegOperand && o.Sym.Type == ptx.Pred {
			in := s.copyOf()
			p.in(in).Neg = !o.Neg
			all = append(all, in)
		}
	}
	return all
}

// constants returns an operator that changes integer constants and the offsets of addresses.
// change gets the number and the bit to flip, which depends on the place, so that all bits
// have their turn.
func constants(change func(v, bit int64) int64) func(*site) []*ptx.Inst {
	return func(s *site) (all []*ptx.Inst) {
		for n, p := range s.reads() {
			o := p.in(s.Inst)
			if o.Kind != ptx.ImmOperand && o.Kind != ptx.AddrOperand {
				continue
			}
			if role := s.Match.Class().Role; role == isa.RoleWait && len(s.Args) == 1 {
				continue // sync-weaken does it
			}
			in := s.copyOf()
			c := p.in(in)
			if c.Val = change(o.Val, bitFor(s.stmt+n, o.Val)); c.Val == o.Val {
				continue
			}
			all = append(all, in)
		}
		return all
	}
}

// bitFor returns the bit of a constant to flip: one of its own bits or of the two above them.
func bitFor(n int, v int64) int64 {
	bits := 2
	for x := uint64(v); x != 0 && bits < 18; x >>= 1 {
		bits++
	}
	return int64(n % bits)
}

// floats returns an operator that changes float constants.
func floats(change func(float64) float64) func(*site) []*ptx.Inst {
	return func(s *site) (all []*ptx.Inst) {
		for _, p := range s.reads() {
			o := p.in(s.Inst)
			if o.Kind != ptx.F32Operand && o.Kind != ptx.F64Operand {
				continue
			}
			if o.Val == 0 && change(0) == 0 {
				continue // -0 in place of 0 hardly ever makes a difference
			}
			in := s.copyOf()
			c := p.in(in)
			if o.Kind == ptx.F32Operand {
				c.Val = int64(math.Float32bits(float32(change(float64(math.Float32frombits(uint32(o.Val)))))))
			} else {
				c.Val = int64(math.Float64bits(change(math.Float64frombits(uint64(o.Val)))))
			}
			if c.Val != o.Val {
				all = append(all, in)
			}
		}
		return all
	}
}

func double(x float64) float64 {
	if x == 0 {
		return 1 // twice 0 is no change
	}
	return 2 * x
}

func negate(x float64) float64 { return -x }
