package abi

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
)

// Parse reads an ABI. file stands for it in errors, which say line and column.
func Parse(file string, text []byte) (*ABI, error) {
	r := newReader(file, text)
	v, err := r.whole()
	if err != nil {
		return nil, err
	}
	a := &ABI{}
	if err := r.abi(v, a); err != nil {
		return nil, err
	}
	a.defaults()
	return a, nil
}

// UnmarshalJSON is Parse of a value within another.
func (a *ABI) UnmarshalJSON(text []byte) error {
	p, err := Parse("abi", text)
	if err == nil {
		*a = *p
	}
	return err
}

// Check refuses an ABI that was not read by Parse and does not fit together.
func (a *ABI) Check() error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = Parse("abi", text)
	return err
}

// defaults are what is left out.
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

// oneOf reads a word that must be one of some.
func oneOf[T ~string](r *reader, v value, to *T, words ...T) error {
	var s string
	if err := r.str(v, &s); err != nil {
		return err
	}
	if !slices.Contains(words, T(s)) {
		list := make([]string, len(words))
		for i, w := range words {
			list[i] = string(w)
		}
		return r.errorf(v.at, "%q: there are %s", s, strings.Join(list, ", "))
	}
	*to = T(s)
	return nil
}

// each reads the fields of an object, those that it must have among them.
func (r *reader) each(v value, what string, must []string, known map[string]func(value) error) error {
	if v.kind != '{' {
		return r.errorf(v.at, "%s is an object", what)
	}
	for _, f := range v.fields {
		read := known[f.name]
		if read == nil {
			return r.errorf(f.at, "unknown field %q of %s: there are %s", f.name, what, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if err := read(f.value); err != nil {
			return err
		}
	}
	for _, name := range must {
		if v.field(name) == nil {
			return r.errorf(v.at, "%s has no %q", what, name)
		}
	}
	return nil
}

func (r *reader) abi(v value, a *ABI) error {
	err := r.each(v, "an abi", []string{"entry", "format", "params", "grid", "block"}, map[string]func(value) error{
		"entry": func(v value) error { return r.str(v, &a.Entry) },
		"format": func(v value) error {
			return oneOf(r, v, &a.Format, "u8", "u8-legacy", "e4m3", "e5m2", F16, BF16)
		},
		"scaling": func(v value) error { return oneOf(r, v, &a.Scaling, PerHead, PerTensor, NoScale) },
		"output":  func(v value) error { return oneOf(r, v, &a.Output, F16, BF16, F32) },
		"p":       func(v value) error { return oneOf(r, v, &a.P, F32, F16, BF16, "e4m3", "e5m2") },
		"layout":  func(v value) error { return oneOf(r, v, &a.Layout, BHSD, BSHD) },
		"causal":  func(v value) error { return r.boolean(v, &a.Causal) },
		"params":  func(v value) error { return r.params(v, a) },
		"grid":    func(v value) error { return r.exprs(v, 1, 3, &a.Grid) },
		"block":   func(v value) error { return r.exprs(v, 1, 3, &a.Block) },
		"cluster": func(v value) error { return r.exprs(v, 1, 3, &a.Cluster) },
		"shared":  func(v value) error { return r.expr(v, &a.Shared) },
		"require": func(v value) error { return r.exprs(v, 0, 64, &a.Require) },
	})
	if err != nil {
		return err
	}
	return r.whollyDescribed(v, a)
}

// whollyDescribed refuses a kernel that is given no operands or has no scales to take.
func (r *reader) whollyDescribed(v value, a *ABI) error {
	params := v.field("params")
	have := a.pointers()
	for _, name := range []string{"q", "k", "v", "o"} {
		if !slices.Contains(have, name) {
			return r.errorf(params.at, "no parameter points to %s", name)
		}
	}
	_, one := a.Format.FP8()
	for i, name := range have {
		scale := name == "qs" || name == "ks" || name == "vs"
		if scale && (a.Scaling == NoScale || a.Scaling == "" && !one) {
			return r.errorf(params.list[i].at, "%s is a scale, and there are none: \"scaling\" is %q", name, "none")
		}
	}
	if f := v.field("scaling"); f != nil && a.Scaling != NoScale && !one {
		return r.errorf(f.value.at, "%s is not scaled: the scaling of %s is none", a.Format, a.Format)
	}
	return nil
}

func (r *reader) params(v value, a *ABI) error {
	if v.kind != '[' {
		return r.errorf(v.at, "a list of parameters is wanted here")
	}
	for _, e := range v.list {
		var p Param
		if err := r.param(e, &p); err != nil {
			return err
		}
		a.Params = append(a.Params, p)
	}
	return nil
}

var operandNames = []string{"q", "k", "v", "qs", "ks", "vs", "o", "lse", "workspace"}

func (r *reader) param(v value, p *Param) error {
	known := map[string]func(value) error{
		"pointer":   func(v value) error { return oneOf(r, v, &p.Pointer, operandNames...) },
		"bytes":     func(v value) error { return r.expr(v, &p.Bytes) },
		"zero":      func(v value) error { return r.boolean(v, &p.Zero) },
		"tensormap": func(v value) error { return r.tensorMap(v, p) },
	}
	for name := range encoders {
		known[name] = func(v value) error {
			p.Type = name
			return r.expr(v, &p.Value)
		}
	}
	if err := r.each(v, "a parameter", nil, known); err != nil {
		return err
	}
	kinds := 0
	for _, f := range v.fields {
		if f.name != "bytes" && f.name != "zero" {
			kinds++
		}
	}
	space := p.Pointer == "workspace"
	switch {
	case kinds != 1:
		return r.errorf(v.at, "a parameter is exactly one of pointer, tensormap or a type such as u32")
	case space && p.Bytes.IsZero():
		return r.errorf(v.at, `a workspace has "bytes"`)
	case !space && (v.field("bytes") != nil || v.field("zero") != nil):
		return r.errorf(v.at, `only a workspace has "bytes" and "zero"`)
	}
	return nil
}

func (r *reader) tensorMap(v value, p *Param) error {
	t := &TensorMap{}
	p.TensorMap = t
	err := r.each(v, "a tensor map", []string{"pointer", "type", "dims", "box"}, map[string]func(value) error{
		"pointer": func(v value) error { return oneOf(r, v, &t.Pointer, "q", "k", "v", "o") },
		"type": func(v value) error {
			return oneOf(r, v, &t.Type, slices.Sorted(maps.Keys(tensorTypes))...)
		},
		"dims":    func(v value) error { return r.exprs(v, 1, 5, &t.Dims) },
		"strides": func(v value) error { return r.exprs(v, 0, 4, &t.Strides) },
		"box":     func(v value) error { return r.exprs(v, 1, 5, &t.Box) },
		"swizzle": func(v value) error { return oneOf(r, v, &t.Swizzle, "none", "32B", "64B", "128B") },
		"fill":    func(v value) error { return oneOf(r, v, &t.Fill, "zero", "nan") },
	})
	switch {
	case err != nil:
		return err
	case len(t.Box) != len(t.Dims):
		return r.errorf(v.at, "a box of %d extents in %d dimensions", len(t.Box), len(t.Dims))
	case len(t.Strides) != 0 && len(t.Strides) != len(t.Dims)-1:
		return r.errorf(v.at, "%d strides for %d dimensions: all but the innermost have one", len(t.Strides), len(t.Dims))
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

// encoders write a value of a type.
var encoders = map[string]func(Expr, Vars) (device.Param, error){
	"u8": integer(1, 0, math.MaxUint8), "u16": integer(2, 0, math.MaxUint16), "u32": integer(4, 0, math.MaxUint32), "u64": integer(8, 0, math.MaxInt64),
	"i8": integer(1, math.MinInt8, math.MaxInt8), "i16": integer(2, math.MinInt16, math.MaxInt16), "i32": integer(4, math.MinInt32, math.MaxInt32), "i64": integer(8, math.MinInt64, math.MaxInt64),
	"f16": float(func(x float64) device.Param { return device.U16(fp8.F16(float32(x))) }),
	"f32": float(func(x float64) device.Param { return device.F32(float32(x)) }),
	"f64": float(device.F64),
}

func encode(typ string, e Expr, v Vars) (device.Param, error) { return encoders[typ](e, v) }

func integer(size int, least, most int64) func(Expr, Vars) (device.Param, error) {
	return func(e Expr, v Vars) (device.Param, error) {
		n, err := e.Int(v)
		if err == nil && (n < least || n > most) {
			err = fmt.Errorf("%s is %d, which does not fit", e, n)
		}
		return device.Param(binary.LittleEndian.AppendUint64(nil, uint64(n))[:size]), err
	}
}

func float(to func(float64) device.Param) func(Expr, Vars) (device.Param, error) {
	return func(e Expr, v Vars) (device.Param, error) {
		x, err := e.Float(v)
		if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			err = fmt.Errorf("%s is %v", e, x)
		}
		return to(x), err
	}
}
