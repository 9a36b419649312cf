package emu

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// tensorMap is a tensor map as the copy engine reads it. Its fields are those that
// tensormap.replace knows, with the same numbers.
type tensorMap struct {
	addr       uint64
	elem       uint8 // index into tensorTypes
	rank       uint8
	interleave uint8
	swizzle    device.Swizzle
	fill       uint8     // 1: NaN
	steps      [5]uint8  // element strides
	box        [5]uint16 // extents of a tile
	dims       [5]uint64
	strides    [5]uint64 // bytes; of the second dimension first
}

// tensorTypes are the types of elements by their number.
var tensorTypes = []ptx.Type{
	ptx.U8, ptx.U16, ptx.U32, ptx.S32, ptx.U64, ptx.S64, ptx.F16, ptx.F32, ptx.F32, ptx.F64, ptx.BF16, ptx.TF32, ptx.TF32,
}

// tensorMagic marks the 128 bytes that hold a tensor map.
const tensorMagic = 0x70616d74

var errNoTensorMap = errors.New("no tensor map of this device is here")

// encodeTensor is the tensor map of a description.
func encodeTensor(t device.TensorDesc) device.TensorMap {
	m := tensorMap{addr: t.Addr, elem: uint8(slices.Index(tensorTypes, t.Type)), rank: uint8(len(t.Dims)), swizzle: t.Swizzle}
	if t.NaNFill {
		m.fill = 1
	}
	copy(m.dims[:], t.Dims)
	copy(m.strides[:], t.Strides)
	for i := range t.Box {
		m.box[i], m.steps[i] = uint16(t.Box[i]), 1
		if len(t.Steps) > 0 {
			m.steps[i] = uint8(t.Steps[i])
		}
	}
	var b device.TensorMap
	m.encode(b[:])
	return b
}

func (m *tensorMap) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, m.addr)
	le.PutUint32(b[8:], tensorMagic)
	b[12], b[13], b[14], b[15], b[16] = m.elem, m.rank, m.interleave, uint8(m.swizzle), m.fill
	copy(b[17:], m.steps[:])
	for i := range 5 {
		le.PutUint16(b[22+2*i:], m.box[i])
		le.PutUint64(b[32+8*i:], m.dims[i])
		le.PutUint64(b[72+8*i:], m.strides[i])
	}
}

func decodeTensor(b []byte) (*tensorMap, error) {
	le := binary.LittleEndian
	if le.Uint32(b[8:]) != tensorMagic {
		return nil, errNoTensorMap
	}
	m := &tensorMap{
		addr: le.Uint64(b), elem: b[12], rank: b[13], interleave: b[14], swizzle: device.Swizzle(b[15]), fill: b[16],
	}
	copy(m.steps[:], b[17:])
	for i := range 5 {
		m.box[i] = le.Uint16(b[22+2*i:])
		m.dims[i] = le.Uint64(b[32+8*i:])
		m.strides[i] = le.Uint64(b[72+8*i:])
	}
	return m, nil
}

// typ is the type of the elements.
func (m *tensorMap) typ() ptx.Type { return tensorTypes[m.elem] }

// desc is the map as a description, to be checked like one.
func (m *tensorMap) desc() device.TensorDesc {
	n := int(m.rank)
	d := device.TensorDesc{Type: m.typ(), Addr: m.addr, Dims: m.dims[:n], Strides: m.strides[:n-1], Swizzle: m.swizzle, NaNFill: m.fill == 1}
	for i := range n {
		d.Box, d.Steps = append(d.Box, uint32(m.box[i])), append(d.Steps, uint32(m.steps[i]))
	}
	return d
}

// replace changes a field. ord is the dimension, for fields that have one for each.
func (m *tensorMap) replace(field string, ord int, v uint64) {
	switch field {
	case "global_address":
		m.addr = v
	case "rank":
		m.rank = uint8(min(v, 254)) + 1
	case "box_dim":
		m.box[ord] = uint16(v)
	case "global_dim":
		m.dims[ord] = v
	case "element_stride":
		m.steps[ord] = uint8(v)
	case "global_stride":
		m.strides[ord] = v
	case "elemtype":
		m.elem = uint8(v)
	case "interleave_layout":
		m.interleave = uint8(v)
	case "swizzle_mode":
		m.swizzle = device.Swizzle(v)
	case "fill_mode":
		m.fill = uint8(v)
	}
}

// buildTensorMap is tensormap.replace and tensormap.cp_fenceproxy.
func buildTensorMap(d *decoder, x *inst) exec {
	if x.Has("cp_fenceproxy") {
		dst, src := d.addr(x.Arg("dst"), x.SpaceName("dst")), d.addr(x.Arg("src"), x.SpaceName("src"))
		return func(f *frame, m uint32) {
			l := firstLane(m)
			copy(dst.view(f, l, 128, true), src.view(f, l, 128, false))
		}
	}
	a, field, ord := d.addr(x.Arg("addr"), x.SpaceName("addr")), x.Mod("field"), 0
	if o := x.Arg("ord"); o != nil {
		ord = int(o.Val)
	}
	t := x.Type("newVal")
	if t == ptx.NoType {
		t = ptx.B32
	}
	val := d.from(x.Arg("newVal"), t)
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			b := a.view(f, l, 128, true)
			tm, err := decodeTensor(b)
			if err != nil && blank(b) {
				tm, err = &tensorMap{}, nil // a map made from scratch, as Triton makes them
			}
			f.origin(l).check(err)
			tm.replace(field, ord, val.get(f, l))
			tm.encode(b)
		})
	}
}

// blank reports whether all bytes are zero.
func blank(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}

func init() { build("tensormap", buildTensorMap) }
