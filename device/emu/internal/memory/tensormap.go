package memory

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TensorMap is a tensor map as the copy engine reads it. It has the fields of
// tensormap.replace, and encodes them with the same numbers.
type TensorMap struct {
	Addr       uint64
	elem       uint8 // index into tensorTypes
	Rank       uint8
	Interleave uint8
	Swizzle    device.Swizzle
	Fill       uint8     // 1: NaN
	Steps      [5]uint8  // element strides
	Box        [5]uint16 // extents of a tile; for im2col, the channels and the pixels
	Im2col     bool
	Lower      [3]int16 // corners of the bounding box of im2col
	Upper      [3]int16
	Dims       [5]uint64
	Strides    [5]uint64 // bytes, from the second dimension on
}

// tensorTypes are the types of elements. The index is the number of the type in a map.
var tensorTypes = []ptx.Type{
	ptx.U8, ptx.U16, ptx.U32, ptx.S32, ptx.U64, ptx.S64, ptx.F16, ptx.F32, ptx.F32, ptx.F64, ptx.BF16, ptx.TF32, ptx.TF32,
}

// tensorMagic marks the 128 bytes that hold a tensor map.
const tensorMagic = 0x70616d74

var errNoTensorMap = errors.New("there is no tensor map of this device at this address")

// EncodeTensorMap returns the 128 bytes of the tensor map that t describes.
func EncodeTensorMap(t device.TensorDesc) device.TensorMap {
	m := TensorMap{Addr: t.Addr, elem: uint8(slices.Index(tensorTypes, t.Type)), Rank: uint8(len(t.Dims)), Swizzle: t.Swizzle}
	if t.NaNFill {
		m.Fill = 1
	}
	copy(m.Dims[:], t.Dims)
	copy(m.Strides[:], t.Strides)
	for i := range t.Dims {
		m.Steps[i] = 1
		if len(t.Steps) > 0 {
			m.Steps[i] = uint8(t.Steps[i])
		}
	}
	for i := range t.Box {
		m.Box[i] = uint16(t.Box[i])
	}
	if c := t.Im2col; c != nil {
		m.Im2col, m.Box[0], m.Box[1] = true, uint16(c.Channels), uint16(c.Pixels)
		for i := range c.Lower {
			m.Lower[i], m.Upper[i] = int16(c.Lower[i]), int16(c.Upper[i])
		}
	}
	var b device.TensorMap
	m.Encode(b[:])
	return b
}

// Encode writes the map to the 128 bytes of b.
func (m *TensorMap) Encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, m.Addr)
	le.PutUint32(b[8:], tensorMagic)
	b[12], b[13], b[14], b[15], b[16] = m.elem, m.Rank, m.Interleave, uint8(m.Swizzle), m.Fill
	copy(b[17:], m.Steps[:])
	for i := range 5 {
		le.PutUint16(b[22+2*i:], m.Box[i])
		le.PutUint64(b[32+8*i:], m.Dims[i])
		le.PutUint64(b[72+8*i:], m.Strides[i])
	}
	if m.Im2col {
		b[112] = 1
	}
	for i := range 3 {
		le.PutUint16(b[114+2*i:], uint16(m.Lower[i]))
		le.PutUint16(b[120+2*i:], uint16(m.Upper[i]))
	}
}

// DecodeTensorMap reads the map in the 128 bytes of b.
func DecodeTensorMap(b []byte) (*TensorMap, error) {
	le := binary.LittleEndian
	if le.Uint32(b[8:]) != tensorMagic {
		return nil, errNoTensorMap
	}
	m := &TensorMap{
		Addr: le.Uint64(b), elem: b[12], Rank: b[13], Interleave: b[14], Swizzle: device.Swizzle(b[15]), Fill: b[16],
	}
	copy(m.Steps[:], b[17:])
	for i := range 5 {
		m.Box[i] = le.Uint16(b[22+2*i:])
		m.Dims[i] = le.Uint64(b[32+8*i:])
		m.Strides[i] = le.Uint64(b[72+8*i:])
	}
	m.Im2col = b[112] == 1
	for i := range 3 {
		m.Lower[i], m.Upper[i] = int16(le.Uint16(b[114+2*i:])), int16(le.Uint16(b[120+2*i:]))
	}
	return m, nil
}

// Type returns the type of the elements. It is NoType if a kernel has written another number.
func (m *TensorMap) Type() ptx.Type {
	if int(m.elem) < len(tensorTypes) {
		return tensorTypes[m.elem]
	}
	return ptx.NoType
}

// Desc returns the map as a description, so that it can be checked in the same way.
func (m *TensorMap) Desc() device.TensorDesc {
	n := int(m.Rank)
	d := device.TensorDesc{Type: m.Type(), Addr: m.Addr, Dims: m.Dims[:n], Strides: m.Strides[:n-1], Swizzle: m.Swizzle, NaNFill: m.Fill == 1}
	for i := range n {
		d.Steps = append(d.Steps, uint32(m.Steps[i]))
		if !m.Im2col {
			d.Box = append(d.Box, uint32(m.Box[i]))
		}
	}
	if m.Im2col {
		d.Im2col = &device.Im2col{Channels: uint32(m.Box[0]), Pixels: uint32(m.Box[1])}
		for i := range n - 2 {
			d.Im2col.Lower, d.Im2col.Upper = append(d.Im2col.Lower, int32(m.Lower[i])), append(d.Im2col.Upper, int32(m.Upper[i]))
		}
	}
	return d
}

// Replace changes a field. ord is the dimension for fields with one value per dimension.
func (m *TensorMap) Replace(field string, ord int, v uint64) {
	switch field {
	case "global_address":
		m.Addr = v
	case "rank":
		m.Rank = uint8(min(v, 254)) + 1
	case "box_dim":
		m.Box[ord] = uint16(v)
	case "global_dim":
		m.Dims[ord] = v
	case "element_stride":
		m.Steps[ord] = uint8(v)
	case "global_stride":
		m.Strides[ord] = v
	case "elemtype":
		m.elem = uint8(v)
	case "interleave_layout":
		m.Interleave = uint8(v)
	case "swizzle_mode":
		m.Swizzle = device.Swizzle(v)
	case "fill_mode":
		m.Fill = uint8(v)
	}
}
