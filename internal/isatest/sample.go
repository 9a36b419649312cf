package isatest

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// samples returns enough instructions of a variant to show each constant that an operand may
// be, and to add the optional operands one by one.
func (b *bench) samples(m isa.Match) []*ptx.Inst {
	optional, count := 0, 1
	for i := range m.Form.Params {
		p := &m.Form.Params[i]
		if must, may := m.Takes(p); may && !must {
			optional++
		}
		if p.PairOpt {
			optional++
		}
		if p.Not {
			count = max(count, 2)
		}
		if p.Select != "" {
			count = max(count, 3)
		}
		count = max(count, len(shown(p.Values)))
	}
	count = max(count, optional+1)
	ins := make([]*ptx.Inst, count)
	for n := range ins {
		ins[n] = b.sample(m, n)
	}
	return ins
}

// sample returns sample n, counted from 0. It has the first n of the optional operands.
func (b *bench) sample(m isa.Match, n int) *ptx.Inst {
	clear(b.used)
	in := &ptx.Inst{Op: m.Opcode()}
	optional := 0
	take := func() bool {
		optional++
		return optional <= n
	}
	for i := range m.Form.Params {
		p := &m.Form.Params[i]
		must, may := m.Takes(p)
		if !may || !must && !take() {
			continue
		}
		o := b.operand(m, p, n)
		if p.Pair != nil && (!p.PairOpt || take()) {
			o = ptx.Operand{Kind: ptx.PairOperand, Elems: []ptx.Operand{o, b.operand(m, p.Pair, n)}}
		}
		in.Args = append(in.Args, o)
	}
	return in
}

func (b *bench) operand(m isa.Match, p *isa.Param, n int) ptx.Operand {
	switch p.Kind {
	case isa.Imm:
		if len(p.Values) == 0 {
			return ptx.ImmOp(1)
		}
		vs := shown(p.Values)
		return ptx.ImmOp(vs[n%len(vs)])
	case isa.Addr:
		return b.address(m.Form.Op, m.Space(p))
	case isa.TensorMap:
		o := b.address(m.Form.Op, "")
		o.Elems = []ptx.Operand{b.vector(ptx.S32, m.Coords(p))}
		return o
	case isa.TensorMemory:
		return ptx.AddrOp(b.reg(ptx.B32).Sym, 0)
	case isa.Opaque:
		return ptx.AddrOp(b.reg(ptx.U64).Sym, 0)
	case isa.Texture, isa.Surface:
		o := ptx.AddrOp(b.reg(ptx.U64).Sym, 0) // without a sampler, which the default texture mode does not allow
		o.Elems = []ptx.Operand{b.vector(ptx.B32, m.Coords(p))}
		return o
	case isa.Sink:
		return ptx.Operand{Kind: ptx.SinkOperand}
	case isa.Label:
		return ptx.SymOp(b.label)
	case isa.Name:
		return ptx.SymOp(b.named(m, p.Name))
	case isa.Args:
		return ptx.Operand{Kind: ptx.ListOperand, Elems: []ptx.Operand{b.argument(p)}}
	}
	if c := m.Count(p); c > 0 {
		return b.vector(m.Type(p), c)
	}
	o := b.reg(m.Type(p))
	o.Neg = p.Not && n > 0
	if all := p.Selectors(); p.SelectMust || len(all) > 0 && n > 0 {
		o.Flags |= ptx.Selector
		o.Elems = []ptx.Operand{{Kind: ptx.StringOperand, Flags: ptx.Word, Sym: &ptx.Symbol{Name: all[n%len(all)]}}}
	}
	if p.Minus && n == 1 {
		o.Flags |= ptx.Minus
	}
	return o
}

// shown returns the constants that get a sample: the two ends of a long range, or all values
// of a short one.
func shown(values []int64) []int64 {
	if n := len(values); n > 32 {
		return []int64{values[0], values[n-1]}
	}
	return values
}

