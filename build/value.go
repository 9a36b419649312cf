package build

import "github.com/GOATnote-Inc/attest/ptx"

// Value is a typed value of a kernel: a register or a constant.
type Value interface {
	arg
	// Type is the PTX type of the value.
	Type() ptx.Type
	base() *val
	// make wraps v in the value's own type.
	make(v *val) Value
}

// val is the content of a value. Values hold a pointer, so that a value fits an
// interface without a copy.
type val struct {
	k     *Kernel
	op    ptx.Operand
	scope *scope // where it was made; nil for a constant
}

func (v *val) base() *val { return v }

func (v *val) operand(k *Kernel) (ptx.Operand, bool) {
	switch {
	case v == nil:
		k.errorf("an operand is a zero value: it was declared and never given a value")
		return ptx.Operand{}, false
	case v.k != k:
		k.errorf("an operand belongs to kernel %s, not to %s", v.k.name, k.name)
	case !v.scope.holds(k.scope):
		k.errorf("a value made inside %s is used outside it: carry it out in a Var", v.scope.what)
	default:
		return v.op, true
	}
	return v.op, false
}

// arg is anything that can be an operand. It reports its own misuse.
type arg interface {
	operand(k *Kernel) (ptx.Operand, bool)
}

// imm is an integer constant, for operands that can be nothing else.
type imm int64

func (i imm) operand(*Kernel) (ptx.Operand, bool) { return ptx.ImmOp(int64(i)), true }

// vec is a vector operand of values.
type vec []arg

func (v vec) operand(k *Kernel) (ptx.Operand, bool) {
	elems := make([]ptx.Operand, len(v))
	for i, a := range v {
		var ok bool
		if elems[i], ok = a.operand(k); !ok {
			return ptx.Operand{}, false
		}
	}
	return ptx.VecOp(elems...), true
}

// vecOf makes a vector operand of a slice of any one type.
func vecOf[T arg](s []T) vec {
	v := make(vec, len(s))
	for i := range s {
		v[i] = s[i]
	}
	return v
}

// scope is the body in which a value is known.
type scope struct {
	parent *scope
	what   string
}

// holds reports whether a value of scope s is known in scope t.
func (s *scope) holds(t *scope) bool {
	if s == nil {
		return true
	}
	for ; t != nil; t = t.parent {
		if t == s {
			return true
		}
	}
	return false
}

// wrap gives v the Go type T.
func wrap[T Value](v *val) T {
	var zero T
	return zero.make(v).(T)
}

// Cast gives a value's bits another type of the same size. It emits nothing.
func Cast[T, F Value](v F) T {
	var zero T
	k := kernelOf(v)
	b := *v.base()
	if zero.Type().Bits() != v.Type().Bits() || (zero.Type() == ptx.Pred) != (v.Type() == ptx.Pred) {
		k.errorf("cannot read the %d bits of a .%s as .%s: convert it with cvt", v.Type().Bits(), v.Type(), zero.Type())
	}
	if b.op.IsConst() {
		b.op = constBits(b.op, zero.Type())
	}
	return wrap[T](&b)
}

// constBits respells a constant for its new type: PTX floats and integers are
// written apart.
func constBits(o ptx.Operand, t ptx.Type) ptx.Operand {
	kind := ptx.ImmOperand
	switch t {
	case ptx.F32:
		kind = ptx.F32Operand
	case ptx.F64:
		kind = ptx.F64Operand
	}
	if o.Kind != kind {
		o = ptx.Operand{Kind: kind, Val: o.Val}
	}
	return o
}
