package device

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestCheckTensor tries the limits of tensor maps on both sides.
func TestCheckTensor(t *testing.T) {
	for _, c := range []struct {
		change func(*TensorDesc)
		want   string
	}{
		{func(*TensorDesc) {}, ""},
		{func(d *TensorDesc) { d.Swizzle = 4 }, "swizzle mode 4"},
		{func(d *TensorDesc) { d.Swizzle = -1 }, "swizzle mode -1"},
		{func(d *TensorDesc) { d.Type = ptx.NoType }, "not supported"},
		{func(d *TensorDesc) { d.Dims[1] = 0 }, "dimension 1 has 0 elements"},
		{func(d *TensorDesc) { d.Dims[0] = 1 << 32 }, ""},
		{func(d *TensorDesc) { d.Dims[0] = 1<<32 + 1 }, "1 to 2^32"},
		{func(d *TensorDesc) { d.Steps = []uint32{1, 8, 1} }, ""},
		{func(d *TensorDesc) { d.Steps = []uint32{1, 9, 1} }, "step 1 is 9"},
		{func(d *TensorDesc) { d.Steps = []uint32{1, 257, 1} }, "step 1 is 257"},
		{func(d *TensorDesc) { d.Steps = []uint32{0, 1, 1} }, "step 0 is 0"},
		{func(d *TensorDesc) { d.Box = []uint32{16, 256, 64} }, ""}, // 256 KiB
		{func(d *TensorDesc) { d.Box = []uint32{16, 256, 65} }, "the box has 266240 bytes"},
		{func(d *TensorDesc) { d.Box, d.Steps = []uint32{16, 256, 65}, []uint32{1, 1, 2} }, ""},
		{func(d *TensorDesc) { d.Box, d.Steps = []uint32{16, 256, 65}, []uint32{2, 1, 1} }, "266240"},
	} {
		d := TensorDesc{Type: ptx.U8, Dims: []uint64{64, 8, 4}, Strides: []uint64{64, 512}, Box: []uint32{16, 8, 4}}
		c.change(&d)
		if err := d.Check(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", d, err, c.want)
		}
	}
}
