package abi

import (
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Format is the format of numbers in memory: "u8", "u8-legacy", "e4m3", "e5m2",
// "f16", "bf16" or "f32".
type Format string

// The formats of 16 and 32 bits. Package fp8 defines the formats of one byte.
const (
	F16  Format = "f16"
	BF16 Format = "bf16"
	F32  Format = "f32"
)

// FP8 returns the format as one of package fp8, and whether it is a format of one byte.
func (f Format) FP8() (fp8.Format, bool) {
	b, err := fp8.ParseFormat(string(f))
	return b, err == nil
}

// Bytes returns the size of a number in bytes.
func (f Format) Bytes() int {
	switch f {
	case F32:
		return 4
	case F16, BF16:
		return 2
	}
	return 1
}

// Scaling says which scales multiply the values of Q, K and V.
type Scaling string

// The scalings.
const (
	PerHead   Scaling = "per-head"
	PerTensor Scaling = "per-tensor"
	NoScale   Scaling = "none"
)

// Layout is the order of the dimensions in memory, outermost first.
type Layout string

// The layouts.
const (
	BHSD Layout = "BHSD"
	BSHD Layout = "BSHD"
)

// ABI describes how a kernel is called. The package comment describes its JSON form.
type ABI struct {
	Entry   string      `json:"entry"`
	Format  Format      `json:"format"`
	Scaling Scaling     `json:"scaling,omitempty"`
	Output  Format      `json:"output,omitempty"`
	P       Format      `json:"p,omitempty"`
	Layout  Layout      `json:"layout,omitempty"`
	Causal  bool        `json:"causal,omitempty"`
	Params  []Param     `json:"params"`
	Grid    []expr.Expr `json:"grid"`
	Block   []expr.Expr `json:"block"`
	Cluster []expr.Expr `json:"cluster,omitempty"`
	Shared  expr.Expr   `json:"shared,omitzero"`
	Require []expr.Expr `json:"require,omitempty"`
}

// Param is a parameter: a pointer, a tensor map, or a value of a type.
type Param struct {
	Pointer   string
	Bytes     expr.Expr // of a workspace
	Zero      bool      // the workspace is zeroed before a launch
	TensorMap *TensorMap
	Type      string // "u32", "f32", …
	Value     expr.Expr
}

// TensorMap describes an operand to the copy engine.
type TensorMap struct {
	Pointer string      `json:"pointer"`
	Type    string      `json:"type"`
	Dims    []expr.Expr `json:"dims"`
	Strides []expr.Expr `json:"strides,omitempty"`
	Box     []expr.Expr `json:"box"`
	Swizzle string      `json:"swizzle,omitempty"`
	Fill    string      `json:"fill,omitempty"`
}

// Vars are the values of the names in expressions.
type Vars struct {
	Shape            problem.Shape
	SMs, BlocksPerSM int
	Scale            float64 // factor of the logits; 0 selects 1/√D
	Qs, Ks, Vs       float64 // the scales of Q, K and V if each tensor has one
}

// names are the names that an expression may use.
var names = []string{"B", "H", "Hkv", "Sq", "Skv", "S", "D", "SMs", "BlocksPerSM", "scale", "qs", "ks", "vs"}

// Env binds the names to the values.
func (v Vars) Env() expr.Env {
	scale := v.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(v.Shape.D))
	}
	return expr.Env{
		"B": count(v.Shape.B), "H": count(v.Shape.Hq), "Hkv": count(v.Shape.Hkv), "D": count(v.Shape.D),
		"Sq": count(v.Shape.Sq), "S": count(v.Shape.Sq), "Skv": count(v.Shape.Skv),
		"SMs": count(v.SMs), "BlocksPerSM": count(v.BlocksPerSM),
		"scale": expr.Float(scale), "qs": expr.Float(v.Qs), "ks": expr.Float(v.Ks), "vs": expr.Float(v.Vs),
	}
}

func count(n int) expr.Value { return expr.Int(int64(n)) }

// Operand is a piece of memory that a kernel uses.
type Operand struct {
	Name  string // "q", …, "o", "lse", "workspace", "workspace2", …
	Bytes int64
	Role  Role
	Zero  bool // the workspace is zeroed before a launch
}

// Role says what a kernel does with an operand.
type Role int

// The roles.
const (
	Input Role = iota
	Output
	Workspace
)

