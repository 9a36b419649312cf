package cuda

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"attest/device"
	"attest/ptx"
	"attest/ptx/parse"
)

// module is PTX that the driver has compiled.
type module struct {
	d      *Device
	handle uintptr
	mod    *ptx.Module
	name   string
}

// The options of cuModuleLoadDataEx.
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

// Load has the driver compile PTX.
func (d *Device) Load(name, text string) (device.Module, error) {
	m, err := parse.Parse(name, text)
	if err != nil {
		return nil, err
	}
	out := &module{d: d, mod: m, name: name}
	image := append([]byte(text), 0)
	log := make([]byte, 64<<10)
	opts := []int32{jitErrorLog, jitErrorLogSize}
	vals := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	err = d.do(func() error {
		return d.lib.err("cuModuleLoadDataEx", d.lib.moduleLoadDataEx(&out.handle, unsafe.Pointer(&image[0]), uint32(len(opts)), &opts[0], &vals[0]))
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, trimLog(log))
	}
	return out, nil
}

func (m *module) Close() error {
	return m.d.do(func() error { return m.d.lib.err("cuModuleUnload", m.d.lib.moduleUnload(m.handle)) })
}

func (m *module) Global(name string) (device.Buffer, error) {
	b := &buffer{d: m.d}
	var n uint64
	err := m.d.do(func() error {
		return m.d.lib.err("cuModuleGetGlobal", m.d.lib.moduleGetGlobal(&b.addr, &n, m.handle, name))
	})
	if err != nil {
		return nil, fmt.Errorf("%s: variable %q: %w", m.name, name, err)
	}
	b.size = int64(n)
	return b, nil
}

func (m *module) Kernel(name string) (device.Kernel, error) {
	f := m.mod.Func(name)
	if f == nil || !f.Entry {
		return nil, fmt.Errorf("%s has no kernel %q", m.name, name)
	}
	k := &kernel{m: m}
	err := m.d.do(func() error {
		if r := m.d.lib.moduleGetFunction(&k.fn, m.handle, name); r != 0 {
			return m.d.lib.err("cuModuleGetFunction", r)
		}
		k.describe(f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return k, nil
}

type kernel struct {
	m    *module
	fn   uintptr
	info device.KernelInfo
}

// The function attributes that are read and set.
const (
	funcMaxThreads         = 0
	funcShared             = 1
	funcLocal              = 3
	funcRegisters          = 4
	funcMaxDynamicShared   = 8
	funcNonPortableCluster = 14
)

func (k *kernel) describe(f *ptx.Func) {
	attr := func(a int32) int {
		var v int32
		k.m.d.lib.funcGetAttribute(&v, a, k.fn)
		return int(v)
	}
	k.info = device.KernelInfo{
		Name: f.Sym.Name, Registers: attr(funcRegisters), Shared: attr(funcShared),
		Local: attr(funcLocal), MaxThreads: attr(funcMaxThreads),
	}
	for _, p := range f.Params {
		k.info.Params = append(k.info.Params, device.ParamInfo{Name: p.Sym.Name, Size: int(p.Size()), Align: p.Alignment()})
	}
}

func (k *kernel) Info() device.KernelInfo { return k.info }

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      uintptr
	attrs       unsafe.Pointer
	numAttrs    uint32
}

// launchAttr is CUlaunchAttribute with room for any value.
type launchAttr struct {
	id    int32
	_     int32
	value [64]byte
}

const attrClusterDim = 4

// Launch runs the kernel and waits for it. A GPU cannot be stopped: when ctx ends
// first the kernel runs on, and the error says so.
func (k *kernel) Launch(ctx context.Context, l device.Launch) error {
	d := k.m.d
	if err := l.Check(d.info, k.info); err != nil {
		return err
	}
	if err := d.do(func() error { return k.start(l) }); err != nil {
		return fmt.Errorf("launch of %s: %w", k.info.Name, err)
	}
	for wait := time.Microsecond; ; wait = min(2*wait, 10*time.Millisecond) {
		var r result
		if err := d.do(func() error { r = d.lib.streamQuery(0); return nil }); err != nil {
			return err
		}
		const notReady = 600
		switch {
		case r == 0:
			return d.do(func() error { return d.lib.err("cuCtxSynchronize", d.lib.ctxSynchronize()) })
		case r != notReady:
			return fmt.Errorf("%s: %w", k.info.Name, d.lib.err("kernel", r))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is still running on the GPU: %w", k.info.Name, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// start queues the launch.
func (k *kernel) start(l device.Launch) error {
	lib := k.m.d.lib
	if l.Shared+k.info.Shared > k.m.d.info.SharedDefault {
		if r := lib.funcSetAttribute(k.fn, funcMaxDynamicShared, int32(l.Shared)); r != 0 {
			return lib.err("cuFuncSetAttribute", r)
		}
	}
	cfg := launchConfig{grid: dims(l.Grid), block: dims(l.Block), shared: uint32(l.Shared)}
	var attr launchAttr
	if c := l.Cluster.Norm(); c.Count() > 1 {
		if c.Count() > 8 {
			lib.funcSetAttribute(k.fn, funcNonPortableCluster, 1)
		}
		attr.id = attrClusterDim
		*(*[3]uint32)(unsafe.Pointer(&attr.value)) = dims(c)
		cfg.attrs, cfg.numAttrs = unsafe.Pointer(&attr), 1
	}
	// The driver reads each parameter from where its pointer points, aligned as
	// the kernel declares it.
	ptrs := make([]unsafe.Pointer, len(l.Params)+1)
	keep := make([][]uint64, len(l.Params))
	for i, p := range l.Params {
		keep[i] = make([]uint64, (len(p)+7)/8+8)
		base := unsafe.Pointer(&keep[i][0])
		base = unsafe.Add(base, -uintptr(base)&63)
		copy(unsafe.Slice((*byte)(base), len(p)), p)
		ptrs[i] = base
	}
	return lib.err("cuLaunchKernelEx", lib.launchKernelEx(unsafe.Pointer(&cfg), k.fn, &ptrs[0], 0))
}

func dims(d device.Dim) [3]uint32 {
	d = d.Norm()
	return [3]uint32{uint32(d.X), uint32(d.Y), uint32(d.Z)}
}
