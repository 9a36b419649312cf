package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
)

// Chip returns the properties of the device that a kernel may depend on.
func (i Info) Chip() kernel.Chip {
	return kernel.Chip{Target: i.Target, SMs: i.SMs, SharedMax: i.SharedMax, SharedPerSM: i.SharedPerSM}
}

// Program is a kernel that a device has compiled. It can be bound to problems.
type Program struct {
	Contract *kernel.Kernel
	// SMs, if not zero, replaces the device's number of SMs. With few SMs, a persistent kernel
	// gets several tiles per block even for a small problem.
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

// Entry returns a loaded entry of the kernel, or nil.
func (p *Program) Entry(name string) Kernel { return p.entries[name] }

// Variable returns a module-scope variable of the kernel by its name.
func (p *Program) Variable(name string) (Buffer, error) { return p.module.Global(name) }

// Device returns the device on which the program was loaded.
func (p *Program) Device() Device { return p.dev }

func (p *Program) chip() kernel.Chip {
	c := p.dev.Info().Chip()
	if p.SMs > 0 {
		c.SMs = p.SMs
	}
	return c
}

// Bind evaluates the kernel for a problem on this device. values holds further names for its
// expressions and may be nil.
func (p *Program) Bind(problem kernel.Problem, values expr.Env) (*kernel.Plan, error) {
	return p.Contract.Bind(problem, p.chip(), kernel.Options{Values: values, Resident: p.resident})
}

// resident returns the number of blocks of a step that fit on one SM, or 1 if the device
// does not report it.
func (p *Program) resident(s kernel.Step) int {
	o := p.Occupancy(s)
	if o == nil {
		return 1
	}
	return o.BlocksPerSM
}

// Occupancy returns how much of a step fits on the device at once, or nil if the device does
// not report it.
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

// launchOf returns the launch of a step without its parameters.
func launchOf(s kernel.Step) Launch {
	return Launch{
		Grid: dim(s.Grid), Block: dim(s.Block), Cluster: dim(s.Cluster), Shared: s.Shared,
		Cooperative: s.Cooperative, Dependent: s.Dependent,
	}
}

func dim(n [3]int) Dim { return Dim{n[0], n[1], n[2]} }

// Slice is a part of a buffer that holds an operand.
type Slice struct {
	Buffer Buffer
	Offset int64
}

// Addr returns the address of the first byte.
func (s Slice) Addr() uint64 { return s.Buffer.Addr() + uint64(s.Offset) }

// Work is a plan together with its memory: everything that a run needs.
type Work struct {
	steps []step
	zero  []Slice // operands that must be zero before each run
	sizes []int64
}

type step struct {
	kernel Kernel
	launch Launch
}

// Work combines a plan with its memory: one slice for each element of plan.Memory. It zeroes
// the operands that must be zero once.
func (p *Program) Work(plan *kernel.Plan, memory []Slice) (*Work, error) {
	w, err := p.Reuse(plan, memory)
	if err != nil {
		return nil, err
	}
	for i, m := range plan.Memory {
		if m.Init == kernel.ZeroOnce {
			if err := memory[i].Buffer.Write(memory[i].Offset, make([]byte, m.Bytes)); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// Reuse is Work for operands that are zero already if they must be zero once, because an
// earlier run of the same kernel has left them so. It writes no memory, so launches may be in
// flight.
func (p *Program) Reuse(plan *kernel.Plan, memory []Slice) (*Work, error) {
	if len(memory) != len(plan.Memory) {
		return nil, fmt.Errorf("memory for %d operands is given, the kernel has %d", len(memory), len(plan.Memory))
	}
	w := &Work{}
	for i, m := range plan.Memory {
		if m.Init == kernel.Zero {
			w.zero, w.sizes = append(w.zero, memory[i]), append(w.sizes, m.Bytes)
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

// Launches returns the launches of one run, in order.
func (w *Work) Launches() (list []Launch) {
	for _, s := range w.steps {
		list = append(list, s.launch)
	}
	return list
}

// Run zeroes the operands that must be zero before each run, launches all steps and waits
// until they end.
func (w *Work) Run(ctx context.Context) error {
	_, err := w.RunCounted(ctx)
	return err
}

// RunCounted is Run with the numbers of instructions, which are zero on a device that does not
// count them.
func (w *Work) RunCounted(ctx context.Context) (total Stats, err error) {
	for i, z := range w.zero {
		if err := z.Buffer.Write(z.Offset, make([]byte, w.sizes[i])); err != nil {
			return total, err
		}
	}
	for _, s := range w.steps {
		counts, ok := s.kernel.(StatsKernel)
		if !ok {
			if err := s.kernel.Launch(ctx, s.launch); err != nil {
				return total, err
			}
			continue
		}
		n, err := counts.Run(ctx, s.launch)
		total.ThreadInstructions += n.ThreadInstructions
		total.WarpInstructions += n.WarpInstructions
		if err != nil {
			return total, err
		}
	}
	return total, nil
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
