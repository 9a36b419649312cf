package attention

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
)

// Options are what a problem leaves open. The zero value is the usual choice.
type Options struct {
	// Preset names a kernel instead of the best one: a preset of kernels/attn, or a
	// design of kernels/attn/hopper.
	Preset string
	// Scale multiplies the logits; 0 is 1/√HeadDim.
	Scale float32
	// Stream is where Run queues its copies and its kernel; Run still waits for
	// them. Without one they are done one by one.
	Stream device.Stream
}

// ErrClosed is in the error of a call on an Op after Close.
var ErrClosed = errors.New("the operation is closed")

// Op is attention of one problem on one device. Goroutines may share it: runs take
// turns.
type Op struct {
	dev     device.Device
	problem Problem
	opt     Options
	design  design
	text    string
	module  device.Module
	kernel  device.Kernel
	launch  device.Launch // but for its parameters

	mu     sync.Mutex
	own    Buffers // of Run
	closed bool
}

// New makes the operation: it chooses a kernel, writes it and loads it.
func New(dev device.Device, p Problem) (*Op, error) { return NewWith(dev, p, Options{}) }

// NewWith is New with options.
func NewWith(dev device.Device, p Problem, opt Options) (*Op, error) {
	op, err := newOp(dev, p, opt)
	if err != nil {
		return nil, fmt.Errorf("attention: %w", err)
	}
	return op, nil
}

func newOp(dev device.Device, p Problem, opt Options) (*Op, error) {
	switch scale := float64(opt.Scale); {
	case math.IsNaN(scale) || math.IsInf(scale, 0) || scale < 0:
		return nil, fmt.Errorf("a scale of %v: it must be finite and above zero, or zero for 1/√HeadDim", opt.Scale)
	case scale == 0:
		opt.Scale = float32(1 / math.Sqrt(float64(max(p.HeadDim, 1))))
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	p = p.filled()
	chosen, err := choose(dev.Info(), p, opt.Preset)
	if err != nil {
		return nil, err
	}
	op := &Op{dev: dev, problem: p, opt: opt, design: chosen}
	if err := op.load(); err != nil {
		return nil, fmt.Errorf("%s: %w", chosen.name(), err)
	}
	return op, nil
}

// load writes the kernel and has the device compile it.
func (op *Op) load() error {
	k, err := op.design.build()
	if err != nil {
		return err
	}
	if op.text, err = k.PTX(); err != nil {
		return err
	}
	if op.module, err = op.dev.Load(k.Name()+".ptx", op.text); err != nil {
		return err
	}
	if op.kernel, err = op.module.Kernel(k.Name()); err != nil {
		return errors.Join(err, op.module.Close())
	}
	op.launch = op.design.launch(op.kernel)
	return nil
}

// Problem is what the operation computes, with nothing left to default.
func (op *Op) Problem() Problem { return op.problem }

// Preset is the name of the kernel: "stage3b", or "hopper".
func (op *Op) Preset() string { return op.design.name() }

// Config is the kernel's configuration in words: its tiles and what is on.
func (op *Op) Config() string { return op.design.config() }

// PTX is the text of the kernel.
func (op *Op) PTX() string { return op.text }

// Dims are the extents of Q and O.
func (op *Op) Dims() fp8.Dims { return op.problem.dims() }

// DimsKV are the extents of K and V.
func (op *Op) DimsKV() fp8.Dims { return op.problem.dimsKV() }

// Launch runs the kernel on memory of the device and waits for it.
func (op *Op) Launch(ctx context.Context, b Buffers) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	return op.wrap(op.run(ctx, b))
}

func (op *Op) run(ctx context.Context, b Buffers) error {
	l, err := op.ready(b)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return op.kernel.Launch(ctx, l)
}

// Queue puts the kernel on a stream and returns. The buffers belong to it until the
// stream has come that far, and so does the operation: close it afterwards.
func (op *Op) Queue(s device.Stream, b Buffers) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	l, err := op.ready(b)
	if err == nil {
		err = s.Launch(op.kernel, l)
	}
	return op.wrap(err)
}

// ready is the launch on some buffers, if they will do.
func (op *Op) ready(b Buffers) (device.Launch, error) {
	if op.closed {
		return device.Launch{}, ErrClosed
	}
	if err := b.check(op); err != nil {
		return device.Launch{}, err
	}
	l := op.launch
	var err error
	l.Params, err = op.design.params(op, &b)
	return l, err
}

// Close frees what the operation holds on the device. Later calls fail; another
// Close does nothing.
func (op *Op) Close() error {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.closed {
		return nil
	}
	op.closed = true
	return op.wrap(errors.Join(op.own.free(), op.module.Close()))
}

func (op *Op) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("attention: %w", err)
}