func (b *bench) vector(t ptx.Type, n int) ptx.Operand {
	elems := make([]ptx.Operand, n)
	for i := range elems {
		elems[i] = b.reg(t)
	}
	return ptx.VecOp(elems...)
}

// address returns an address in the state space. Parameters are addressed by name, all other
// spaces through a register.
func (b *bench) address(op, space string) ptx.Operand {
	switch {
	case !strings.HasPrefix(space, "param"):
		return ptx.AddrOp(b.reg(ptx.U64).Sym, 0)
	case op == "st":
		return ptx.AddrOp(b.result, 0)
	}
	return ptx.AddrOp(b.param, 0)
}

// local returns a variable in parameter space that is declared in the body, as the arguments
// and results of a call are.
func (b *bench) local(name string) *ptx.Symbol {
	if s := b.extra[name]; s != nil {
		return s
	}
	v := bytesVar(ptx.Param, name)
	v.Align, v.Dims = 16, []int64{16}
	b.inner = append(b.inner, v)
	b.extra[name] = v.Sym
	return v.Sym
}

func (b *bench) argument(p *isa.Param) ptx.Operand {
	if p.Access == isa.Write {
		return ptx.SymOp(b.local("result"))
	}
	return ptx.SymOp(b.local("argument"))
}

// named returns a function, a prototype or a list of targets. The name of the parameter
// decides which, as in the PTX manual.
func (b *bench) named(m isa.Match, param string) *ptx.Symbol {
	returns, takes := false, false
	for i := range m.Form.Params {
		if p := &m.Form.Params[i]; p.Kind == isa.Args {
			returns = returns || p.Access == isa.Write
			takes = takes || p.Access == isa.Read
		}
	}
	name := param
	if returns {
		name += "_r"
	}
	if takes {
		name += "_a"
	}
	if s := b.extra[name]; s != nil {
		return s
	}
	s := b.declare(param, name, returns, takes)
	b.extra[name] = s
	return s
}

func (b *bench) declare(param, name string, returns, takes bool) *ptx.Symbol {
	switch param {
	case "tlist":
		s := &ptx.Symbol{Name: name, Kind: ptx.TargetsSymbol}
		b.inner = append(b.inner, &ptx.Targets{Sym: s, Kind: ".branchtargets", List: []ptx.Operand{ptx.SymOp(b.label)}})
		return s
	case "flist":
		s := &ptx.Symbol{Name: name, Kind: ptx.TargetsSymbol}
		callee := b.callee("callee"+name, returns, takes)
		b.inner = append(b.inner, &ptx.Targets{Sym: s, Kind: ".calltargets", List: []ptx.Operand{ptx.SymOp(callee)}})
		return s
	case "fproto":
		s := &ptx.Symbol{Name: name, Kind: ptx.ProtoSymbol}
		p := &ptx.Proto{Sym: s}
		p.Returns, p.Params = signature(returns, takes)
		b.inner = append(b.inner, p)
		return s
	}
	return b.callee(name, returns, takes)
}

// callee adds an empty device function to the module and returns its symbol.
func (b *bench) callee(name string, returns, takes bool) *ptx.Symbol {
	f := &ptx.Func{Sym: &ptx.Symbol{Name: name, Kind: ptx.FuncSymbol}, HasBody: true}
	f.Sym.Func = f
	f.Returns, f.Params = signature(returns, takes)
	f.Body = []ptx.Stmt{&ptx.Inst{Op: ptx.NewOpcode("ret")}}
	b.items = append(b.items, f)
	return f.Sym
}

func signature(returns, takes bool) (rs, ps []*ptx.Var) {
	slot := func(name string) []*ptx.Var {
		v := bytesVar(ptx.Param, name)
		v.Align, v.Dims = 16, []int64{16}
		return []*ptx.Var{v}
	}
	if returns {
		rs = slot("out")
	}
	if takes {
		ps = slot("in")
	}
	return rs, ps
}
