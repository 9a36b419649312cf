package runfuzz

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// mapBytes is the size of a tensor map, and mapAt is where the second half of a buffer holds one.
const mapBytes, mapAt = 128, bufferBytes / 2

// args makes the arguments of kernels.
type args struct {
	dev       *emu.Device
	r         *rand.Rand
	functions []uint64 // addresses of device functions, some of them of other modules
}

// params returns arguments of a kernel: tensor maps and pointers to small buffers where they may be
// needed, and small numbers elsewhere.
func (a *args) params(info device.KernelInfo) (ps []device.Param, buffers []device.Buffer) {
	for _, p := range info.Params {
		data := make(device.Param, p.Size)
		if p.Size < 8 {
			copy(data, []byte{8})
		} else if b, err := a.dev.Alloc(bufferBytes); err == nil {
			_ = b.Write(0, a.content(b.Addr()))
			_ = b.Write(mapAt, a.tensorMap(b.Addr()))
			copy(data, device.Ptr(b))
			if p.Size >= mapBytes && a.r.IntN(8) > 0 {
				copy(data, a.tensorMap(b.Addr()))
			}
			buffers = append(buffers, b)
		}
		ps = append(ps, data)
	}
	return ps, buffers
}

// content returns the bytes of a buffer. Kernels of the instruction table load their registers from
// slots of 16 bytes, so that some slots hold addresses of the buffer, and others numbers.
func (a *args) content(addr uint64) []byte {
	data := make([]byte, 0, bufferBytes)
	for i := uint64(0); len(data) < bufferBytes/2; i++ {
		v := addr + bufferBytes/2 + 16*(i%32)
		switch i % 4 {
		case 1:
			v = i
		case 2:
			v = 16 * i // an address in shared memory
		case 3:
			v = math.Float64bits(1.5) | uint64(math.Float32bits(-2)) | i
		}
		if n := len(a.functions); n > 0 && a.r.IntN(4) == 0 {
			v = a.functions[a.r.IntN(n)]
		}
		data = binary.LittleEndian.AppendUint64(data, v)
		data = binary.LittleEndian.AppendUint64(data, ^i)
	}
	return append(data, make([]byte, bufferBytes-len(data))...)
}

// mapTypes are the types of elements of tensor maps.
var mapTypes = []ptx.Type{ptx.U8, ptx.U16, ptx.U32, ptx.S32, ptx.U64, ptx.F16, ptx.BF16, ptx.F32, ptx.F64, ptx.TF32}

// tensorMap returns a map of any rank over a buffer, often one that a kernel leaves. Sometimes its
// bytes are damaged, as kernels that write maps can do.
func (a *args) tensorMap(addr uint64) []byte {
	r := a.r
	d := device.TensorDesc{Type: mapTypes[r.IntN(len(mapTypes))], Addr: addr, Swizzle: device.Swizzle(r.IntN(4))}
	d.NaNFill = !d.Type.Integer() && r.IntN(2) == 0
	rank := 1 + r.IntN(5)
	for i := range rank {
		d.Dims = append(d.Dims, 1+uint64(r.IntN(8)))
		d.Box = append(d.Box, 1+uint32(r.IntN(4)))
		if i > 0 {
			d.Strides = append(d.Strides, 16<<r.IntN(6))
		}
		if r.IntN(4) == 0 {
			d.Dims[i] = 1 << r.IntN(31)
		}
	}
	d.Box[0] = 16
	if axes := rank - 2; axes > 0 && r.IntN(3) == 0 {
		c := &device.Im2col{Channels: 16, Pixels: 1 + uint32(r.IntN(32))}
		for range axes {
			c.Lower, c.Upper = append(c.Lower, int32(r.IntN(5)-2)), append(c.Upper, int32(r.IntN(5)-2))
		}
		d.Box, d.Im2col = nil, c
	}
	t, err := a.dev.TensorMap(d)
	if err != nil {
		return make([]byte, mapBytes)
	}
	if r.IntN(4) == 0 {
		t[r.IntN(mapBytes)] ^= 1 << r.IntN(8)
	}
	return t[:]
}
