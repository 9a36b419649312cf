package cuda

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"attest/device"
	"attest/ptx"
)

// driver opens GPUs for package device.
type driver struct{}

func init() { device.Register("cuda", driver{}) }

// Present reports whether there is a GPU.
func (driver) Present() bool {
	l, err := open()
	if err != nil {
		return false
	}
	var n int32
	return l.deviceGetCount(&n) == 0 && n > 0
}

// Open opens a GPU by its index, 0 when none is given.
func (driver) Open(arg string) (device.Device, error) {
	index := 0
	if arg != "" {
		var err error
		if index, err = strconv.Atoi(arg); err != nil || index < 0 {
			return nil, fmt.Errorf("GPU %q: give its index, as in cuda:0", arg)
		}
	}
	return Open(index)
}

// Device is a GPU.
type Device struct {
	lib   *library
	dev   int32
	info  device.Info
	calls chan func()
}

// Open opens the GPU of that index.
func Open(index int) (*Device, error) {
	l, err := open()
	if err != nil {
		return nil, err
	}
	d := &Device{lib: l, calls: make(chan func())}
	go d.serve()
	if err := d.do(func() error { return d.start(index) }); err != nil {
		close(d.calls)
		return nil, err
	}
	return d, nil
}

// serve makes the device's calls, all from one thread.
func (d *Device) serve() {
	runtime.LockOSThread()
	for call := range d.calls {
		call()
	}
}

// do has the device's thread run f.
func (d *Device) do(f func() error) error {
	done := make(chan error, 1)
	d.calls <- func() { done <- f() }
	return <-done
}

// start makes the device's context current on its thread and describes it.
func (d *Device) start(index int) error {
	l := d.lib
	var count int32
	if r := l.deviceGetCount(&count); r != 0 {
		return l.err("cuDeviceGetCount", r)
	}
	if index >= int(count) {
		return fmt.Errorf("no GPU %d: there are %d", index, count)
	}
	if r := l.deviceGet(&d.dev, int32(index)); r != 0 {
		return l.err("cuDeviceGet", r)
	}
	var ctx uintptr
	if r := l.ctxRetain(&ctx, d.dev); r != 0 {
		return l.err("cuDevicePrimaryCtxRetain", r)
	}
	if r := l.ctxSetCurrent(ctx); r != 0 {
		return l.err("cuCtxSetCurrent", r)
	}
	d.describe()
	return nil
}

// The device attributes that are asked for.
const (
	attrMaxThreads    = 1
	attrSharedDefault = 8
	attrSMs           = 16
	attrMajor         = 75
	attrMinor         = 76
	attrSharedPerSM   = 81
	attrSharedMax     = 97
)

func (d *Device) describe() {
	attr := func(a int32) int {
		var v int32
		d.lib.deviceGetAttr(&v, a, d.dev)
		return int(v)
	}
	var name [128]byte
	d.lib.deviceGetName(&name[0], int32(len(name)), d.dev)
	var mem uint64
	d.lib.deviceTotalMem(&mem, d.dev)
	var version int32
	d.lib.driverGetVersion(&version)
	t := ptx.Target{SM: 10*attr(attrMajor) + attr(attrMinor)}
	if t.SM >= 90 {
		t.Feature = 'a' // a GPU runs the code that is for it alone
	}
	d.info = device.Info{
		Name: cString(&name[0]), Driver: "cuda", Target: t, SMs: attr(attrSMs),
		SharedPerSM: attr(attrSharedPerSM), SharedDefault: attr(attrSharedDefault), SharedMax: attr(attrSharedMax),
		Memory: int64(mem), MaxThreads: attr(attrMaxThreads),
		Version: fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10),
	}
}

// Info describes the GPU.
func (d *Device) Info() device.Info { return d.info }

// Close gives the context back.
func (d *Device) Close() error {
	err := d.do(func() error { return d.lib.err("cuDevicePrimaryCtxRelease", d.lib.ctxRelease(d.dev)) })
	close(d.calls)
	return err
}

// Alloc allocates global memory.
func (d *Device) Alloc(size int64) (device.Buffer, error) {
	b := &buffer{d: d, size: size}
	err := d.do(func() error { return d.lib.err("cuMemAlloc", d.lib.memAlloc(&b.addr, uint64(max(size, 1)))) })
	if err != nil {
		return nil, err
	}
	return b, nil
}

type buffer struct {
	d    *Device
	addr uint64
	size int64
}

func (b *buffer) Addr() uint64 { return b.addr }
func (b *buffer) Size() int64  { return b.size }

func (b *buffer) Free() error {
	return b.d.do(func() error { return b.d.lib.err("cuMemFree", b.d.lib.memFree(b.addr)) })
}

func (b *buffer) Write(off int64, data []byte) error {
	return b.copy(off, data, "cuMemcpyHtoD", func(p unsafe.Pointer, n uint64) result {
		return b.d.lib.memcpyHtoD(b.addr+uint64(off), p, n)
	})
}

func (b *buffer) Read(off int64, data []byte) error {
	return b.copy(off, data, "cuMemcpyDtoH", func(p unsafe.Pointer, n uint64) result {
		return b.d.lib.memcpyDtoH(p, b.addr+uint64(off), n)
	})
}

func (b *buffer) copy(off int64, data []byte, call string, do func(unsafe.Pointer, uint64) result) error {
	if off < 0 || off+int64(len(data)) > b.size {
		return fmt.Errorf("bytes %d to %d of a buffer of %d", off, off+int64(len(data)), b.size)
	}
	if len(data) == 0 {
		return nil
	}
	return b.d.do(func() error {
		return b.d.lib.err(call, do(unsafe.Pointer(unsafe.SliceData(data)), uint64(len(data))))
	})
}

// TensorMap encodes a tensor map.
func (d *Device) TensorMap(t device.TensorDesc) (device.TensorMap, error) {
	var m device.TensorMap
	if err := t.Check(); err != nil {
		return m, err
	}
	if err := d.lib.needs("cuTensorMapEncodeTiled", "a tensor map"); err != nil {
		return m, err
	}
	typ, ok := tensorTypes[t.Type]
	if !ok {
		return m, fmt.Errorf("tensor map: the copy engine has no elements of type %s", t.Type)
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
	// The driver wants the map itself aligned to 64 bytes.
	buf := make([]byte, 128+64)
	off := -uintptr(unsafe.Pointer(&buf[0])) & 63
	err := d.do(func() error {
		return d.lib.err("cuTensorMapEncodeTiled", d.lib.encodeTiled(unsafe.Pointer(&buf[off]), typ, uint32(len(t.Dims)), t.Addr,
			&t.Dims[0], &strides[0], &t.Box[0], &steps[0], 0, int32(t.Swizzle), 0, fill))
	})
	copy(m[:], buf[off:])
	return m, err
}

var tensorTypes = map[ptx.Type]int32{
	ptx.U8: 0, ptx.U16: 1, ptx.U32: 2, ptx.S32: 3, ptx.U64: 4, ptx.S64: 5,
	ptx.F16: 6, ptx.F32: 7, ptx.F64: 8, ptx.BF16: 9, ptx.TF32: 11,
}

// trimLog is the driver's log without the padding.
func trimLog(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(s)
}
