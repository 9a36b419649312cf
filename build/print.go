package build

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Printf prints from each thread that reaches it, on the emulator and on a GPU. The format
// is C's: %d, %u, %x, %c for integers, %f, %e, %g for floating-point values, with flags,
// width and precision. It needs no length modifiers, because the types of the values are
// known. A predicate prints as 0 or 1. The output appears when the launch has finished, and
// the order of the threads is not defined. To print from one thread, call Printf in an If.
//
//	k.If(k.TidX().SetpEq(0), func() { k.Printf("m = %g\n", m) })
func (k *Kernel) Printf(format string, args ...Value) {
	text, wide, err := printFormat(format, args)
	if err != nil {
		k.errorf("Printf(%q): %v", format, err)
		return
	}
	size := int64(0)
	for _, w := range wide {
		size = (size+int64(w)-1)&^(int64(w)-1) + int64(w)
	}
	packed := k.printArgs(size)
	at := int64(0)
	for i, a := range args {
		w := int64(wide[i])
		at = (at + w - 1) &^ (w - 1)
		v := k.printable(a)
		emit0(k, "st.local."+memType(v.Type()).String(), nil, &address{k: k, sym: packed, off: at}, v)
		at += w
	}
	k.callPrint(k.generic("global", k.printText(text)), k.generic("local", packed))
}

// printer holds what a kernel's Printf calls share.
type printer struct {
	fn    *ptx.Func  // the declaration of vprintf
	texts []*ptx.Var // format strings, one variable for each
	args  *ptx.Var   // the packed arguments of one call, as large as the largest needs
	known map[string]*ptx.Symbol
}

// items are the module's declarations for printing.
func (p *printer) items() (list []ptx.Item) {
	if p.fn == nil {
		return nil
	}
	list = append(list, p.fn)
	for _, v := range p.texts {
		list = append(list, v)
	}
	return list
}

// printText declares a format string in global memory, once for each text.
func (k *Kernel) printText(text string) *ptx.Symbol {
	p := &k.print
	if s := p.known[text]; s != nil {
		return s
	}
	var bytes []ptx.Operand
	for i := range len(text) {
		bytes = append(bytes, ptx.ImmOp(int64(text[i])))
	}
	bytes = append(bytes, ptx.ImmOp(0))
	init := ptx.VecOp(bytes...)
	v := &ptx.Var{Space: ptx.Global, Align: 1, Type: ptx.B8, Dims: []int64{int64(len(bytes))}, Init: &init}
	p.texts = append(p.texts, v)
	if p.known == nil {
		p.known = map[string]*ptx.Symbol{}
	}
	p.known[text] = k.declare(v, fmt.Sprintf("print_format_%d", len(p.texts)-1))
	return p.known[text]
}

// printArgs is the local array for packed arguments, with room for size bytes.
func (k *Kernel) printArgs(size int64) *ptx.Symbol {
	p := &k.print
	if p.args == nil {
		p.args = &ptx.Var{Space: ptx.Local, Align: 8, Type: ptx.B8, Dims: []int64{8}}
		k.declare(p.args, "print_args")
	}
	p.args.Dims[0] = max(p.args.Dims[0], size)
	return p.args.Sym
}

// generic is the generic address of a variable.
func (k *Kernel) generic(space string, s *ptx.Symbol) U64 {
	return emit1[U64](k, "cvta."+space+".u64", nil, emit1[U64](k, "mov.u64", nil, symArg{s}))
}

// callPrint calls vprintf, which the driver provides.
func (k *Kernel) callPrint(format, args U64) {
	if k.print.fn == nil {
		k.print.fn = declarePrint()
	}
	a, b, r := printParam("format", ptx.B64), printParam("args", ptx.B64), printParam("status", ptx.B32)
	k.body = append(k.body, &ptx.ScopeOpen{}, a, b, r)
	emit0(k, "st.param.b64", nil, &address{k: k, sym: a.Sym}, format)
	emit0(k, "st.param.b64", nil, &address{k: k, sym: b.Sym}, args)
	list := func(vs ...*ptx.Var) ptx.Operand {
		o := ptx.Operand{Kind: ptx.ListOperand}
		for _, v := range vs {
			o.Elems = append(o.Elems, ptx.SymOp(v.Sym))
		}
		return o
	}
	k.emit(&ptx.Inst{Op: k.opcode("call", []Mod{{name: "uni"}}), Args: []ptx.Operand{list(r), ptx.SymOp(k.print.fn.Sym), list(a, b)}})
	k.body = append(k.body, &ptx.ScopeClose{})
}

