package attention

import (
	"context"
	"errors"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn/merge"
	"github.com/GOATnote-Inc/attest/problem"
)

// MergeProblem describes partial results of attention that are merged. [MergeOf] makes one for the results of an
// attention problem.
type MergeProblem = merge.Problem

// MergeOf returns the problem of merging parts results of p: outputs of the same queries over different keys.
// Their number of keys need not be that of p.
func MergeOf(p Problem, parts int) (MergeProblem, error) {
	p = p.Filled()
	if err := p.Check(); err != nil {
		return MergeProblem{}, wrap(err)
	}
	m := MergeProblem{Parts: parts, Rows: p.O().Rows(), D: p.DimV(), Input: p.Output, Output: p.Output, LSE: true, Layout: p.Layout, Heads: p.Hq, S: p.Sq}
	if p.Queries == problem.Packed {
		m.S = int(p.Names()["total_q"].Int64())
		m.Rows = m.S * p.Hq
	}
	switch {
	case !p.LSE:
		return m, wrap(errors.New("results without a log-sum-exp cannot be merged: set LSE"))
	case p.Gaps.O != problem.Gap{}:
		return m, wrap(errors.New("outputs with gaps cannot be merged: use contiguous ones"))
	case p.Sinks:
		return m, wrap(errors.New("a sink counts once per row, but each part would count it: leave out the sinks"))
	}
	return m, wrap(m.Check())
}

// MergeBuffers are the operands of [Merge] in the memory of its device. A part can be computed in its place:
// [device.View] returns a range of a buffer.
type MergeBuffers struct {
	PartsO   device.Buffer // the outputs of the parts, one after the other
	PartsLSE device.Buffer // float32, the log-sum-exps of the parts, one after the other
	O        device.Buffer // the merged output
	LSE      device.Buffer // float32, the merged log-sum-exp, where the problem asks for it
}

func (b MergeBuffers) at(operand string) device.Buffer {
	return map[string]device.Buffer{"parts_o": b.PartsO, "parts_lse": b.PartsLSE, "o": b.O, "lse": b.LSE}[operand]
}

// Merge merges partial results of attention, such as those over a shared prefix and over the rest. Several
// goroutines may use it.
type Merge struct {
	*loaded
	problem MergeProblem
}

// NewMerge builds the kernel for a problem and loads it on the device.
func NewMerge(dev device.Device, p MergeProblem) (*Merge, error) {
	k, err := merge.New(p, dev.Info().Target)
	if err != nil {
		return nil, wrap(err)
	}
	l, err := load(dev, k, p)
	if err != nil {
		return nil, wrap(err)
	}
	return &Merge{l, p}, nil
}

// Kernel returns the kernel: its PTX and its call.
func (m *Merge) Kernel() *kernel.Kernel { return m.program.Contract }

// Plan prepares a launch for a problem that differs from that of [NewMerge] only in sizes.
func (m *Merge) Plan(p MergeProblem, b MergeBuffers) (*Plan, error) {
	if err := p.Check(); err != nil {
		return nil, wrap(err)
	}
	return m.plan(p, b.at)
}

// Launch merges and waits for the end.
func (m *Merge) Launch(ctx context.Context, b MergeBuffers) error {
	return m.launch(ctx, m.problem, b.at)
}

// Close unloads the kernel. Later calls return an error, except Close, which has no effect then.
func (m *Merge) Close() error { return m.close() }
