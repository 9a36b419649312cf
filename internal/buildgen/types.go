package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// valueTypes are the PTX types of register values. Each has a type in Go.
var valueTypes = []ptx.Type{
	ptx.Pred,
	ptx.B8, ptx.U8, ptx.S8,
	ptx.B16, ptx.U16, ptx.S16, ptx.F16, ptx.BF16, ptx.E4M3x2, ptx.E5M2x2,
	ptx.B32, ptx.U32, ptx.S32, ptx.F32, ptx.F16x2, ptx.BF16x2, ptx.U16x2, ptx.S16x2, ptx.TF32,
	ptx.B64, ptx.U64, ptx.S64, ptx.F64,
	ptx.B128,
}

// goType returns the name of a type in Go: PTX's name in capitals.
func goType(t ptx.Type) string {
	s := strings.ToUpper(t.String())
	if t == ptx.Pred {
		return "Pred"
	}
	for _, n := range []string{"2", "4"} {
		s = strings.Replace(s, "X"+n, "x"+n, 1)
	}
	return s
}

// sameBits returns the types that a value of the bits type t can be used as.
func sameBits(t ptx.Type) (ts []ptx.Type) {
	for _, v := range valueTypes {
		if v.Bits() == t.Bits() && v != ptx.Pred {
			ts = append(ts, v)
		}
	}
	return ts
}

func writeTypes(w *bytes.Buffer) {
	for _, t := range valueTypes {
		g := goType(t)
		fmt.Fprintf(w, "// %s is a value of PTX type .%s.\ntype %s struct{ *val }\n\n", g, t, g)
		fmt.Fprintf(w, "// Type is .%s.\nfunc (%s) Type() ptx.Type { return ptx.%s }\n\n", t, g, g)
		fmt.Fprintf(w, "func (%s) make(v *val) Value { return %s{v} }\n\n", g, g)
		writeConstant(w, t)
		if t == ptx.Pred {
			continue
		}
		if t != ptx.B128 {
			fmt.Fprintf(w, "// Param%s declares a kernel parameter of type .%s.\nfunc (k *Kernel) Param%s(name string) %s { return param[%s](k, name) }\n\n", g, t, g, g, g)
		}
	}
}

// writeConstant writes the method of Kernel that makes a constant.
func writeConstant(w *bytes.Buffer, t ptx.Type) {
	g := goType(t)
	switch {
	case t == ptx.Pred || t == ptx.B128:
	case t == ptx.F32:
		fmt.Fprintf(w, "// F32 is a constant.\nfunc (k *Kernel) F32(v float32) F32 {\n\treturn F32{k.constant(ptx.F32Operand, int64(math.Float32bits(v)))}\n}\n\n")
	case t == ptx.F64:
		fmt.Fprintf(w, "// F64 is a constant.\nfunc (k *Kernel) F64(v float64) F64 {\n\treturn F64{k.constant(ptx.F64Operand, int64(math.Float64bits(v)))}\n}\n\n")
	case t.Class() == ptx.ClassPacked || t == ptx.F16:
		fmt.Fprintf(w, "// %s is the constant with these bits. PTX has no such literal: it is a mov.\nfunc (k *Kernel) %s(bits uint%d) %s {\n\treturn constBitsOf[%s](k, int64(bits))\n}\n\n", g, g, t.Bits(), g, g)
	default:
		fmt.Fprintf(w, "// %s is a constant.\nfunc (k *Kernel) %s(v %s) %s { return %s{k.constant(ptx.ImmOperand, int64(v))} }\n\n", g, g, goInt(t), g, g)
	}
}

func goInt(t ptx.Type) string {
	if t.Class() == ptx.ClassSigned {
		return fmt.Sprintf("int%d", t.Bits())
	}
	return fmt.Sprintf("uint%d", t.Bits())
}

func writeSpecials(w *bytes.Buffer) {
	specials := ptx.Specials()
	slices.SortFunc(specials, func(a, b *ptx.Symbol) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range specials {
		if !strings.HasPrefix(s.Name, "%") || s.Vec > 0 {
			continue // WARP_SZ is a constant; vectors are read by component
		}
		name := camel(s.Name[1:])
		g := goType(s.Type)
		fmt.Fprintf(w, "// %s reads the special register %s.\nfunc (k *Kernel) %s() %s { return special[%s](k, %q) }\n\n", name, s.Name, name, g, g, s.Name)
	}
}

// camel joins the words of a PTX name: "mbarrier::complete_tx" is MbarrierCompleteTx.
func camel(s string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("._:", r) }) {
		if t := ptx.ParseType(w); t != ptx.NoType {
			b.WriteString(goType(t))
			continue
		}
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}