// declarePrint is the declaration of vprintf.
func declarePrint() *ptx.Func {
	f := &ptx.Func{
		Sym:     &ptx.Symbol{Name: "vprintf", Kind: ptx.FuncSymbol},
		Linkage: ptx.Extern,
		Returns: []*ptx.Var{printParam("status", ptx.B32)},
		Params:  []*ptx.Var{printParam("format", ptx.B64), printParam("args", ptx.B64)},
	}
	f.Sym.Func = f
	return f
}

// printParam is a parameter of vprintf, or a variable that holds one for a call.
func printParam(name string, t ptx.Type) *ptx.Var {
	v := &ptx.Var{Space: ptx.Param, Type: t}
	v.Sym = &ptx.Symbol{Name: name, Kind: ptx.VarSymbol, Type: t, Var: v}
	return v
}

// printable is a value as vprintf takes it: integers of at least 32 bits, and f64.
func (k *Kernel) printable(v Value) Value {
	switch t := v.Type(); {
	case t == ptx.Pred:
		return k.U32(1).Selp(k.U32(0), v.(Pred))
	case t == ptx.F64:
		return v
	case t == ptx.TF32:
		return Cast[F32](v.(TF32)).CvtF64()
	case t == ptx.BF16: // cvt from bf16 needs sm_90; its bits are the upper half of an f32's
		return Cast[F32](emit1[U32](k, "cvt.u32.u16", nil, v).Shl(16)).CvtF64()
	case printsFloat(t):
		return emit1[F64](k, "cvt.f64."+t.String(), nil, v)
	case t.Bits() < 32:
		to := "u32"
		if signed(t) {
			to = "s32"
		}
		return emit1[U32](k, "cvt."+to+"."+integerOf(t), nil, v)
	}
	return v
}

func signed(t ptx.Type) bool { return t == ptx.S8 || t == ptx.S16 || t == ptx.S32 || t == ptx.S64 }

// integerOf is the integer type that cvt reads the bits of t as: it takes no .b types.
func integerOf(t ptx.Type) string {
	if signed(t) {
		return t.String()
	}
	return fmt.Sprintf("u%d", t.Bits())
}

func printsFloat(t ptx.Type) bool {
	return t == ptx.F16 || t == ptx.BF16 || t == ptx.TF32 || t == ptx.F32 || t == ptx.F64
}

// printFormat checks a format against its values. It returns the format with the length
// modifiers that the types need, and the bytes that each value takes.
func printFormat(format string, args []Value) (text string, wide []int, err error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		b.WriteByte(format[i])
		if format[i] != '%' {
			continue
		}
		n := i + 1
		for n < len(format) && strings.IndexByte("-+ #0123456789.", format[n]) >= 0 {
			n++
		}
		if n == len(format) {
			return "", nil, fmt.Errorf("the format ends inside a conversion")
		}
		if format[n] == '%' && n == i+1 {
			b.WriteByte('%')
			i = n
			continue
		}
		if len(wide) == len(args) {
			return "", nil, fmt.Errorf("%s has no value: the call passes %d", format[i:n+1], len(args))
		}
		size, long, err := conversion(format[i:n+1], args[len(wide)].Type())
		if err != nil {
			return "", nil, err
		}
		b.WriteString(format[i+1:n] + long + format[n:n+1])
		wide = append(wide, size)
		i = n
	}
	if len(wide) < len(args) {
		return "", nil, fmt.Errorf("the format has fewer conversions (%d) than the call has values (%d)", len(wide), len(args))
	}
	return b.String(), wide, nil
}

// conversion checks one conversion against a type. It returns the value's bytes and the
// length modifier.
func conversion(spec string, t ptx.Type) (size int, long string, err error) {
	verb := spec[len(spec)-1]
	integer := strings.IndexByte("diuxXoc", verb) >= 0
	float := strings.IndexByte("fFeEgGaA", verb) >= 0
	packed := t.Class() == ptx.ClassPacked && !printsFloat(t)
	switch {
	case !integer && !float:
		return 0, "", fmt.Errorf("%s is not a conversion of Printf: use %%d, %%u, %%x, %%c, %%f, %%e or %%g", spec)
	case packed:
		return 0, "", fmt.Errorf("%s cannot print a .%s: unpack it or convert it first", spec, t)
	case printsFloat(t) && integer:
		return 0, "", fmt.Errorf("%s prints integers, and the value is a .%s: use %%f, %%e or %%g", spec, t)
	case !printsFloat(t) && float:
		return 0, "", fmt.Errorf("%s prints floating-point values, and the value is a .%s: use %%d, %%u or %%x", spec, t)
	case float || t.Bits() == 64 && verb != 'c':
		if integer {
			long = "ll"
		}
		return 8, long, nil
	}
	return 4, "", nil
}
