package attention

import (
	"context"
	"fmt"
	"sync"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/kernel"
)

// loaded is a kernel on a device, until it is closed.
type loaded struct {
	dev     device.Device
	program *device.Program

	mu     sync.Mutex
	closed bool
}

// load loads a kernel for problems with the facts of p, and of its sizes or smaller ones.
func load(dev device.Device, k *kernel.Kernel, p kernel.Problem) (*loaded, error) {
	if err := k.Serves(p, dev.Info().Chip()); err != nil {
		return nil, fmt.Errorf("%s on %s: %w", k.Name, dev.Info().Name, err)
	}
	program, err := device.LoadProgram(dev, k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	return &loaded{dev: dev, program: program}, nil
}

// prepare returns a plan for a problem. memory returns the memory of its operands.
func (l *loaded) prepare(p kernel.Problem, memory func(*kernel.Plan) ([]device.Slice, error)) (*Plan, error) {
	if l.closed {
		return nil, ErrClosed
	}
	k := l.program.Contract
	if err := k.Allows(p, l.dev.Info().Chip()); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	bound, err := l.program.Bind(p, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	list, err := memory(bound)
	if err != nil {
		return nil, err
	}
	work, err := l.program.Reuse(bound, list)
	if err != nil {
		return nil, err
	}
	return &Plan{l, work}, nil
}

// plan is prepare for a kernel without workspaces. at returns the buffer of an operand.
func (l *loaded) plan(p kernel.Problem, at func(operand string) device.Buffer) (*Plan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	plan, err := l.prepare(p, func(bound *kernel.Plan) (list []device.Slice, err error) {
		for _, m := range bound.Memory {
			buf := at(m.Name)
			if err := check16(m, buf); err != nil {
				return nil, err
			}
			list = append(list, device.Slice{Buffer: buf})
		}
		return list, nil
	})
	return plan, wrap(err)
}

// launch makes a plan, runs it, and waits for it.
func (l *loaded) launch(ctx context.Context, p kernel.Problem, at func(operand string) device.Buffer) error {
	plan, err := l.plan(p, at)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return wrap(ErrClosed)
	}
	return wrap(plan.work.Run(ctx))
}

// close unloads the kernel.
func (l *loaded) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return wrap(l.program.Close())
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("attention: %w", err)
}

// check16 refuses a buffer that is too small for an operand or does not begin at a multiple of 16.
func check16(m kernel.Memory, buf device.Buffer) error {
	switch {
	case buf == nil:
		return fmt.Errorf("buffer %s is missing: it needs %s", m.Name, english.Count(m.Bytes, "byte"))
	case buf.Size() < m.Bytes:
		return fmt.Errorf("buffer %s has %s, it needs %d", m.Name, english.Count(buf.Size(), "byte"), m.Bytes)
	case buf.Addr()%16 != 0:
		return fmt.Errorf("buffer %s starts at %#x: its address must be a multiple of 16", m.Name, buf.Addr())
	}
	return nil
}