// Operands returns the memory that a launch uses, each piece once, in the order in
// which the parameters first name it.
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
			n, err := a.Params[i].Bytes.Int(v.Env())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if n < 0 || n > 1<<40 {
				return nil, fmt.Errorf("%s has %d bytes: the size must be from 0 to 2^40", name, n)
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

// pointers returns the operand to which each parameter points, or "" for a value.
// Workspaces from the second on are numbered.
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

// LSE reports whether the kernel writes the log-sum-exp of each row.
func (a *ABI) LSE() bool {
	for _, p := range a.Params {
		if p.Pointer == "lse" {
			return true
		}
	}
	return false
}

// ByValue reports whether a parameter's value contains a scale of Q, K or V.
func (a *ABI) ByValue() bool {
	for _, p := range a.Params {
		for _, name := range p.Value.Names() {
			if slices.Contains([]string{"qs", "ks", "vs"}, name) {
				return true
			}
		}
	}
	return false
}

// Serves returns the reason why the kernel cannot compute a shape, or nil if it can.
func (a *ABI) Serves(s problem.Shape) error {
	if err := s.Check(); err != nil {
		return err
	}
	env := Vars{Shape: s, SMs: 1, BlocksPerSM: 1}.Env()
	for _, r := range a.Require {
		ok, err := r.Bool(env)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s needs %s", a.Entry, r)
		}
	}
	return nil
}

// Maker encodes tensor maps. Every device is a Maker.
type Maker interface {
	TensorMap(d device.TensorDesc) (device.TensorMap, error)
}

// Launch returns the launch for a problem. at holds the address of each operand.
func (a *ABI) Launch(v Vars, at map[string]uint64, maker Maker) (device.Launch, error) {
	l, err := a.Extents(v)
	if err != nil {
		return l, err
	}
	env := v.Env()
	for i, name := range a.pointers() {
		p, err := a.Params[i].bind(env, at[name], maker)
		if err != nil {
			return l, fmt.Errorf("parameter %d of %s: %w", i, a.Entry, err)
		}
		l.Params = append(l.Params, p)
	}
	return l, nil
}

// Extents returns the launch without its parameters.
func (a *ABI) Extents(v Vars) (l device.Launch, err error) {
	env := v.Env()
	for _, e := range []struct {
		what string
		from []expr.Expr
		to   *device.Dim
	}{{"grid", a.Grid, &l.Grid}, {"block", a.Block, &l.Block}, {"cluster", a.Cluster, &l.Cluster}} {
		extents := make([]int, len(e.from))
		for i, x := range e.from {
			n, err := x.Int(env)
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
	if a.Shared.IsZero() {
		return l, nil
	}
	n, err := a.Shared.Int(env)
	if err == nil && (n < 0 || n > 1<<30) {
		err = fmt.Errorf("%s is %d for %v", a.Shared, n, v.Shape)
	}
	if err != nil {
		return l, fmt.Errorf("shared memory of %s: %w", a.Entry, err)
	}
	l.Shared = int(n)
	return l, nil
}

// bind returns the bytes of a parameter. addr is the address of its operand.
func (p *Param) bind(env expr.Env, addr uint64, maker Maker) (device.Param, error) {
	switch {
	case p.Pointer != "":
		return device.U64(addr), nil
	case p.TensorMap != nil:
		d, err := p.TensorMap.describe(env, addr)
		if err != nil {
			return nil, err
		}
		m, err := maker.TensorMap(d)
		return m.Param(), err
	}
	return encoders[p.Type](p.Value, env)
}

// tensorTypes are the types of elements that the copy engine supports.
var tensorTypes = map[string]ptx.Type{
	"u8": ptx.U8, "u16": ptx.U16, "u32": ptx.U32, "i32": ptx.S32, "u64": ptx.U64, "i64": ptx.S64,
	"f16": ptx.F16, "bf16": ptx.BF16, "f32": ptx.F32, "f64": ptx.F64, "tf32": ptx.TF32,
}

var swizzles = map[string]device.Swizzle{
	"": device.NoSwizzle, "none": device.NoSwizzle, "32B": device.Swizzle32B, "64B": device.Swizzle64B, "128B": device.Swizzle128B,
}

func (t *TensorMap) describe(env expr.Env, addr uint64) (device.TensorDesc, error) {
	d := device.TensorDesc{Type: tensorTypes[t.Type], Addr: addr, Swizzle: swizzles[t.Swizzle], NaNFill: t.Fill == "nan"}
	for _, x := range t.Dims {
		n, err := x.Int(env)
		if err != nil {
			return d, err
		}
		d.Dims = append(d.Dims, uint64(n))
	}
	for _, x := range t.Box {
		n, err := x.Int(env)
		if err != nil {
			return d, err
		}
		d.Box = append(d.Box, uint32(n))
	}
	for _, x := range t.Strides {
		n, err := x.Int(env)
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
