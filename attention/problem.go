package attention

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
)

// Problem is what is to be computed: O = softmax(Q·Kᵀ·scale)·V with Q and O
// [Batch, Heads, Seq, HeadDim] and K and V [Batch, HeadsKV, SeqKV, HeadDim].
type Problem struct {
	Batch, Heads, Seq int
	// HeadsKV is the heads of K and V, 0 as many as Heads. Heads is a multiple of it:
	// so many neighbours share one.
	HeadsKV int
	SeqKV   int        // the length of K and V, 0 is Seq
	HeadDim int        // 64 or 128
	Format  fp8.Format // of Q, K and V
	Output  Output     // of O
	LSE     bool       // also give the logarithm of each row's sum of exponentials
	// Causal hides keys that come after the query. The last query sees all keys, so
	// query i sees keys 0 to i+SeqKV-Seq.
	Causal bool
}

// Output is the type of O.
type Output = stages.Output

// The types of O.
const (
	OutputF16  = stages.F16
	OutputBF16 = stages.BF16
)

// filled is the problem with nothing left to default.
func (p Problem) filled() Problem {
	if p.HeadsKV == 0 {
		p.HeadsKV = p.Heads
	}
	if p.SeqKV == 0 {
		p.SeqKV = p.Seq
	}
	return p
}

// Check refuses a problem that no kernel computes on any device.
func (p Problem) Check() error {
	p = p.filled()
	switch {
	case p.Batch < 1 || p.Heads < 1 || p.Seq < 1 || p.HeadsKV < 1 || p.SeqKV < 1:
		return fmt.Errorf("batch %d, heads %d and %d, sequences %d and %d: each must be at least 1", p.Batch, p.Heads, p.HeadsKV, p.Seq, p.SeqKV)
	case p.Heads%p.HeadsKV != 0:
		return fmt.Errorf("%d heads of Q over %d of K and V: it must be a multiple", p.Heads, p.HeadsKV)
	case p.HeadDim != 64 && p.HeadDim != 128:
		return fmt.Errorf("head dimension %d: there are kernels for 64 and 128", p.HeadDim)
	case p.Format > fp8.U8Legacy:
		return fmt.Errorf("no format has the number %d", p.Format)
	case p.Output > OutputBF16:
		return fmt.Errorf("no output type has the number %d", p.Output)
	}
	return nil
}

// dims are the extents of Q and O.
func (p Problem) dims() fp8.Dims {
	return fp8.Dims{B: p.Batch, H: p.Heads, S: p.Seq, D: p.HeadDim}
}

// dimsKV are the extents of K and V.
func (p Problem) dimsKV() fp8.Dims {
	return fp8.Dims{B: p.Batch, H: p.HeadsKV, S: p.SeqKV, D: p.HeadDim}
}

// staged is the problem as kernels/attn has it, if that can say it.
func (p Problem) staged() (stages.Problem, error) {
	q := stages.Problem{Batch: p.Batch, Heads: p.Heads, Seq: p.Seq, HeadDim: p.HeadDim, Format: p.Format, Output: p.Output, LSE: p.LSE}
	switch {
	case p.Causal:
		return q, fmt.Errorf("the stages are not causal")
	case p.HeadsKV != p.Heads || p.SeqKV != p.Seq:
		return q, fmt.Errorf("the stages want K and V of the shape of Q")
	}
	return q, nil
}

// hopper is the problem as kernels/attn/hopper has it.
func (p Problem) hopper() hopper.Problem {
	return hopper.Problem{
		Batch: p.Batch, Heads: p.Heads, HeadsKV: p.HeadsKV, SeqQ: p.Seq, SeqKV: p.SeqKV, HeadDim: p.HeadDim,
		Format: p.Format, Output: p.Output, LSE: p.LSE, Causal: p.Causal,
	}
}
