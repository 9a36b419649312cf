package attention

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// Result is the output of attention in host memory.
type Result struct {
	Output problem.Format
	O      []byte    // [B,Hq,Sq,DV], two bytes per element
	LSE    []float32 // [B,H,S]: ln Σ exp(logit); nil unless the problem asks for it
}

// Float32 returns O in float32, without loss.
func (r *Result) Float32() []float32 {
	if r.Output == problem.BF16 {
		return fp8.FromBF16s(r.O)
	}
	return fp8.FromF16s(r.O)
}

// Run computes attention on tensors in host memory. It quantises inputs that are not
// quantised, with one scale per head. It is for full sequences in the layout BHSD; [Op.Launch]
// and [Op.Queue] take others. If ctx is cancelled, Run ends as soon as the device
// can be stopped.
func (op *Op) Run(ctx context.Context, q, k, v Input) (*Result, error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.closed {
		return nil, wrap(ErrClosed)
	}
	r, err := op.runHost(ctx, q, k, v)
	return r, wrap(err)
}

func (op *Op) runHost(ctx context.Context, q, k, v Input) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p := op.problem; p.Ragged() || p.Sinks || p.Masked || p.FormatQ != "" || p.Scaling != problem.PerHead || p.Layout != problem.BHSD || p.Strided() {
		return nil, fmt.Errorf("run takes tensors [B,H,S,D] of full sequences, which it quantises per head, without sinks and masks: use Launch or Queue for %v", p)
	}
	tensors, means, err := op.quantise(q, k, v)
	if err != nil {
		return nil, err
	}
	b := &op.own
	uploads := make([]transfer, 0, 6)
	for i, t := range tensors {
		uploads = append(uploads, transfer{[]*device.Buffer{&b.Q, &b.K, &b.V}[i], t.Data}, transfer{[]*device.Buffer{&b.Qs, &b.Ks, &b.Vs}[i], bytesOf(t.Scales)})
	}
	if err := b.alloc(op); err != nil {
		return nil, err
	}
	d := op.problem.O()
	o, lse := make([]byte, 2*d.Len()), []byte(nil)
	downloads := []transfer{{&b.O, o}}
	if op.problem.LSE {
		lse = make([]byte, 4*d.Rows())
		downloads = append(downloads, transfer{&b.LSE, lse})
	}
	if err := op.work()(ctx, uploads, downloads); err != nil {
		return nil, err
	}
	r := &Result{Output: op.problem.Output, O: o, LSE: float32s(lse)}
	if means != nil {
		means.addMeans(op.problem, tensors[0], r.LSE)
	}
	return r, nil
}

// quantise quantises the inputs that are not quantised. It returns the keys' means if the option
// CentreKeys removed them.
func (op *Op) quantise(inputs ...Input) (tensors [3]*fp8.Tensor, keys *centred, err error) {
	for i, in := range inputs {
		name, dims := "QKV"[i:i+1], []fp8.Dims{op.problem.Q(), op.problem.K(), op.problem.V()}[i]
		if in == nil {
			return tensors, nil, fmt.Errorf("%s is missing", name)
		}
		if op.opt.CentreKeys && name == "K" {
			if keys, err = centre(in, dims); err != nil {
				return tensors, nil, fmt.Errorf("%s: %w", name, err)
			}
			in = keys
		}
		if tensors[i], err = in.quantised(codec(op.problem), dims); err != nil {
			return tensors, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return tensors, keys, nil
}

// transfer is a copy between a buffer and the host.
type transfer struct {
	buffer *device.Buffer
	data   []byte
}

// work does the copies and the kernel of a run: on the stream, or one after the other.
func (op *Op) work() func(ctx context.Context, up, down []transfer) error {
	if op.opt.Stream != nil {
		return op.streamed
	}
	return op.stepwise
}

func (op *Op) stepwise(ctx context.Context, up, down []transfer) error {
	for _, t := range up {
		if err := (*t.buffer).Write(0, t.data); err != nil {
			return err
		}
	}
	if err := op.run(ctx, op.own); err != nil {
		return err
	}
	for _, t := range down {
		if err := (*t.buffer).Read(0, t.data); err != nil {
			return err
		}
	}
	return nil
}

// streamed waits for the stream even after an error, because the copies that were queued
// before it still use host memory.
func (op *Op) streamed(ctx context.Context, up, down []transfer) error {
	s := op.opt.Stream
	err := errors.Join(op.queue(s, up, down), s.Sync(ctx))
	if err != nil {
		err = errors.Join(err, op.clear(s))
	}
	return err
}

func (op *Op) queue(s device.Stream, up, down []transfer) error {
	for _, t := range up {
		if err := s.Write(*t.buffer, 0, t.data); err != nil {
			return err
		}
	}
	w, err := op.ready(s, op.own)
	if err != nil {
		return err
	}
	if err := w.Queue(s); err != nil {
		return err
	}
	for _, t := range down {
		if err := s.Read(*t.buffer, 0, t.data); err != nil {
			return err
		}
	}
	return nil
}

func float32s(b []byte) []float32 {
	if b == nil {
		return nil
	}
	x := make([]float32, len(b)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}
