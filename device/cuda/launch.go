package cuda

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
)

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      uintptr
	attrs       unsafe.Pointer
	numAttrs    uint32
}

// launchAttr is CUlaunchAttribute with space for any value.
type launchAttr struct {
	id    int32
	_     int32
	value [16]uint32
}

// The attributes of a launch.
const (
	attrCooperative  = 2
	attrClusterDim   = 4
	attrProgrammatic = 6 // programmatic stream serialisation, for programmatic dependent launch
)

// launchCall holds everything that the driver reads during a launch. It is taken from a
// pool, so that a launch does not allocate.
type launchCall struct {
	cfg   launchConfig
	fn    uintptr
	attrs [3]launchAttr
	ptrs  []unsafe.Pointer // pointers to the parameters
	data  []byte           // the parameters
	args  [11]uintptr
}

var launchCalls = sync.Pool{New: func() any { return new(launchCall) }}

func (c *launchCall) free() { launchCalls.Put(c) }

// paramAlign is the alignment of the first parameter. No parameter needs more: a tensor map
// needs 64 bytes.
const paramAlign = 128

// pack converts a launch to the form that the driver expects.
func (k *kernel) pack(stream uintptr, l *device.Launch) *launchCall {
	c := launchCalls.Get().(*launchCall)
	c.fn = k.fn
	c.cfg = launchConfig{grid: dims(l.Grid), block: dims(l.Block), shared: uint32(l.Shared), stream: stream}
	// The driver launches a kernel that was compiled for a cluster without the attribute.
	if k.compiled == (device.Dim{}) && l.Cluster.Count() > 1 {
		c.cluster(l.Cluster)
	}
	if l.Cooperative {
		c.attr(attrCooperative).value[0] = 1
	}
	if l.Dependent {
		c.attr(attrProgrammatic).value[0] = 1
	}
	if n := k.size + paramAlign; n > len(c.data) {
		c.data = make([]byte, n)
	}
	if n := len(k.offsets) + 1; n > len(c.ptrs) {
		c.ptrs = make([]unsafe.Pointer, n)
	}
	base := unsafe.Pointer(unsafe.SliceData(c.data))
	start := int(-uintptr(base) & (paramAlign - 1))
	for i, off := range k.offsets {
		copy(c.data[start+off:], l.Params[i])
		c.ptrs[i] = unsafe.Add(base, start+off)
	}
	return c
}

// attr adds an attribute.
func (c *launchCall) attr(id int32) *launchAttr {
	a := &c.attrs[c.cfg.numAttrs]
	*a = launchAttr{id: id}
	c.cfg.numAttrs++
	c.cfg.attrs = unsafe.Pointer(&c.attrs[0])
	return a
}

// cluster adds the attribute of a cluster, unless the call already has it.
func (c *launchCall) cluster(d device.Dim) {
	for i := range c.cfg.numAttrs {
		if c.attrs[i].id == attrClusterDim {
			return
		}
	}
	n := dims(d)
	copy(c.attr(attrClusterDim).value[:], n[:])
}

func dims(d device.Dim) [3]uint32 {
	d = d.Norm()
	return [3]uint32{uint32(d.X), uint32(d.Y), uint32(d.Z)}
}

// queue puts a launch into a stream.
func (k *kernel) queue(stream uintptr, l *device.Launch, capturing bool) error {
	p := k.d.primary
	if err := p.ready(); err != nil {
		return err
	}
	if err := k.admit(l); err != nil {
		return err
	}
	c := k.pack(stream, l)
	r := p.launch(c, capturing)
	c.free()
	if r == success {
		return nil
	}
	err := p.check("cuLaunchKernelEx", r)
	if faultOf(err) != nil { // the fault of an earlier launch
		return p.nameLaunches(err)
	}
	return k.launchError(l, 0, err)
}

// launchError returns err as the error of a launch. others is the number of other launches
// that may be the cause.
func (k *kernel) launchError(l *device.Launch, others int, err error) error {
	return &LaunchError{Kernel: k.info.Name, Launch: *l, Others: others, Err: err}
}

// Launch runs the kernel and waits for it. A kernel on a GPU cannot be stopped: if ctx ends
// first, the error is [device.ErrRunning], and all calls return this error until the kernel
// has ended.
func (k *kernel) Launch(ctx context.Context, l device.Launch) error {
	p := k.d.primary
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	if err := k.queue(nullStream, &l, false); err != nil {
		return err
	}
	err := p.finish(ctx, nullStream, func() string { return k.info.Name })
	if err == nil {
		return nil
	}
	if e := faultOf(err); e != nil {
		_, _, n := p.launched()
		return p.lose(k.launchError(&l, n+int(p.waiting.Load())-1, e))
	}
	return fmt.Errorf("launch of %s: %w", k.info.Name, err)
}
