package build

import "github.com/GOATnote-Inc/attest/ptx"

// Var is a register that changes: state that a loop carries from round to round, or a
// result of the two branches of an If. [NewVar] makes one.
type Var[T Value] struct {
	v *val
}

// NewVar makes a variable that starts as v.
func NewVar[T Value](v T) *Var[T] {
	k := kernelOf(v)
	x := &Var[T]{&val{k, ptx.RegOp(newReg(v.Type())), k.scope}}
	x.Set(v)
	return x
}

// Get is the variable's current value. A later Set does not change what an earlier Get
// returned.
func (x *Var[T]) Get() T {
	return emit1[T](x.v.k, movOf[T](), nil, x.v)
}

// Set gives the variable a new value: a T, or a Go number where PTX has immediates
// of that type.
func (x *Var[T]) Set(v Operand) {
	k := x.v.k
	if _, ok := x.v.operand(k); ok {
		k.inst(movOf[T](), nil, []ptx.Operand{x.v.op}, []arg{in(typeOf[T](), v)})
	}
}

// operand is the register itself, for instructions that read and write it.
func (x *Var[T]) operand(k *Kernel) (ptx.Operand, bool) { return x.v.operand(k) }

// Vars are n variables that start as v, such as an accumulator.
func Vars[T Value](v T, n int) []*Var[T] {
	xs := make([]*Var[T], n)
	for i := range xs {
		xs[i] = NewVar(v)
	}
	return xs
}

// typeOf is the PTX type of T.
func typeOf[T Value]() ptx.Type {
	var zero T
	return zero.Type()
}

// movOf is the mov for values of type T.
func movOf[T Value]() string {
	var zero T
	return "mov." + regType(zero.Type()).String()
}
