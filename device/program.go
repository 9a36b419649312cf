package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
)

// Chip is what a kernel may know of the device.
func (i Info) Chip() kernel.Chip {
	return kernel.Chip{Target: i.Target, SMs: i.SMs, SharedMax: i.SharedMax, SharedPerSM: i.SharedPerSM}
}

// Program is a kernel that a device has compiled, ready to be bound to problems.
type Program struct {
	Contract *kernel.Kernel
	// SMs replaces the device's number of SMs where it is not zero, so that persistent
	// kernels get several tiles per block even of a small problem.
	SMs int

	dev     Device
	module  Module
	entries map[string]Kernel
}

// LoadProgram compiles a kernel on a device.
func LoadProgram(dev Device, k *kernel.Kernel) (*Program, error) {
	m, err := dev.Load(k.Name, k.PTX)
	if err != nil {
		return nil, err
	}
	p := &Program{Contract: k, dev: dev, module: m, entries: map[string]Kernel{}}
	for _, name := range k.Entries() {
		if p.entries[name], err = m.Kernel(name); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	return p, nil
}

// Close unloads the kernel.
func (p *Program) Close() error { return p.module.Close() }

// Entry is a loaded entry of the kernel, or nil.
func (p *Program) Entry(name string) Kernel { return p.entries[name] }

// Device is where the program was loaded.
func (p *Program) Device() Device { return p.dev }

func (p *Program) chip() kernel.Chip {
	c := p.dev.Info().Chip()
	if p.SMs > 0 {
		c.SMs = p.SMs
	}
	return c
}

// Bind evaluates the kernel for a problem on this device. values are further names for
// its expressions, and may be nil.
func (p *Program) Bind(problem kernel.Problem, values expr.Env) (*kernel.Plan, error) {
	return p.Contract.Bind(problem, p.chip(), kernel.Options{Values: values, Resident: p.resident})
}

// resident is how many blocks of a step one SM holds, 1 where the device cannot tell.
func (p *Program) resident(s kernel.Step) int {
	o := p.Occupancy(s)
	if o == nil {
		return 1
	}
	return o.BlocksPerSM
}

// Occupancy is how much of a step runs at once, or nil where the device cannot tell.
func (p *Program) Occupancy(s kernel.Step) *Occupancy {
	able, ok := p.entries[s.Entry].(OccupancyKernel)
	if !ok {
		return nil
	}
	o, err := able.Occupancy(launchOf(s))
	if err != nil {
		return nil
	}
	return &o
}

// launchOf is a step without its parameters.
func launchOf(s kernel.Step) Launch {
	return Launch{
		Grid: dim(s.Grid), Block: dim(s.Block), Cluster: dim(s.Cluster), Shared: s.Shared,
		Cooperative: s.Cooperative, Dependent: s.Dependent,
	}
}

func dim(n [3]int) Dim { return Dim{n[0], n[1], n[2]} }

// Slice is a part of a buffer: an operand in memory.
type Slice struct {
	Buffer Buffer
	Offset int64
}

// Addr is the address of the first byte.
func (s Slice) Addr() uint64 { return s.Buffer.Addr() + uint64(s.Offset) }

// Work is a plan with its memory: everything that a run needs.
type Work struct {
	steps []step
	zero  []Slice // operands that must be zero before each run
	sizes []int64
}

type step struct {
	kernel Kernel
	launch Launch
}

// Work gives a plan its memory, one slice for each of plan.Memory. Operands that are zero
// once are zeroed now.
func (p *Program) Work(plan *kernel.Plan, memory []Slice) (*Work, error) {
	if len(memory) != len(plan.Memory) {
		return nil, fmt.Errorf("%d operands in memory, the kernel has %d", len(memory), len(plan.Memory))
	}
	w := &Work{}
	for i, m := range plan.Memory {
		switch m.Init {
		case kernel.Zero:
			w.zero, w.sizes = append(w.zero, memory[i]), append(w.sizes, m.Bytes)
		case kernel.ZeroOnce:
			if err := memory[i].Buffer.Write(memory[i].Offset, make([]byte, m.Bytes)); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range plan.Steps {
		l := launchOf(s)
		for i, a := range s.Args {
			param, err := p.param(a, memory)
			if err != nil {
				return nil, fmt.Errorf("argument %d of %s: %w", i, s.Entry, err)
			}
			l.Params = append(l.Params, param)
		}
		w.steps = append(w.steps, step{p.entries[s.Entry], l})
	}
	return w, nil
}

func (p *Program) param(a kernel.Bound, memory []Slice) (Param, error) {
	switch {
	case a.Memory < 0:
		return Param(a.Value), nil
	case a.Map == nil:
		return U64(memory[a.Memory].Addr()), nil
	}
	m := a.Map
	t, err := p.dev.TensorMap(TensorDesc{
		Type: m.Type, Addr: memory[a.Memory].Addr(), Dims: m.Dims, Strides: m.Strides, Box: m.Box,
		Swizzle: map[int]Swizzle{32: Swizzle32B, 64: Swizzle64B, 128: Swizzle128B}[m.Swizzle], NaNFill: m.NaNFill,
	})
	return t.Param(), err
}

// Launches are the launches of one run, in their order.
func (w *Work) Launches() (list []Launch) {
	for _, s := range w.steps {
		list = append(list, s.launch)
	}
	return list
}

// Run zeroes what has to be zero, launches and waits for the end.
func (w *Work) Run(ctx context.Context) error {
	for i, z := range w.zero {
		if err := z.Buffer.Write(z.Offset, make([]byte, w.sizes[i])); err != nil {
			return err
		}
	}
	for _, s := range w.steps {
		if err := s.kernel.Launch(ctx, s.launch); err != nil {
			return err
		}
	}
	return nil
}

// Queue queues one run on a stream.
func (w *Work) Queue(s Stream) error {
	for i, z := range w.zero {
		if err := s.Write(z.Buffer, z.Offset, make([]byte, w.sizes[i])); err != nil {
			return err
		}
	}
	for _, one := range w.steps {
		if err := s.Launch(one.kernel, one.launch); err != nil {
			return err
		}
	}
	return nil
}
