package build

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Int is an integer operand: a register value of the type that the instruction
// takes, or a Go integer, which becomes an immediate.
//
//	x.Shr(5)    // shr.u32 d, x, 5
//	x.Shr(bits) // shr.u32 d, x, bits, where bits is a U32
//
// Go has no type that is either of the two, so the call checks what it gets: a
// register of another type, a float and a number that does not fit are errors at
// the author's line.
type Int any

// Float is a floating-point operand: a register value of the type that the
// instruction takes, or a Go number, which becomes an immediate. A float64 is
// rounded to the nearest .f32; an integer must be exact.
type Float any

// Operand is what a store, an atomic or a [Var] takes: a register value of its own
// type, or a Go number, which becomes an immediate. Types of which PTX has no
// immediates (.f16, packed types, predicates) take registers only.
type Operand any

// Coords are the coordinates of a box in a tensor, innermost first: a []U32, or an
// []Int, which may mix registers and Go integers.
type Coords any

// in is an operand of type t, given as a register or as a Go number.
func in(t ptx.Type, v any) arg {
	if r, ok := v.(Value); ok && r.Type() == t {
		return r
	}
	return given{t, v}
}

// given is an operand that is not a register of type t: a Go number, or a misuse.
type given struct {
	t ptx.Type
	v any
}

func (g given) operand(k *Kernel) (ptx.Operand, bool) {
	o, err := immediate(g.t, g.v)
	if err != nil {
		k.errorf("%s: %v", k.doing, err)
	}
	return o, err == nil
}

// immediate is the Go number v as an immediate of type t.
func immediate(t ptx.Type, v any) (ptx.Operand, error) {
	if r, ok := v.(Value); ok {
		return ptx.Operand{}, fmt.Errorf("a .%s register stands where a .%s is needed: use Cast for its bits, or a Cvt method", r.Type(), t)
	}
	x := reflect.ValueOf(v)
	switch {
	case v == nil || !x.CanInt() && !x.CanUint() && !x.CanFloat():
		return ptx.Operand{}, fmt.Errorf("a Go value of type %T stands where a .%s register or a Go number is needed", v, t)
	case t == ptx.F32 || t == ptx.F64:
		return floatImmediate(t, x)
	case t == ptx.Pred || t == ptx.F16 || t.Class() == ptx.ClassPacked:
		return ptx.Operand{}, fmt.Errorf("PTX has no immediates of type .%s: make a register with k.%s", t, goTypeName(t))
	case x.CanFloat():
		return ptx.Operand{}, fmt.Errorf("the float %v stands where a .%s is needed: give an integer", v, t)
	}
	return intImmediate(t, x)
}

func intImmediate(t ptx.Type, x reflect.Value) (ptx.Operand, error) {
	bits := t.Bits()
	lo, hi := int64(0), uint64(math.MaxUint64)>>(64-bits)
	if t.Class() == ptx.ClassSigned {
		lo, hi = -1<<(bits-1), hi>>1
	}
	fits := false
	var n int64
	if x.CanInt() {
		n = x.Int()
		fits = n >= lo && (n < 0 || uint64(n) <= hi)
	} else {
		n = int64(x.Uint())
		fits = x.Uint() <= hi
	}
	if !fits {
		return ptx.Operand{}, fmt.Errorf("%v does not fit a .%s, which holds %d to %d", x, t, lo, hi)
	}
	return ptx.ImmOp(n), nil
}

func floatImmediate(t ptx.Type, x reflect.Value) (ptx.Operand, error) {
	var f float64
	exact := true
	switch {
	case x.CanFloat():
		f = x.Float()
	case x.CanInt():
		f = float64(x.Int())
		exact = int64(f) == x.Int()
	default:
		f = float64(x.Uint())
		exact = uint64(f) == x.Uint()
	}
	if t == ptx.F64 {
		if !exact {
			return ptx.Operand{}, fmt.Errorf("%v is not exact as a .f64", x)
		}
		return ptx.Operand{Kind: ptx.F64Operand, Val: int64(math.Float64bits(f))}, nil
	}
	single := float32(f)
	switch {
	case !x.CanFloat() && (!exact || float64(single) != f):
		return ptx.Operand{}, fmt.Errorf("%v is not exact as a .f32", x)
	case math.IsInf(float64(single), 0) && !math.IsInf(f, 0):
		return ptx.Operand{}, fmt.Errorf("%v does not fit a .f32", x)
	}
	return ptx.Operand{Kind: ptx.F32Operand, Val: int64(math.Float32bits(single))}, nil
}

// AsU32 returns an Int as a value, for packages whose functions take an Int like the functions of
// this package.
func (k *Kernel) AsU32(v Int) U32 {
	if u, ok := v.(U32); ok {
		return u
	}
	o, err := immediate(ptx.U32, v)
	if err != nil {
		k.errorf("%v", err)
		o = ptx.ImmOp(0)
	}
	return U32{&val{k: k, op: o}}
}

// goInt is v when it is a Go integer.
func goInt(v Int) (n int, ok bool) {
	switch x := reflect.ValueOf(v); {
	case v == nil:
		return 0, false
	case x.CanInt():
		return int(x.Int()), true
	case x.CanUint():
		return int(x.Uint()), true
	}
	return 0, false
}

// goTypeName is the name of a PTX type in Go.
func goTypeName(t ptx.Type) string {
	return strings.Replace(strings.ToUpper(t.String()), "X", "x", 1)
}
