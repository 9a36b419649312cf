package attention

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
)

// design is a kernel that can compute a problem on a device, and how it is called.
type design interface {
	name() string
	config() string
	build() (*build.Kernel, error)
	// launch is the launch but for its parameters.
	launch(k device.Kernel) device.Launch
	// params are the kernel's parameters for buffers that were checked.
	params(op *Op, b *Buffers) ([]device.Param, error)
}

// staged is a kernel of kernels/attn.
type staged struct {
	info   device.Info
	p      stages.Problem
	preset stages.Preset
}

func (s *staged) name() string   { return s.preset.Name }
func (s *staged) config() string { return s.preset.Config.String() }

func (s *staged) build() (*build.Kernel, error) {
	return stages.Build(s.p, s.preset.Config, s.info.Target)
}

func (s *staged) launch(k device.Kernel) device.Launch {
	with := func(blocksPerSM int) device.Launch {
		l := s.preset.Config.Launch(s.p, s.info.SMs, blocksPerSM)
		return device.Launch{Grid: device.D(l.Grid), Block: device.D(l.Block), Shared: l.Shared}
	}
	return with(blocksPerSM(k, with(1)))
}

// blocksPerSM is how many blocks of the kernel an SM holds: what a persistent kernel
// is launched with. A device that cannot tell gets one.
func blocksPerSM(k device.Kernel, l device.Launch) int {
	able, ok := k.(device.OccupancyKernel)
	if !ok {
		return 1
	}
	o, err := able.Occupancy(l)
	if err != nil {
		return 1
	}
	return max(o.BlocksPerSM, 1)
}

func (s *staged) params(op *Op, b *Buffers) (list []device.Param, err error) {
	for _, f := range b.fields(op) {
		list = append(list, device.Ptr(*f.at))
	}
	return append(list, numbers(op.opt.Scale, s.p.Batch, s.p.Heads, s.p.Seq)...), nil
}

// forHopper is a kernel of kernels/attn/hopper.
type forHopper struct {
	info device.Info
	p    hopper.Problem
	as   string
	c    hopper.Config
}

func (h *forHopper) name() string                  { return h.as }
func (h *forHopper) config() string                { return h.c.String() }
func (h *forHopper) build() (*build.Kernel, error) { return hopper.Build(h.p, h.c) }

func (h *forHopper) launch(device.Kernel) device.Launch {
	l := h.c.Launch(h.p, h.info.SMs)
	launch := device.Launch{Grid: device.D(l.GridX, l.GridY), Block: device.D(l.Block), Shared: l.Shared}
	if l.Cluster > 1 {
		launch.Cluster = device.D(l.Cluster)
	}
	return launch
}

// params has maps of Q, K and V where others have their addresses. Maps are values, 128
// bytes that travel with the launch: nothing is kept, and launches on different buffers
// may be under way at once.
func (h *forHopper) params(op *Op, b *Buffers) (list []device.Param, err error) {
	q, k, v := h.c.Maps(h.p)
	maps := []hopper.Map{q, k, v}
	for i, f := range b.fields(op) {
		if i >= len(maps) {
			list = append(list, device.Ptr(*f.at))
			continue
		}
		m, err := op.dev.TensorMap(described(maps[i], *f.at))
		if err != nil {
			return nil, err
		}
		list = append(list, m.Param())
	}
	p := h.p
	return append(list, numbers(op.opt.Scale, p.Batch*p.Heads, p.Heads/p.HeadsKV, p.Heads, p.SeqQ, p.SeqKV)...), nil
}

// described is a map of a buffer as devices take it.
func described(m hopper.Map, b device.Buffer) device.TensorDesc {
	d := device.TensorDesc{Type: m.Type, Addr: b.Addr(), Dims: m.Dims, Strides: m.Strides, Box: m.Box, Swizzle: device.Swizzle64B}
	if m.Swizzle == 128 {
		d.Swizzle = device.Swizzle128B
	}
	return d
}

// numbers are the parameters after the pointers: extents, then the scale.
func numbers(scale float32, extents ...int) (list []device.Param) {
	for _, n := range extents {
		list = append(list, device.U32(uint32(n)))
	}
	return append(list, device.F32(scale))
}
