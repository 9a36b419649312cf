package attn

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
)

// Params declares the parameters of an entry and records the argument for each, so that the
// order of parameters is written once: it is the order of these calls.
type Params struct {
	k    *build.Kernel
	args []kernel.Arg
}

// NewParams returns an empty list of parameters.
func NewParams(k *build.Kernel) *Params { return &Params{k: k} }

// Args returns the arguments of a launch, in the order of the parameters.
func (p *Params) Args() []kernel.Arg { return p.args }

func (p *Params) pointer(operand string) string {
	p.args = append(p.args, kernel.Arg{Pointer: operand})
	return operand
}

// Bytes declares a pointer to an operand of one-byte elements.
func (p *Params) Bytes(operand string) build.Global[build.B8] {
	return build.ParamGlobal[build.B8](p.k, p.pointer(operand))
}

// Halves declares a pointer to an operand of two-byte elements.
func (p *Params) Halves(operand string) build.Global[build.B16] {
	return build.ParamGlobal[build.B16](p.k, p.pointer(operand))
}

// Floats declares a pointer to an operand of f32.
func (p *Params) Floats(operand string) build.Global[build.F32] {
	return build.ParamGlobal[build.F32](p.k, p.pointer(operand))
}

// Words declares a pointer to an operand of 32-bit integers.
func (p *Params) Words(operand string) build.Global[build.U32] {
	return build.ParamGlobal[build.U32](p.k, p.pointer(operand))
}

// Map declares a tensor map of an operand. The parameter has the operand's name.
func (p *Params) Map(m kernel.TensorMap) build.TensorMap {
	p.args = append(p.args, kernel.Arg{Map: &m})
	return p.k.ParamTensorMap(m.Operand)
}

// U32 declares an integer parameter. value is the expression for its argument.
func (p *Params) U32(name, value string) build.U32 {
	p.args = append(p.args, kernel.Arg{Type: "u32", Value: expr.Must(value)})
	return p.k.ParamU32(name)
}

// U64 declares a 64-bit integer parameter. value is the expression for its argument.
func (p *Params) U64(name, value string) build.U64 {
	p.args = append(p.args, kernel.Arg{Type: "u64", Value: expr.Must(value)})
	return p.k.ParamU64(name)
}

// F32 declares a float parameter. value is the expression for its argument.
func (p *Params) F32(name, value string) build.F32 {
	p.args = append(p.args, kernel.Arg{Type: "f32", Value: expr.Must(value)})
	return p.k.ParamF32(name)
}
