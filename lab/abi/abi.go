package abi

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Format is how numbers lie in memory: "u8", "u8-legacy", "e4m3", "e5m2", "f16",
// "bf16" or "f32".
type Format string

// The formats of 16 and 32 bits. Those of one byte are fp8's, by their names.
const (
	F16  Format = "f16"
	BF16 Format = "bf16"
	F32  Format = "f32"
)

// FP8 is the format of one byte, and whether it is one.
func (f Format) FP8() (fp8.Format, bool) {
	b, err := fp8.ParseFormat(string(f))
	return b, err == nil
}

// Bytes is the size of a number.
func (f Format) Bytes() int {
	switch f {
	case F32:
		return 4
	case F16, BF16:
		return 2
	}
	return 1
}

// Scaling says what values are multiplied by.
type Scaling string

// The scalings.
const (
	PerHead   Scaling = "per-head"
	PerTensor Scaling = "per-tensor"
	NoScale   Scaling = "none"
)

// Layout is the order of the extents in memory, the outermost first.
type Layout string

// The layouts.
const (
	BHSD Layout = "BHSD"
	BSHD Layout = "BSHD"
)

// ABI is how a kernel is called. Its JSON form is described in the package comment.
type ABI struct {
	Entry   string  `json:"entry"`
	Format  Format  `json:"format"`
	Scaling Scaling `json:"scaling,omitempty"`
	Output  Format  `json:"output,omitempty"`
	P       Format  `json:"p,omitempty"`
	Layout  Layout  `json:"layout,omitempty"`
	Causal  bool    `json:"causal,omitempty"`
	Params  []Param `json:"params"`
	Grid    []Expr  `json:"grid"`
	Block   []Expr  `json:"block"`
	Cluster []Expr  `json:"cluster,omitempty"`
	Shared  Expr    `json:"shared,omitzero"`
	Require []Expr  `json:"require,omitempty"`
}

// Param is a parameter: a pointer, a tensor map, or a value of a type.
type Param struct {
	Pointer   string
	Bytes     Expr // of a workspace
	Zero      bool // the workspace is zeroed before a launch
	TensorMap *TensorMap
	Type      string // "u32", "f32", …
	Value     Expr
}

// TensorMap describes an operand to the copy engine.
type TensorMap struct {
	Pointer string `json:"pointer"`
	Type    string `json:"type"`
	Dims    []Expr `json:"dims"`
	Strides []Expr `json:"strides,omitempty"`
	Box     []Expr `json:"box"`
	Swizzle string `json:"swizzle,omitempty"`
	Fill    string `json:"fill,omitempty"`
}

// Vars are what expressions are over.
type Vars struct {
	Shape            problem.Shape
	SMs, BlocksPerSM int
	Scale            float64 // of logits; 0 is 1/√D
	Qs, Ks, Vs       float64 // the scales of tensors that have one each
}

// names are the names in expressions; those with a fraction have no integer.
var names = map[string]func(v Vars) int{
	"B": func(v Vars) int { return v.Shape.B }, "H": func(v Vars) int { return v.Shape.Hq },
	"Hkv": func(v Vars) int { return v.Shape.Hkv }, "D": func(v Vars) int { return v.Shape.D },
	"Sq": func(v Vars) int { return v.Shape.Sq }, "S": func(v Vars) int { return v.Shape.Sq },
	"Skv": func(v Vars) int { return v.Shape.Skv },
	"SMs": func(v Vars) int { return v.SMs }, "BlocksPerSM": func(v Vars) int { return v.BlocksPerSM },
	"scale": nil, "qs": nil, "ks": nil, "vs": nil,
}

func (v Vars) float(name string) float64 {
	switch name {
	case "scale":
		if v.Scale != 0 {
			return v.Scale
		}
		return 1 / math.Sqrt(float64(v.Shape.D))
	case "qs":
		return v.Qs
	case "ks":
		return v.Ks
	case "vs":
		return v.Vs
	}
	return float64(names[name](v))
}

// Operand is memory that a kernel is given.
type Operand struct {
	Name  string // "q", …, "o", "lse", "workspace", "workspace2", …
	Bytes int64
	Role  Role
	Zero  bool // a workspace that is zeroed before a launch
}

// Role is what a kernel may do with an operand.
type Role int

// The roles.
const (
	Input Role = iota
	Output
	Workspace
)

