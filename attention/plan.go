package attention

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
)

// Plan is an operation that is prepared for a batch: a launch with its sizes and operands.
//
// Making a plan takes microseconds on the host and allocates no memory of the device, so a server
// can make one per step. Lengths, offsets and page tables are read by the device when the launch
// runs. A plan, and a CUDA graph that has captured it, therefore stay valid while these change.
type Plan struct {
	op   *Op
	work *device.Work
}

// Plan prepares the operation for a problem like that of New, of the same size or smaller: p may
// have fewer sequences, shorter ones and other lengths. All plans of an operation share its
// workspaces, so their launches must run one after the other, as those of one stream do.
func (op *Op) Plan(p Problem, b Buffers) (*Plan, error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	plan, err := op.prepare(p.Filled(), b)
	return plan, op.wrap(err)
}

func (op *Op) prepare(p Problem, b Buffers) (*Plan, error) {
	if op.closed {
		return nil, ErrClosed
	}
	spaces, err := op.workspaces(nil)
	if err != nil {
		return nil, err
	}
	if err := op.program.Contract.Allows(p, op.dev.Info().Chip()); err != nil {
		return nil, fmt.Errorf("%s: %w", op.program.Contract.Name, err)
	}
	bound, err := op.program.Bind(p, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.program.Contract.Name, err)
	}
	memory, err := b.memory(bound, spaces)
	if err != nil {
		return nil, err
	}
	work, err := op.program.Reuse(bound, memory)
	if err != nil {
		return nil, err
	}
	return &Plan{op, work}, nil
}

// Queue puts the launch on a stream and returns. It allocates no memory.
func (p *Plan) Queue(s device.Stream) error {
	p.op.mu.Lock()
	defer p.op.mu.Unlock()
	if p.op.closed {
		return p.op.wrap(ErrClosed)
	}
	return p.op.wrap(p.work.Queue(s))
}
