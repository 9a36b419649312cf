package attention

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
)

// Plan is an [Op], an [Append] or a [Merge] that is prepared for a batch: a launch with its sizes and operands.
//
// Making a plan takes microseconds on the host and allocates no memory of the device, so a server
// can make one per step. Lengths, offsets and page tables are read by the device when the launch
// runs. A plan, and a CUDA graph that has captured it, therefore stay valid while these change.
type Plan struct {
	of   *loaded
	work *device.Work
}

// Plan prepares the operation for a problem like that of New, of the same size or smaller: p may
// have fewer sequences, shorter ones and other lengths. All plans of an operation share its
// workspaces, so their launches must run one after the other, as those of one stream do.
func (op *Op) Plan(p Problem, b Buffers) (*Plan, error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	plan, err := op.prepare(p.Filled(), func(bound *kernel.Plan) ([]device.Slice, error) {
		spaces, err := op.workspaces(nil)
		if err != nil {
			return nil, err
		}
		return b.memory(bound, spaces)
	})
	return plan, wrap(err)
}

// Queue puts the launch on a stream and returns. It allocates no memory.
func (p *Plan) Queue(s device.Stream) error {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.closed {
		return wrap(ErrClosed)
	}
	return wrap(p.work.Queue(s))
}