// Operands are the memory that a launch takes, each once, in the order in which they
// are first named.
func (a *ABI) Operands(v Vars) ([]Operand, error) {
	var list []Operand
	seen := map[string]bool{}
	for i, name := range a.pointers() {
		if seen[name] {
			continue
		}
		seen[name] = true
		o := Operand{Name: name, Role: Input}
		s := v.Shape
		switch name {
		case "q":
			o.Bytes = int64(s.Q().Len()) * int64(a.Format.Bytes())
		case "k", "v":
			o.Bytes = int64(s.KV().Len()) * int64(a.Format.Bytes())
		case "qs":
			o.Bytes = a.scaleBytes(s.Hq)
		case "ks", "vs":
			o.Bytes = a.scaleBytes(s.Hkv)
		case "o":
			o.Bytes, o.Role = int64(s.Q().Len())*int64(a.Output.Bytes()), Output
		case "lse":
			o.Bytes, o.Role = 4*int64(s.Q().Rows()), Output
		case "": // a value or a tensor map of something else
			continue
		default:
			n, err := a.Params[i].Bytes.Int(v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if n < 0 || n > 1<<40 {
				return nil, fmt.Errorf("%s of %d bytes", name, n)
			}
			o.Bytes, o.Role, o.Zero = max(n, 1), Workspace, a.Params[i].Zero
		}
		list = append(list, o)
	}
	return list, nil
}

func (a *ABI) scaleBytes(heads int) int64 {
	if a.Scaling == PerTensor {
		return 4
	}
	return 4 * int64(heads)
}

// pointers are what the parameters point to: workspaces get numbers from the second
// on.
func (a *ABI) pointers() []string {
	list := make([]string, len(a.Params))
	spaces := 0
	for i, p := range a.Params {
		list[i] = p.Pointer
		if p.TensorMap != nil {
			list[i] = p.TensorMap.Pointer
		}
		if p.Pointer == "workspace" {
			if spaces++; spaces > 1 {
				list[i] = fmt.Sprintf("workspace%d", spaces)
			}
		}
	}
	return list
}

// LSE reports whether the kernel writes the logarithms of sums.
func (a *ABI) LSE() bool {
	for _, p := range a.Params {
		if p.Pointer == "lse" {
			return true
		}
	}
	return false
}

// ByValue reports whether scales of Q, K and V are in values of parameters.
func (a *ABI) ByValue() bool {
	for _, p := range a.Params {
		if !p.Value.IsZero() && p.Value.uses("qs", "ks", "vs") {
			return true
		}
	}
	return false
}

// Serves says why the kernel cannot compute a shape, or nil when it can.
func (a *ABI) Serves(s problem.Shape) error {
	if err := s.Check(); err != nil {
		return err
	}
	for _, r := range a.Require {
		ok, err := r.Holds(Vars{Shape: s, SMs: 1, BlocksPerSM: 1})
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s needs %s", a.Entry, r)
		}
	}
	return nil
}

// Maker encodes tensor maps: a device does.
type Maker interface {
	TensorMap(d device.TensorDesc) (device.TensorMap, error)
}

// Launch is the launch for a problem whose operands are at some addresses.
func (a *ABI) Launch(v Vars, at map[string]uint64, maker Maker) (device.Launch, error) {
	l, err := a.Extents(v)
	if err != nil {
		return l, err
	}
	for i, name := range a.pointers() {
		p, err := a.param(i, v, at[name], maker)
		if err != nil {
			return l, fmt.Errorf("parameter %d of %s: %w", i, a.Entry, err)
		}
		l.Params = append(l.Params, p)
	}
	return l, nil
}

// Extents is the launch without its parameters.
func (a *ABI) Extents(v Vars) (l device.Launch, err error) {
	for _, e := range []struct {
		what string
		from []Expr
		to   *device.Dim
	}{{"grid", a.Grid, &l.Grid}, {"block", a.Block, &l.Block}, {"cluster", a.Cluster, &l.Cluster}} {
		extents := make([]int, len(e.from))
		for i, x := range e.from {
			n, err := x.Int(v)
			if err != nil {
				return l, fmt.Errorf("%s of %s: %w", e.what, a.Entry, err)
			}
			if n < 1 || n > math.MaxInt32 {
				return l, fmt.Errorf("%s of %s: %s is %d for %v", e.what, a.Entry, x, n, v.Shape)
			}
			extents[i] = int(n)
		}
		*e.to = device.D(extents...)
	}
	n, err := a.Shared.Int(v)
	if err == nil && (n < 0 || n > 1<<30) {
		err = fmt.Errorf("%s is %d for %v", a.Shared, n, v.Shape)
	}
	if err != nil {
		return l, fmt.Errorf("shared memory of %s: %w", a.Entry, err)
	}
	l.Shared = int(n)
	return l, nil
}

func (a *ABI) param(i int, v Vars, addr uint64, maker Maker) (device.Param, error) {
	p := a.Params[i]
	switch {
	case p.Pointer != "":
		return device.U64(addr), nil
	case p.TensorMap != nil:
		d, err := p.TensorMap.describe(v, addr)
		if err != nil {
			return nil, err
		}
		m, err := maker.TensorMap(d)
		return m.Param(), err
	}
	return encode(p.Type, p.Value, v)
}

// tensorTypes are the types of elements that the copy engine knows.
var tensorTypes = map[string]ptx.Type{
	"u8": ptx.U8, "u16": ptx.U16, "u32": ptx.U32, "i32": ptx.S32, "u64": ptx.U64, "i64": ptx.S64,
	"f16": ptx.F16, "bf16": ptx.BF16, "f32": ptx.F32, "f64": ptx.F64, "tf32": ptx.TF32,
}

var swizzles = map[string]device.Swizzle{
	"": device.NoSwizzle, "none": device.NoSwizzle, "32B": device.Swizzle32B, "64B": device.Swizzle64B, "128B": device.Swizzle128B,
}

func (t *TensorMap) describe(v Vars, addr uint64) (device.TensorDesc, error) {
	d := device.TensorDesc{Type: tensorTypes[t.Type], Addr: addr, Swizzle: swizzles[t.Swizzle], NaNFill: t.Fill == "nan"}
	for _, x := range t.Dims {
		n, err := x.Int(v)
		if err != nil {
			return d, err
		}
		d.Dims = append(d.Dims, uint64(n))
	}
	for _, x := range t.Box {
		n, err := x.Int(v)
		if err != nil {
			return d, err
		}
		d.Box = append(d.Box, uint32(n))
	}
	for _, x := range t.Strides {
		n, err := x.Int(v)
		if err != nil {
			return d, err
		}
		d.Strides = append(d.Strides, uint64(n))
	}
	if len(t.Strides) == 0 {
		step := uint64(d.Type.Bytes())
		for _, n := range d.Dims[:max(len(d.Dims)-1, 0)] {
			step *= n
			d.Strides = append(d.Strides, step)
		}
	}
	return d, nil
}
