package kernel

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"sort"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/ptx"
)

// typeBytes are the types of elements and their sizes.
var typeBytes = map[string]int{
	"u8": 1, "i8": 1, "e4m3": 1, "e5m2": 1, "u8-legacy": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2,
	"u32": 4, "i32": 4, "f32": 4, "tf32": 4, "u64": 8, "i64": 8, "f64": 8,
}

// TypeBytes returns the size of an element of a type in bytes.
func TypeBytes(name string) (bytes int, ok bool) {
	bytes, ok = typeBytes[name]
	return bytes, ok
}

// mapTypes are the elements that the copy engine knows.
var mapTypes = map[string]ptx.Type{
	"u8": ptx.U8, "u16": ptx.U16, "u32": ptx.U32, "i32": ptx.S32, "u64": ptx.U64, "i64": ptx.S64,
	"f16": ptx.F16, "bf16": ptx.BF16, "f32": ptx.F32, "f64": ptx.F64, "tf32": ptx.TF32,
}

// MapTypes returns the element types that a tensor map may have, sorted.
func MapTypes() []string { return sortedKeys(mapTypes) }

// Swizzles are the swizzles that a tensor map may name, with their bytes.
var swizzles = map[string]int{"": 0, "none": 0, "32B": 32, "64B": 64, "128B": 128}

// ValueTypes returns the types that an argument passed by value may have, sorted.
func ValueTypes() []string { return sortedKeys(encoders) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func (a *Arg) bind(env expr.Env, index map[string]int) (Bound, error) {
	name := a.Pointer
	if a.Map != nil {
		name = a.Map.Operand
	}
	if name == "" {
		encode, ok := encoders[a.Type]
		if !ok {
			return Bound{}, fmt.Errorf("type %q is not known: use one of %v", a.Type, ValueTypes())
		}
		value, err := encode(a.Value, env)
		return Bound{Memory: -1, Value: value}, err
	}
	at, ok := index[name]
	if !ok {
		return Bound{}, fmt.Errorf("no operand is called %q", name)
	}
	b := Bound{Memory: at}
	if a.Map == nil {
		return b, nil
	}
	var err error
	b.Map, err = a.Map.bind(env)
	return b, err
}

func (t *TensorMap) bind(env expr.Env) (*Map, error) {
	m := &Map{Type: mapTypes[t.Type], Swizzle: swizzles[t.Swizzle], NaNFill: t.Fill == "nan"}
	dims, err := ints(t.Dims, env, 1, math.MaxUint32)
	if err != nil {
		return nil, fmt.Errorf("tensor map of %s: %w", t.Operand, err)
	}
	box, err := ints(t.Box, env, 1, math.MaxUint16)
	if err != nil {
		return nil, fmt.Errorf("box of the tensor map of %s: %w", t.Operand, err)
	}
	strides, err := ints(t.Strides, env, 0, mostBytes)
	if err != nil {
		return nil, fmt.Errorf("strides of the tensor map of %s: %w", t.Operand, err)
	}
	step := int64(m.Type.Bytes())
	for i, n := range dims {
		m.Dims, m.Box = append(m.Dims, uint64(n)), append(m.Box, uint32(box[i]))
		if i == len(dims)-1 {
			break
		}
		if step *= n; step > mostBytes {
			return nil, fmt.Errorf("tensor map of %s: dimensions %v are larger than the memory of any GPU", t.Operand, dims)
		}
		if len(strides) > 0 {
			step = strides[i]
		}
		m.Strides = append(m.Strides, uint64(step))
	}
	return m, nil
}

// encoders write a value as the bytes of a parameter, by type.
var encoders = map[string]func(expr.Expr, expr.Env) ([]byte, error){
	"u8": integer(1, 0, math.MaxUint8), "u16": integer(2, 0, math.MaxUint16), "u32": integer(4, 0, math.MaxUint32), "u64": integer(8, 0, math.MaxInt64),
	"i8": integer(1, math.MinInt8, math.MaxInt8), "i16": integer(2, math.MinInt16, math.MaxInt16), "i32": integer(4, math.MinInt32, math.MaxInt32), "i64": integer(8, math.MinInt64, math.MaxInt64),
	"f16":  float(func(x float64) []byte { return binary.LittleEndian.AppendUint16(nil, fp8.F16(float32(x))) }),
	"bf16": float(func(x float64) []byte { return binary.LittleEndian.AppendUint16(nil, fp8.BF16(float32(x))) }),
	"f32":  float(func(x float64) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x))) }),
	"f64":  float(func(x float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)) }),
}

func integer(size int, least, most int64) func(expr.Expr, expr.Env) ([]byte, error) {
	return func(e expr.Expr, env expr.Env) ([]byte, error) {
		n, err := e.Int(env)
		if err == nil && (n < least || n > most) {
			err = fmt.Errorf("%s is %d, which does not fit %d bytes", e, n, size)
		}
		return binary.LittleEndian.AppendUint64(nil, uint64(n))[:size], err
	}
}

func float(encode func(float64) []byte) func(expr.Expr, expr.Env) ([]byte, error) {
	return func(e expr.Expr, env expr.Env) ([]byte, error) {
		x, err := e.Float(env)
		if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			err = fmt.Errorf("%s is %v", e, x)
		}
		return encode(x), err
	}
}

// MarshalJSON writes {"pointer": "q"}, {"tensormap": {…}} or {"u32": "Sq"}.
func (a Arg) MarshalJSON() ([]byte, error) {
	switch {
	case a.Pointer != "":
		return json.Marshal(map[string]string{"pointer": a.Pointer})
	case a.Map != nil:
		return json.Marshal(map[string]*TensorMap{"tensormap": a.Map})
	}
	return json.Marshal(map[string]expr.Expr{a.Type: a.Value})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Arg) UnmarshalJSON(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	if len(fields) != 1 {
		return fmt.Errorf("an argument has exactly one of pointer, tensormap or a type such as u32")
	}
	*a = Arg{}
	for name, value := range fields {
		switch name {
		case "pointer":
			return json.Unmarshal(value, &a.Pointer)
		case "tensormap":
			return json.Unmarshal(value, &a.Map)
		}
		a.Type = name
		return json.Unmarshal(value, &a.Value)
	}
	return nil
}
