package launchfile

import (
	"math"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
	"github.com/GOATnote-Inc/attest/ptx"
)

// tensor is a tensor map of a launch.
type tensor struct {
	node   *jsonpos.Node
	param  int     // the parameter whose buffer it describes, if buffer is nil
	buffer *buffer // a buffer that is not a parameter
	desc   device.TensorDesc
}

// tensorTypes are the types that the elements of a tensor may have.
var tensorTypes = map[string]ptx.Type{
	"u8": ptx.U8, "u16": ptx.U16, "u32": ptx.U32, "i32": ptx.S32, "u64": ptx.U64, "i64": ptx.S64,
	"f16": ptx.F16, "bf16": ptx.BF16, "f32": ptx.F32, "f64": ptx.F64, "tf32": ptx.TF32,
}

var swizzles = map[string]device.Swizzle{
	"none": device.NoSwizzle, "32B": device.Swizzle32B, "64B": device.Swizzle64B, "128B": device.Swizzle128B,
}

var fills = map[string]bool{"zero": false, "nan": true}

// placedMap is a tensor map that stands at a byte of a structure.
type placedMap struct {
	tensor *tensor
	at     int64
}

// parseMaps reads the tensor maps inside a structure. Their buffers have names, because the structure is no buffer.
func parseMaps(n *jsonpos.Node, what string, names map[string]bool) ([]placedMap, error) {
	list, err := n.List("tensor maps")
	if err != nil {
		return nil, err
	}
	maps := make([]placedMap, len(list))
	for i, e := range list {
		at := e.Field("at")
		if at == nil {
			return nil, e.Errorf(`a tensor map inside a structure needs "at", the byte at which it stands`)
		}
		if maps[i].at, err = at.Int(0, math.MaxInt32); err != nil {
			return nil, err
		}
		t, err := parseTensor(e, what, names, "at")
		if err != nil {
			return nil, err
		}
		if t.buffer == nil || t.buffer.ref == "" {
			return nil, e.Errorf(`a tensor map inside a structure needs "buffer": {"ref": "name"}, a buffer with a name`)
		}
		maps[i].tensor = t
	}
	return maps, nil
}

// parseTensor reads a tensor map, which may also have the fields more.
func parseTensor(n *jsonpos.Node, what string, names map[string]bool, more ...string) (*tensor, error) {
	if err := n.Only("a tensor map", append(more, "type", "buffer", "dims", "strides", "box", "im2col", "steps", "swizzle", "fill")...); err != nil {
		return nil, err
	}
	for _, name := range []string{"type", "buffer", "dims"} {
		if n.Field(name) == nil {
			return nil, n.Errorf("a tensor map needs %q", name)
		}
	}
	if n.Field("box") == nil && n.Field("im2col") == nil {
		return nil, n.Errorf("a tensor map needs %q, or %q for pixels of images", "box", "im2col")
	}
	t := &tensor{node: n}
	d := &t.desc
	var err error
	if d.Type, err = choice(n, "type", tensorTypes, "u8, u16, u32, i32, u64, i64, f16, bf16, f32, f64, tf32"); err != nil {
		return nil, err
	}
	if d.Swizzle, err = choice(n, "swizzle", swizzles, "none, 32B, 64B, 128B"); err != nil {
		return nil, err
	}
	if d.NaNFill, err = choice(n, "fill", fills, "zero, nan"); err != nil {
		return nil, err
	}
	if err := t.extents(); err != nil {
		return nil, err
	}
	return t, t.memory(n.Field("buffer"), what, names)
}

// choice returns the value that a field names, or the zero value if the object has no
// such field.
func choice[T any](n *jsonpos.Node, name string, values map[string]T, known string) (v T, err error) {
	f := n.Field(name)
	if f == nil {
		return v, nil
	}
	s, err := f.Text()
	if err != nil {
		return v, err
	}
	v, ok := values[s]
	if !ok {
		return v, f.Errorf("unknown %s %q: use one of %s", name, s, known)
	}
	return v, nil
}

func (t *tensor) extents() (err error) {
	d, n := &t.desc, t.node
	if d.Dims, err = counts[uint64](n.Field("dims"), math.MaxInt64); err != nil {
		return err
	}
	if f := n.Field("box"); f != nil {
		if d.Box, err = counts[uint32](f, math.MaxUint32); err != nil {
			return err
		}
	}
	if f := n.Field("im2col"); f != nil {
		if d.Im2col, err = parseIm2col(f); err != nil {
			return err
		}
	}
	if f := n.Field("steps"); f != nil {
		if d.Steps, err = counts[uint32](f, math.MaxUint32); err != nil {
			return err
		}
	}
	if f := n.Field("strides"); f != nil {
		if d.Strides, err = counts[uint64](f, math.MaxInt64); err != nil {
			return err
		}
	} else {
		stride := uint64(d.Type.Bytes())
		for _, dim := range d.Dims[:max(len(d.Dims)-1, 0)] {
			if dim > math.MaxInt64/max(stride, 1) {
				return n.Field("dims").Errorf("the tensor is larger than any memory")
			}
			stride *= dim
			d.Strides = append(d.Strides, stride)
		}
	}
	if err := d.Check(); err != nil {
		return n.Errorf("%s", strings.TrimPrefix(err.Error(), "tensor map: "))
	}
	return nil
}

// parseIm2col reads which pixels im2col copies.
func parseIm2col(n *jsonpos.Node) (*device.Im2col, error) {
	if err := n.Only("im2col", "lower", "upper", "channels", "pixels"); err != nil {
		return nil, err
	}
	c := &device.Im2col{}
	for _, f := range []struct {
		name string
		to   *[]int32
	}{{"lower", &c.Lower}, {"upper", &c.Upper}} {
		list := n.Field(f.name)
		if list == nil {
			return nil, n.Errorf("im2col needs %q, a corner of its bounding box", f.name)
		}
		items, err := list.List("numbers")
		if err != nil {
			return nil, err
		}
		for _, e := range items {
			v, err := e.Int(math.MinInt16, math.MaxInt16)
			if err != nil {
				return nil, err
			}
			*f.to = append(*f.to, int32(v))
		}
	}
	for _, f := range []struct {
		name string
		to   *uint32
	}{{"channels", &c.Channels}, {"pixels", &c.Pixels}} {
		number := n.Field(f.name)
		if number == nil {
			return nil, n.Errorf("im2col needs %q", f.name)
		}
		v, err := number.Int(1, math.MaxUint16)
		if err != nil {
			return nil, err
		}
		*f.to = uint32(v)
	}
	return c, nil
}

// memory reads the buffer in which the tensor lies.
func (t *tensor) memory(n *jsonpos.Node, what string, names map[string]bool) error {
	switch n.Kind() {
	case jsonpos.String:
		file, err := n.Text()
		t.buffer = &buffer{node: n, what: what, file: file, elem: elemNamed("u8")}
		return err
	case jsonpos.Object:
		m, err := source(n)
		if err != nil {
			return err
		}
		switch m.Name {
		case "buffer", "zeros", "poison", "ref":
			t.buffer, err = parseBuffer(n, m, what, names)
			return err
		}
		return n.Errorf("a tensor lies in a buffer, not in %q", m.Name)
	}
	i, err := n.Int(0, math.MaxInt32)
	t.param = int(i)
	return err
}
