package device

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TensorMap is an encoded tensor map. It is a kernel parameter, aligned to 64 bytes. It is
// valid only on the device that encoded it.
type TensorMap [128]byte

// Param returns the tensor map as a kernel parameter.
func (t TensorMap) Param() Param { return Param(t[:]) }

// Swizzle is how the copy engine permutes 16-byte units of a tile in shared memory.
type Swizzle int

// The swizzles, by the size of their pattern in bytes.
const (
	NoSwizzle Swizzle = iota
	Swizzle32B
	Swizzle64B
	Swizzle128B
)

// TensorDesc describes a tiled tensor in global memory for the copy engine. Like the
// arguments of cuTensorMapEncodeTiled, it starts with the innermost dimension.
type TensorDesc struct {
	Type    ptx.Type // of the elements: u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, tf32
	Addr    uint64
	Dims    []uint64 // elements
	Strides []uint64 // bytes, of all dimensions except the innermost
	Box     []uint32 // elements of a tile
	Steps   []uint32 // element strides; if empty, all are 1
	Swizzle Swizzle
	NaNFill bool // out-of-bounds elements read as NaN instead of zero
}

// Check returns an error if the copy engine does not support the tensor.
func (d TensorDesc) Check() error {
	n := len(d.Dims)
	switch {
	case n < 1 || n > 5:
		return fmt.Errorf("tensor map: a tensor has 1 to 5 dimensions, not %d", n)
	case len(d.Strides) != n-1:
		return fmt.Errorf("tensor map: %d dimensions need %d strides, not %d", n, n-1, len(d.Strides))
	case len(d.Box) != n:
		return fmt.Errorf("tensor map: %d dimensions need a box with %d extents, not %d", n, n, len(d.Box))
	case len(d.Steps) != n && len(d.Steps) != 0:
		return fmt.Errorf("tensor map: %d dimensions need %d steps, not %d", n, n, len(d.Steps))
	case d.Type.Bytes() == 0 || d.Type.Bits() < 8:
		return fmt.Errorf("tensor map: elements of type %q are not supported", d.Type)
	case d.NaNFill && d.Type.Integer():
		return fmt.Errorf("tensor map: elements of type %s cannot be filled with NaN: use a float type, or fill with zeros", d.Type)
	case d.Addr%16 != 0:
		return fmt.Errorf("tensor map: the tensor's address %#x is not a multiple of 16", d.Addr)
	}
	for i, s := range d.Strides {
		if s%16 != 0 || s >= 1<<40 {
			return fmt.Errorf("tensor map: stride %d is %d bytes; it must be a multiple of 16 below 2^40", i, s)
		}
	}
	for i, b := range d.Box {
		if b < 1 || b > 256 {
			return fmt.Errorf("tensor map: box extent %d is %d; it must be 1 to 256", i, b)
		}
	}
	inner := int(d.Box[0]) * d.Type.Bytes()
	if inner%16 != 0 {
		return fmt.Errorf("tensor map: the box is %d bytes wide; it must be a multiple of 16", inner)
	}
	if span := [...]int{1 << 30, 32, 64, 128}[d.Swizzle]; inner > span {
		return fmt.Errorf("tensor map: the box is %d bytes wide; with a %d-byte swizzle it must be at most %d", inner, span, span)
	}
	return nil
}
