package device

import (
	"errors"
	"fmt"
	"slices"

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

// TensorDesc describes a tensor in global memory for the copy engine. Like the arguments of
// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, it starts with the innermost dimension.
type TensorDesc struct {
	Type    ptx.Type // the type of the elements: u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, tf32
	Addr    uint64
	Dims    []uint64 // elements
	Strides []uint64 // bytes, of all dimensions except the innermost
	Box     []uint32 // elements of a tile; empty if Im2col is set
	Im2col  *Im2col  // for copies of pixels instead of tiles
	Steps   []uint32 // element strides; if empty, all are 1
	Swizzle Swizzle
	NaNFill bool // out-of-bounds elements read as NaN instead of zero
}

// Im2col says which pixels of a batch of images im2col copies read. The dimensions of the tensor are
// the channels, the width, the height and the depth as far as the images have them, and the batch.
//
// A copy starts at a pixel of a bounding box and goes on with the next pixel of the box, row by row
// and image by image. The instruction adds an offset to the position of each pixel: the position in a
// filter of a convolution.
type Im2col struct {
	// Lower and Upper are the corners of the bounding box, in width, height and depth: Lower relative
	// to the first pixel, Upper to the last.
	Lower, Upper []int32
	Channels     uint32 // elements of each pixel
	Pixels       uint32
}

// Check returns an error if the copy engine does not support the tensor.
func (d TensorDesc) Check() error {
	n := len(d.Dims)
	switch {
	case n < 1 || n > 5:
		return fmt.Errorf("tensor map: a tensor has 1 to 5 dimensions, not %d", n)
	case len(d.Strides) != n-1:
		return fmt.Errorf("tensor map: %d dimensions need %d strides, not %d", n, n-1, len(d.Strides))
	case len(d.Box) != n && d.Im2col == nil:
		return fmt.Errorf("tensor map: %d dimensions need a box with %d extents, not %d", n, n, len(d.Box))
	case len(d.Box) != 0 && d.Im2col != nil:
		return errors.New("tensor map: im2col copies pixels, which have no box")
	case len(d.Steps) != n && len(d.Steps) != 0:
		return fmt.Errorf("tensor map: %d dimensions need %d steps, not %d", n, n, len(d.Steps))
	case d.Type.Bytes() == 0 || d.Type.Bits() < 8:
		return fmt.Errorf("tensor map: elements of type %q are not supported", d.Type)
	case d.NaNFill && d.Type.Integer():
		return fmt.Errorf("tensor map: elements of type %s cannot be filled with NaN: use a float type, or fill with zeros", d.Type)
	case d.Addr%16 != 0:
		return fmt.Errorf("tensor map: the tensor's address %#x is not a multiple of 16", d.Addr)
	case d.Swizzle < NoSwizzle || d.Swizzle > Swizzle128B:
		return fmt.Errorf("tensor map: swizzle mode %d is not supported: use 0 to %d", d.Swizzle, Swizzle128B)
	}
	for i, n := range d.Dims {
		if n < 1 || n > 1<<32 {
			return fmt.Errorf("tensor map: dimension %d has %d elements; it must have 1 to 2^32", i, n)
		}
	}
	for i, n := range d.Steps {
		if n < 1 || n > 8 {
			return fmt.Errorf("tensor map: step %d is %d elements; it must be 1 to 8", i, n)
		}
	}
	for i, s := range d.Strides {
		if s%16 != 0 || s >= 1<<40 {
			return fmt.Errorf("tensor map: stride %d is %d bytes; it must be a multiple of 16 below 2^40", i, s)
		}
	}
	if d.Im2col != nil {
		if err := d.Im2col.check(n); err != nil {
			return err
		}
		return d.checkWidth("a pixel", int(d.Im2col.Channels))
	}
	for i, b := range d.Box {
		if b < 1 || b > 256 {
			return fmt.Errorf("tensor map: box extent %d is %d; it must be 1 to 256", i, b)
		}
	}
	if n := d.boxBytes(); n > mostBox {
		return fmt.Errorf("tensor map: the box has %d bytes; shared memory has at most %d", n, mostBox)
	}
	return d.checkWidth("the box", int(d.Box[0]))
}

// mostBox is more than the shared memory of any GPU, in bytes.
const mostBox = 256 << 10

// boxBytes returns the size of a tile in shared memory: steps leave elements out.
func (d TensorDesc) boxBytes() int {
	n := d.Type.Bytes()
	for i, b := range d.Box {
		step := 1
		if i > 0 && len(d.Steps) > 0 { // the copy engine ignores the innermost step
			step = int(d.Steps[i])
		}
		n *= (int(b) + step - 1) / step
	}
	return n
}

// checkWidth checks the innermost extent of what is copied.
func (d TensorDesc) checkWidth(what string, elements int) error {
	inner := elements * d.Type.Bytes()
	if inner%16 != 0 {
		return fmt.Errorf("tensor map: %s is %d bytes wide; it must be a multiple of 16", what, inner)
	}
	if span := [...]int{1 << 30, 32, 64, 128}[d.Swizzle]; inner > span {
		return fmt.Errorf("tensor map: %s is %d bytes wide; with a %d-byte swizzle it must be at most %d", what, inner, span, span)
	}
	return nil
}

// cornerLimits are the limits of the corners of a bounding box, by the number of its dimensions.
var cornerLimits = [...]int32{1: 1 << 15, 2: 1 << 7, 3: 1 << 4}

// check returns an error if the copy engine does not support these pixels of a tensor of n dimensions.
func (c *Im2col) check(n int) error {
	switch axes := n - 2; {
	case axes < 1:
		return fmt.Errorf("tensor map: im2col needs 3 to 5 dimensions, not %d", n)
	case len(c.Lower) != axes || len(c.Upper) != axes:
		return fmt.Errorf("tensor map: the bounding box of im2col in %d dimensions has corners of %d coordinates, not %d and %d", n, axes, len(c.Lower), len(c.Upper))
	case c.Channels < 1 || c.Channels > 256:
		return fmt.Errorf("tensor map: im2col copies 1 to 256 channels of a pixel, not %d", c.Channels)
	case c.Pixels < 1 || c.Pixels > 1024:
		return fmt.Errorf("tensor map: im2col copies 1 to 1024 pixels, not %d", c.Pixels)
	}
	limit := cornerLimits[n-2]
	for _, v := range slices.Concat(c.Lower, c.Upper) {
		if v < -limit || v >= limit {
			return fmt.Errorf("tensor map: a corner of the bounding box of im2col is at %d; in %d dimensions it must be %d to %d", v, n, -limit, limit-1)
		}
	}
	return nil
}
