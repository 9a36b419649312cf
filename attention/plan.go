package attention

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
)

// Plan is an [Op], an [Append] or a [Merge] that is prepared for a batch: a launch with its sizes and operands.
//
// Making a plan takes microseconds on the host, so a server can make one per step. It allocates no memory of the
// device unless it is the first of its size: see [Op.Plan]. Lengths, offsets and page tables are read by the device when the launch
// runs. A plan, and a CUDA graph that has captured it, therefore stay valid while these change.
type Plan struct {
	of   *loaded
	work *device.Work
}

// Plan prepares the operation for a problem like that of New, of the same size or smaller: p may
// have fewer sequences, shorter ones and other lengths. All plans of an operation share its
// workspaces, so their launches must run one after the other, as those of one stream do.
//
// Some kernels split the keys of a small batch into more parts than those of a large one, so the first plan of a
// small batch may enlarge the workspaces. A server that must not allocate memory later makes such plans when it
// starts.
func (op *Op) Plan(p Problem, b Buffers) (*Plan, error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	p = p.Filled()
	plan, err := op.prepare(p, func(bound *kernel.Plan) ([]device.Slice, error) {
		most := bound
		if exceeds(p.Shape, op.problem.Shape) { // a plan that has no room in the workspaces is then refused
			most = op.bound
		}
		spaces, err := op.workspaces(nil, most)
		if err != nil {
			return nil, err
		}
		return b.memory(bound, spaces)
	})
	return plan, wrap(err)
}

// exceeds reports whether an extent of a shape is larger than that of another one.
func exceeds(s, other Shape) bool {
	return s.B > other.B || s.Hq > other.Hq || s.Hkv > other.Hkv || s.Sq > other.Sq || s.Skv > other.Skv
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
