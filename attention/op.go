package attention

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
)

// Options are choices that are not part of the problem. The zero value is the default.
type Options struct {
	// Kernel is one of kernels.Names. "" selects the best kernel for the problem.
	Kernel string
	// Stream is the stream on which Run queues its copies and its kernel. Run still waits
	// for them. Without a stream Run does one after the other.
	Stream device.Stream
	// CentreKeys lets Run subtract from K its mean over the keys before it quantises K. The result is
	// the same up to rounding, and more accurate if the keys share an offset: see [fp8.Centre].
	CentreKeys bool
}

// ErrClosed is wrapped by the error of a call after Close.
var ErrClosed = errors.New("the operation is closed")

// Op computes one attention problem on one device. Several goroutines may use it; their
// runs are done one after the other.
type Op struct {
	*loaded // its mutex also guards own, spaces and replaced
	problem Problem
	opt     Options
	bound   *kernel.Plan // for the problem

	own      Buffers                           // the buffers of Run
	spaces   map[device.Stream][]device.Buffer // the kernel's workspaces; nil is the stream of Launch
	replaced []device.Buffer                   // workspaces that were too small for a later plan
}

// New chooses a kernel for the problem, builds it and loads it on the device.
func New(dev device.Device, p Problem) (*Op, error) { return NewWith(dev, p, Options{}) }

// NewWith is New with options.
func NewWith(dev device.Device, p Problem, opt Options) (*Op, error) {
	op, err := newOp(dev, p, opt)
	return op, wrap(err)
}

func newOp(dev device.Device, p Problem, opt Options) (*Op, error) {
	p = p.Filled()
	if err := check(p); err != nil {
		return nil, err
	}
	if opt.CentreKeys {
		if err := checkCentre(p); err != nil {
			return nil, err
		}
	}
	k, err := build(dev.Info(), p, opt.Kernel)
	if err != nil {
		return nil, err
	}
	l, err := load(dev, k, p)
	if err != nil {
		return nil, err
	}
	op := &Op{loaded: l, problem: p, opt: opt}
	if op.bound, err = op.program.Bind(p, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", k.Name, err), op.program.Close())
	}
	return op, nil
}

// build builds the named kernel, or the best kernel for the problem on the device.
func build(info device.Info, p Problem, name string) (*kernel.Kernel, error) {
	chip := info.Chip()
	if name == "" {
		var err error
		if name, err = kernels.Choose(p, chip); err != nil {
			return nil, fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	if err := kernels.Check(name, p, chip); err != nil {
		return nil, fmt.Errorf("%s on %s: %w", name, info.Name, err)
	}
	return kernels.Build(name, p, chip)
}

// Problem returns the problem that the operation computes, with all defaults filled in
// except the scale. Its methods Q, K, V and O return the extents of the tensors.
func (op *Op) Problem() Problem { return op.problem }

// Kernel returns the kernel that computes the problem: its PTX and its call.
func (op *Op) Kernel() *kernel.Kernel { return op.program.Contract }

// Explain says in one line which kernel computes the problem and why: its configuration, estimated
// times where its family has them, and why kernels that would be preferred do not compute the
// problem. A kernel that the caller has named was not chosen.
func (op *Op) Explain() string {
	k := op.Kernel()
	if op.opt.Kernel != "" {
		return fmt.Sprintf("%s, %s: named by the caller", k.Name, k.Config["config"])
	}
	text, err := kernels.Explain(op.problem, op.dev.Info().Chip())
	if err != nil { // New has chosen the kernel in the same way
		return k.Name + ": " + err.Error()
	}
	return text
}

// Launch runs the kernel on buffers of the device and waits for it.
func (op *Op) Launch(ctx context.Context, b Buffers) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	return wrap(op.run(ctx, b))
}

func (op *Op) run(ctx context.Context, b Buffers) error {
	w, err := op.ready(nil, b)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.Run(ctx); err != nil {
		return errors.Join(err, op.clear(nil))
	}
	return nil
}

// Queue puts the kernel on a stream and returns. Do not change the buffers, and do not close
// the operation, before the stream has run the kernel.
func (op *Op) Queue(s device.Stream, b Buffers) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	w, err := op.ready(s, b)
	if err == nil {
		err = w.Queue(s)
	}
	return wrap(err)
}

// ready checks the buffers and returns the work on them. A launch passes its tensor maps by
// value, and each stream has its own workspaces, so launches on different streams may run at
// the same time.
func (op *Op) ready(s device.Stream, b Buffers) (*device.Work, error) {
	if op.closed {
		return nil, ErrClosed
	}
	spaces, err := op.workspaces(s, op.bound)
	if err != nil {
		return nil, err
	}
	memory, err := b.memory(op.bound, spaces)
	if err != nil {
		return nil, err
	}
	return op.program.Reuse(op.bound, memory)
}

// Close frees the operation's memory on the device. Later calls return an error, except
// Close, which has no effect then.
func (op *Op) Close() error {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.closed {
		return nil
	}
	op.closed = true
	return wrap(errors.Join(op.own.free(), op.freeSpaces(), op.program.Close()))
}
