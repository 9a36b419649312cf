package hopper

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Problem is what a kernel is to compute: O = softmax(Q·Kᵀ·scale)·V with Q and O
// [Batch, Heads, SeqQ, HeadDim] and K and V [Batch, HeadsKV, SeqKV, HeadDim].
type Problem struct {
	Batch          int
	Heads, HeadsKV int // Heads is a multiple of HeadsKV: so many neighbours share a head of K and V
	SeqQ, SeqKV    int
	HeadDim        int           // 64 or 128
	Format         fp8.Format    // of Q, K and V: E4M3 or E5M2
	Output         stages.Output // of O
	LSE            bool          // also write the logarithm of each row's sum of exponentials
	// Causal hides keys that come after the query. The last query sees all keys, so
	// query i sees keys 0 to i+SeqKV-SeqQ.
	Causal bool
}

// Square is the problem with as many heads and positions of K and V as of Q.
func Square(batch, heads, seq, headDim int, format fp8.Format) Problem {
	return Problem{Batch: batch, Heads: heads, HeadsKV: heads, SeqQ: seq, SeqKV: seq, HeadDim: headDim, Format: format}
}

// maxSeq keeps a row's number, and a few tiles more, in a signed word.
const maxSeq = 1 << 24

// Check refuses a problem that no kernel here computes.
func (p Problem) Check() error {
	switch {
	case p.Batch < 1 || p.Heads < 1 || p.HeadsKV < 1 || p.SeqQ < 1 || p.SeqKV < 1:
		return fmt.Errorf("batch %d, heads %d and %d, sequences %d and %d: each must be at least 1", p.Batch, p.Heads, p.HeadsKV, p.SeqQ, p.SeqKV)
	case p.Heads%p.HeadsKV != 0:
		return fmt.Errorf("%d heads of Q over %d of K and V: it must be a multiple", p.Heads, p.HeadsKV)
	case p.HeadDim != 64 && p.HeadDim != 128:
		return fmt.Errorf("head dimension %d: there are kernels for 64 and 128", p.HeadDim)
	case p.SeqQ > maxSeq || p.SeqKV > maxSeq:
		return fmt.Errorf("sequences of %d and %d: at most %d", p.SeqQ, p.SeqKV, maxSeq)
	case p.Batch > 1<<28/p.Heads/((p.SeqQ+63)/64):
		return fmt.Errorf("batch %d, heads %d, sequence %d: more tiles of 64 rows than a grid has blocks", p.Batch, p.Heads, p.SeqQ)
	case p.Format != fp8.E4M3 && p.Format != fp8.E5M2:
		return fmt.Errorf("format %s: the tensor cores take e4m3 and e5m2", p.Format)
	case p.Output > stages.BF16:
		return fmt.Errorf("no output type has the number %d", p.Output)
	}
	return nil
}

// float8 is the format as PTX names it.
func (p Problem) float8() ptx.Type {
	if p.Format == fp8.E5M2 {
		return ptx.E5M2
	}
	return ptx.E4M3
}
