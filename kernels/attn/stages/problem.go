package stages

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
)

// Problem is what a kernel is to compute: O = softmax(Q·Kᵀ·scale)·V over
// [Batch, Heads, Seq, HeadDim].
type Problem struct {
	Batch, Heads, Seq int
	HeadDim           int        // 64 or 128
	Format            fp8.Format // of Q, K and V
	Output            Output     // of O
	LSE               bool       // also write the logarithm of each row's sum of exponentials
}

// Output is the type of O.
type Output uint8

// The types of O. The zero value is F16.
const (
	F16 Output = iota
	BF16
)

func (o Output) String() string {
	if o == BF16 {
		return "bf16"
	}
	return "f16"
}

// maxSeq keeps the byte offsets within a head below 2^32.
const maxSeq = 1 << 23

// Check refuses a problem that no kernel here computes.
func (p Problem) Check() error {
	switch {
	case p.Batch < 1 || p.Heads < 1 || p.Seq < 1:
		return fmt.Errorf("batch %d, heads %d, sequence %d: each must be at least 1", p.Batch, p.Heads, p.Seq)
	case p.HeadDim != 64 && p.HeadDim != 128:
		return fmt.Errorf("head dimension %d: there are kernels for 64 and 128", p.HeadDim)
	case p.Seq > maxSeq:
		return fmt.Errorf("sequence of %d: at most %d, so that offsets within a head fit 32 bits", p.Seq, maxSeq)
	case p.Batch > 1<<30/p.Heads/((p.Seq+15)/16):
		return fmt.Errorf("batch %d, heads %d, sequence %d: more tiles of 16 rows than a grid has blocks", p.Batch, p.Heads, p.Seq)
	case p.Format > fp8.U8Legacy:
		return fmt.Errorf("no format has the number %d", p.Format)
	case p.Output > BF16:
		return fmt.Errorf("no output type has the number %d", p.Output)
	}
	return nil
}

// step is the value of one step of a byte's code before its scale, where the kernel
// computes with codes: u8 counts in steps of 448/127, floats are values themselves.
func (p Problem) step() float64 {
	if p.Format == fp8.U8 || p.Format == fp8.U8Legacy {
		return 448.0 / 127
	}
	return 1
}
