package build

import (
	"fmt"
	"reflect"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Regs are the registers that hold a lane's part of a matrix: a [Fragment], or an array
// or slice of values or variables of one type ([4]B32, []F32, []*Var[F32]). The call
// checks their number and their type against the form.
type Regs any

// Fragment is a lane's part of a matrix, as a matrix instruction returns it. Pass it on
// to another one, or read its registers with the method for their type.
type Fragment struct {
	k    *Kernel
	typ  ptx.Type
	regs []*val
}

// newFragment is a fragment of n new registers.
func newFragment(k *Kernel, t ptx.Type, n int) Fragment {
	f := Fragment{k: k, typ: t, regs: make([]*val, n)}
	for i := range f.regs {
		f.regs[i] = &val{k, ptx.RegOp(newReg(t)), k.scope}
	}
	return f
}

// F32 are the registers of a fragment of .f32.
func (f Fragment) F32() []F32 { return fragmentAs[F32](f) }

// F64 are the registers of a fragment of .f64.
func (f Fragment) F64() []F64 { return fragmentAs[F64](f) }

// S32 are the registers of a fragment of .s32.
func (f Fragment) S32() []S32 { return fragmentAs[S32](f) }

// F16x2 are the registers of a fragment of pairs of .f16.
func (f Fragment) F16x2() []F16x2 { return fragmentAs[F16x2](f) }

// B32 are the registers of a fragment of packed elements, as bits.
func (f Fragment) B32() []B32 { return fragmentAs[B32](f) }

func fragmentAs[T Value](f Fragment) []T {
	list := make([]T, len(f.regs))
	if f.k == nil {
		panic("build: registers of a zero Fragment: it was declared and never given a value")
	}
	if !holds(typeOf[T](), f.typ) {
		f.k.errorf("the fragment has registers of type .%s, not .%s", f.typ, typeOf[T]())
		f = newFragment(f.k, typeOf[T](), len(f.regs))
	}
	for i, r := range f.regs {
		list[i] = wrap[T](r)
	}
	return list
}

// holds reports whether registers of type got can stand where a fragment has type want:
// packed elements are bits of any packed type of the same size.
func holds(want, got ptx.Type) bool {
	packed := func(t ptx.Type) bool { return t.Class() == ptx.ClassPacked || t.Class() == ptx.ClassBits }
	return want == got || packed(want) && packed(got) && want.Bits() == got.Bits()
}

// typed is a value or a variable: what registers are given as.
type typed interface {
	arg
	Type() ptx.Type
}

// Type is the PTX type of the variable.
func (x *Var[T]) Type() ptx.Type { return typeOf[T]() }

// registers are the operands of a matrix, all of one type.
func registers(r Regs) (list vec, t ptx.Type, err error) {
	if f, ok := r.(Fragment); ok {
		return vecOf(f.regs), f.typ, nil
	}
	v := reflect.ValueOf(r)
	if r == nil || v.Kind() != reflect.Slice && v.Kind() != reflect.Array || v.Len() == 0 {
		return nil, t, fmt.Errorf("a %T is not a list of registers", r)
	}
	for i := range v.Len() {
		x, ok := v.Index(i).Interface().(typed)
		if !ok {
			return nil, t, fmt.Errorf("a %T is not a list of registers", r)
		}
		if i > 0 && x.Type() != t {
			return nil, t, fmt.Errorf("registers of types .%s and .%s in one matrix", t, x.Type())
		}
		t = x.Type()
		list = append(list, x)
	}
	return list, t, nil
}
