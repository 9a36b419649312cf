package cuda

import (
	"fmt"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TensorMap encodes a tensor map.
func (d *Device) TensorMap(t device.TensorDesc) (device.TensorMap, error) {
	var m device.TensorMap
	if err := t.Check(); err != nil {
		return m, err
	}
	typ, ok := tensorTypes[t.Type]
	if !ok {
		return m, fmt.Errorf("tensor map: the copy engine does not support elements of type %s", t.Type)
	}
	steps := t.Steps
	if len(steps) == 0 {
		steps = []uint32{1, 1, 1, 1, 1}[:len(t.Dims)]
	}
	strides := append(append([]uint64{}, t.Strides...), 0) // never empty
	fill := int32(0)
	if t.NaNFill {
		fill = 1
	}
	// The driver requires that the map is aligned to 64 bytes.
	buf := make([]byte, 128+64)
	off := -uintptr(unsafe.Pointer(&buf[0])) & 63
	if c := t.Im2col; c != nil {
		err := d.call("cuTensorMapEncodeIm2col", func() result {
			return d.lib.encodeIm2col(unsafe.Pointer(&buf[off]), typ, uint32(len(t.Dims)), t.Addr,
				&t.Dims[0], &strides[0], &c.Lower[0], &c.Upper[0], c.Channels, c.Pixels, &steps[0], 0, int32(t.Swizzle), 0, fill)
		})
		copy(m[:], buf[off:])
		return m, err
	}
	err := d.call("cuTensorMapEncodeTiled", func() result {
		return d.lib.encodeTiled(unsafe.Pointer(&buf[off]), typ, uint32(len(t.Dims)), t.Addr,
			&t.Dims[0], &strides[0], &t.Box[0], &steps[0], 0, int32(t.Swizzle), 0, fill)
	})
	copy(m[:], buf[off:])
	return m, err
}

var tensorTypes = map[ptx.Type]int32{
	ptx.U8: 0, ptx.U16: 1, ptx.U32: 2, ptx.S32: 3, ptx.U64: 4, ptx.S64: 5,
	ptx.F16: 6, ptx.F32: 7, ptx.F64: 8, ptx.BF16: 9, ptx.TF32: 11,
}
