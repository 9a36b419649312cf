package abi

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
)

// Error says what is wrong with an ABI file, and at which line and column.
type Error = jsonpos.Error

// Parse reads an ABI. file is the file's name in errors, which are of type *Error.
func Parse(file string, text []byte) (*ABI, error) {
	n, err := jsonpos.Parse(file, text)
	if err != nil {
		return nil, err
	}
	a := &ABI{}
	if err := a.read(n); err != nil {
		return nil, err
	}
	a.defaults()
	return a, nil
}

// UnmarshalJSON reads an ABI that is part of a larger JSON text.
func (a *ABI) UnmarshalJSON(text []byte) error {
	p, err := Parse("abi", text)
	if err == nil {
		*a = *p
	}
	return err
}

// Check returns an error if Parse would not accept a. It is for an ABI that was built
// in Go.
func (a *ABI) Check() error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = Parse("abi", text)
	return err
}

// defaults sets the fields that the file does not have.
func (a *ABI) defaults() {
	set := func(to *Format, f Format) {
		if *to == "" {
			*to = f
		}
	}
	set(&a.Output, F16)
	set(&a.P, F16)
	if a.Layout == "" {
		a.Layout = BHSD
	}
	if a.Scaling == "" {
		a.Scaling = NoScale
		if _, one := a.Format.FP8(); one {
			a.Scaling = PerHead
		}
	}
}

func (a *ABI) read(n *jsonpos.Node) error {
	err := n.Object("an ABI", jsonpos.Fields{
		"entry":   jsonpos.Text(&a.Entry),
		"format":  jsonpos.Word(&a.Format, "u8", "u8-legacy", "e4m3", "e5m2", F16, BF16),
		"scaling": jsonpos.Word(&a.Scaling, PerHead, PerTensor, NoScale),
		"output":  jsonpos.Word(&a.Output, F16, BF16, F32),
		"p":       jsonpos.Word(&a.P, F32, F16, BF16, "e4m3", "e5m2"),
		"layout":  jsonpos.Word(&a.Layout, BHSD, BSHD),
		"causal":  jsonpos.Bool(&a.Causal),
		"params":  jsonpos.List("parameters", a.readParam),
		"grid":    jsonpos.Exprs(&a.Grid, 1, 3, names),
		"block":   jsonpos.Exprs(&a.Block, 1, 3, names),
		"cluster": jsonpos.Exprs(&a.Cluster, 1, 3, names),
		"shared":  jsonpos.Expr(&a.Shared, names),
		"require": jsonpos.Exprs(&a.Require, 0, 64, names),
	}, "entry", "format", "params", "grid", "block")
	if err != nil {
		return err
	}
	return a.complete(n)
}

// complete refuses an ABI without one of the operands, or with scales that its format
// or its scaling does not have.
func (a *ABI) complete(n *jsonpos.Node) error {
	fields := n.Fields()
	params := &fields[slices.IndexFunc(fields, func(f jsonpos.Field) bool { return f.Name == "params" })]
	have := a.pointers()
	for _, name := range []string{"q", "k", "v", "o"} {
		if !slices.Contains(have, name) {
			return params.Errorf("no parameter points to %s", name)
		}
	}
	_, fp8 := a.Format.FP8()
	for i, name := range have {
		scale := name == "qs" || name == "ks" || name == "vs"
		if scale && (a.Scaling == NoScale || a.Scaling == "" && !fp8) {
			return params.Value.Items()[i].Errorf("%s is a scale, but \"scaling\" is %q, so there are no scales", name, NoScale)
		}
	}
	if s := n.Field("scaling"); s != nil && a.Scaling != NoScale && !fp8 {
		return s.Errorf("%s is not scaled: its scaling must be %q", a.Format, NoScale)
	}
	return nil
}

// operandNames are the operands to which a parameter may point.
var operandNames = []string{"q", "k", "v", "qs", "ks", "vs", "o", "lse", "workspace"}

