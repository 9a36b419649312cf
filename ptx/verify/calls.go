package verify

import (
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
)

// calls checks that the arguments of each call fit the parameters of the callee.
func (k *checker) calls(c *code) {
	var protos map[*ptx.Symbol]*ptx.Proto
	for i := range c.at {
		in := c.at[i].in
		if in == nil || in.Op.Name != "call" {
			continue
		}
		if protos == nil {
			protos = prototypes(k.fn)
		}
		k.call(i, newCallSite(in), protos)
	}
}

func prototypes(f *ptx.Func) map[*ptx.Symbol]*ptx.Proto {
	m := map[*ptx.Symbol]*ptx.Proto{}
	for _, s := range f.Body {
		if p, ok := s.(*ptx.Proto); ok {
			m[p.Sym] = p
		}
	}
	return m
}

// callSite holds the parts of a call: (returns), target, (args), prototype.
type callSite struct {
	returns, args []ptx.Operand
	target, proto *ptx.Operand
}

func newCallSite(in *ptx.Inst) (s callSite) {
	for i := range in.Args {
		o := &in.Args[i]
		switch {
		case o.Kind == ptx.ListOperand && s.target == nil:
			s.returns = o.Elems
		case o.Kind == ptx.ListOperand:
			s.args = o.Elems
		case s.target == nil:
			s.target = o
		default:
			s.proto = o
		}
	}
	return s
}

func (k *checker) call(stmt int, s callSite, protos map[*ptx.Symbol]*ptx.Proto) {
	switch {
	case s.target == nil:
	case s.target.Kind != ptx.SymOperand && s.target.Kind != ptx.RegOperand:
		k.errorf(stmt, s.target.Pos, "bad-call", "%s cannot be called: name a function, or a register with its address", s.target)
	case s.target.Sym != nil && s.target.Sym.Kind == ptx.FuncSymbol:
		if f := s.target.Sym.Func; f != nil {
			if f.Entry {
				k.errorf(stmt, s.target.Pos, "bad-call", "%s is an .entry; only the host can launch it", f.Sym.Name)
				return
			}
			k.passes(stmt, s, f.Sym.Name, f.Params, f.Returns)
		}
	case s.target.Kind == ptx.SymOperand && s.target.Sym.Kind != ptx.UndefinedSymbol:
		k.errorf(stmt, s.target.Pos, "bad-call", "%s is a %s and cannot be called", s.target.Sym.Name, s.target.Sym.Kind)
	case s.proto != nil && s.proto.Sym != nil:
		if p := protos[s.proto.Sym]; p != nil {
			k.passes(stmt, s, s.proto.Sym.Name, p.Params, p.Returns)
		}
	}
}

func (k *checker) passes(stmt int, s callSite, name string, params, returns []*ptx.Var) {
	k.list(stmt, s, name, "argument", s.args, params)
	k.list(stmt, s, name, "result", s.returns, returns)
}

// list compares the arguments of a call with the formal parameters, by number and by size.
// It does not compare types, because the callee may read the bytes as any type.
func (k *checker) list(stmt int, s callSite, name, what string, args []ptx.Operand, formals []*ptx.Var) {
	if n := len(formals); n > 0 && unsized(formals[n-1]) {
		return // an array without a size takes any number of bytes
	}
	if len(args) != len(formals) {
		k.errorf(stmt, s.target.Pos, "bad-call", "the call of %s has %s, but the function has %s",
			name, english.Count(len(args), what), english.Count(len(formals), what))
		return
	}
	for i := range args {
		got, ok := sizeOf(&args[i])
		if want := formals[i].Size(); ok && got != want {
			k.errorf(stmt, s.target.Pos, "bad-call", "the call of %s: %s %d, %s, has %s, but in %s it has %s",
				name, what, i+1, args[i], english.Count(int64(got), "byte"), name, english.Count(int64(want), "byte"))
		}
	}
}

func unsized(v *ptx.Var) bool { return len(v.Dims) > 0 && v.Dims[0] == ptx.Unsized }

// sizeOf returns the size of an argument in bytes. A constant has no size of its own.
func sizeOf(o *ptx.Operand) (int64, bool) {
	if o.Sym == nil {
		return 0, false
	}
	switch o.Sym.Kind {
	case ptx.VarSymbol:
		if v := o.Sym.Var; v != nil && v.Space == ptx.Param {
			return v.Size(), true
		}
	case ptx.RegSymbol:
		return int64(o.Sym.Type.Bytes() * max(int(o.Sym.Vec), 1)), true
	}
	return 0, false
}
