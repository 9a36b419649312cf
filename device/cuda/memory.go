package cuda

import (
	"fmt"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
)

// Alloc allocates global memory.
func (d *Device) Alloc(size int64) (device.Buffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("a buffer of %d bytes: the size must not be negative", size)
	}
	b := &buffer{p: d.primary, size: size}
	err := d.call("cuMemAlloc", func() result { return d.lib.memAlloc(&b.addr, uint64(max(size, 1))) })
	if err != nil {
		return nil, fmt.Errorf("a buffer of %d bytes: %w", size, err)
	}
	return b, nil
}

type buffer struct {
	p    *primary
	addr uint64
	size int64
}

func (b *buffer) Addr() uint64 { return b.addr }
func (b *buffer) Size() int64  { return b.size }

func (b *buffer) Free() error {
	return b.p.call("cuMemFree", func() result { return b.p.lib.memFree(b.addr) })
}

func (b *buffer) Write(off int64, data []byte) error {
	if err := b.bounds(off, len(data)); err != nil || len(data) == 0 {
		return err
	}
	return b.p.call("cuMemcpyHtoD", func() result {
		return b.p.lib.memcpyHtoD(b.addr+uint64(off), unsafe.Pointer(unsafe.SliceData(data)), uint64(len(data)))
	})
}

func (b *buffer) Read(off int64, data []byte) error {
	if err := b.bounds(off, len(data)); err != nil || len(data) == 0 {
		return err
	}
	return b.p.call("cuMemcpyDtoH", func() result {
		return b.p.lib.memcpyDtoH(unsafe.Pointer(unsafe.SliceData(data)), b.addr+uint64(off), uint64(len(data)))
	})
}

func (b *buffer) bounds(off int64, n int) error {
	if off < 0 || off+int64(n) > b.size {
		return fmt.Errorf("bytes %d to %d are outside the buffer of %d bytes", off, off+int64(n), b.size)
	}
	return nil
}

// buffer returns b as a buffer of this GPU.
func (p *primary) buffer(b device.Buffer) (*buffer, error) {
	own, ok := b.(*buffer)
	if !ok || own.p != p {
		return nil, fmt.Errorf("the buffer and the stream belong to different devices")
	}
	return own, nil
}

// hostBuffer is page-locked memory.
type hostBuffer struct {
	p    *primary
	addr unsafe.Pointer
	data []byte
}

// AllocHost allocates page-locked memory of the host.
func (d *Device) AllocHost(size int64) (device.HostBuffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("a buffer of %d bytes", size)
	}
	h := &hostBuffer{p: d.primary}
	err := d.call("cuMemHostAlloc", func() result { return d.lib.hostAlloc(&h.addr, uint64(max(size, 1)), 0) })
	if err != nil {
		return nil, fmt.Errorf("%d bytes of page-locked memory: %w", size, err)
	}
	h.data = unsafe.Slice((*byte)(h.addr), size)
	return h, nil
}

func (h *hostBuffer) Bytes() []byte { return h.data }

func (h *hostBuffer) Free() error {
	h.data = nil
	return h.p.call("cuMemFreeHost", func() result { return h.p.lib.hostFree(h.addr) })
}