func (a *ABI) readParam(n *jsonpos.Node) error {
	var p Param
	known := jsonpos.Fields{
		"pointer":   jsonpos.Word(&p.Pointer, operandNames...),
		"bytes":     jsonpos.Expr(&p.Bytes, names),
		"zero":      jsonpos.Bool(&p.Zero),
		"tensormap": p.readTensorMap,
	}
	for name := range encoders {
		known[name] = func(n *jsonpos.Node) error {
			p.Type = name
			return jsonpos.Expr(&p.Value, names)(n)
		}
	}
	if err := n.Object("a parameter", known); err != nil {
		return err
	}
	kinds := 0
	for _, f := range n.Fields() {
		if f.Name != "bytes" && f.Name != "zero" {
			kinds++
		}
	}
	space := p.Pointer == "workspace"
	switch {
	case kinds != 1:
		return n.Errorf("a parameter needs exactly one of pointer, tensormap or a type such as u32")
	case space && p.Bytes.IsZero():
		return n.Errorf(`a workspace needs "bytes"`)
	case !space && (n.Field("bytes") != nil || n.Field("zero") != nil):
		return n.Errorf(`only a workspace may have "bytes" and "zero"`)
	}
	a.Params = append(a.Params, p)
	return nil
}

func (p *Param) readTensorMap(n *jsonpos.Node) error {
	t := &TensorMap{}
	p.TensorMap = t
	err := n.Object("a tensor map", jsonpos.Fields{
		"pointer": jsonpos.Word(&t.Pointer, "q", "k", "v", "o"),
		"type":    jsonpos.Word(&t.Type, slices.Sorted(maps.Keys(tensorTypes))...),
		"dims":    jsonpos.Exprs(&t.Dims, 1, 5, names),
		"strides": jsonpos.Exprs(&t.Strides, 0, 4, names),
		"box":     jsonpos.Exprs(&t.Box, 1, 5, names),
		"swizzle": jsonpos.Word(&t.Swizzle, "none", "32B", "64B", "128B"),
		"fill":    jsonpos.Word(&t.Fill, "zero", "nan"),
	}, "pointer", "type", "dims", "box")
	switch {
	case err != nil:
		return err
	case len(t.Box) != len(t.Dims):
		return n.Errorf("the number of extents of the box is %d and the number of dimensions is %d: they must be equal", len(t.Box), len(t.Dims))
	case len(t.Strides) != 0 && len(t.Strides) != len(t.Dims)-1:
		return n.Errorf("the number of strides is %d and the number of dimensions is %d: every dimension but the innermost has a stride", len(t.Strides), len(t.Dims))
	}
	return nil
}

// MarshalJSON writes the form that Parse reads.
func (p Param) MarshalJSON() ([]byte, error) {
	m := map[string]any{}
	switch {
	case p.Pointer != "":
		m["pointer"] = p.Pointer
		if !p.Bytes.IsZero() {
			m["bytes"] = p.Bytes
		}
		if p.Zero {
			m["zero"] = true
		}
	case p.TensorMap != nil:
		m["tensormap"] = p.TensorMap
	default:
		m[p.Type] = p.Value
	}
	return json.Marshal(m)
}

// encoder returns the bytes of an expression's value.
type encoder func(expr.Expr, expr.Env) (device.Param, error)

// encoders are the types of parameters.
var encoders = map[string]encoder{
	"u8": integer(1, 0, math.MaxUint8), "u16": integer(2, 0, math.MaxUint16), "u32": integer(4, 0, math.MaxUint32), "u64": integer(8, 0, math.MaxInt64),
	"i8": integer(1, math.MinInt8, math.MaxInt8), "i16": integer(2, math.MinInt16, math.MaxInt16), "i32": integer(4, math.MinInt32, math.MaxInt32), "i64": integer(8, math.MinInt64, math.MaxInt64),
	"f16": float(func(x float64) device.Param { return device.U16(fp8.F16(float32(x))) }),
	"f32": float(func(x float64) device.Param { return device.F32(float32(x)) }),
	"f64": float(device.F64),
}

// integer encodes a value from least to most in size bytes.
func integer(size int, least, most int64) encoder {
	return func(e expr.Expr, env expr.Env) (device.Param, error) {
		n, err := e.Int(env)
		if err == nil && (n < least || n > most) {
			err = fmt.Errorf("%s is %d, which does not fit: it must be from %d to %d", e, n, least, most)
		}
		return device.Param(binary.LittleEndian.AppendUint64(nil, uint64(n))[:size]), err
	}
}

func float(to func(float64) device.Param) encoder {
	return func(e expr.Expr, env expr.Env) (device.Param, error) {
		x, err := e.Float(env)
		return to(x), err
	}
}
