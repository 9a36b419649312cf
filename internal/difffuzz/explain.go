package difffuzz

import (
	"context"
	"fmt"
)

// FirstDifference is the first instruction, in the order of the text, whose result differs
// when every result is stored.
type FirstDifference struct {
	Inst, Reg        string
	Block, Thread    int
	Reference, Other string
}

func (f *FirstDifference) String() string {
	return fmt.Sprintf("%s: %s is %s, want %s, in block %d, thread %d (lane %d)", f.Inst, f.Reg, f.Other, f.Reference, f.Block, f.Thread, f.Thread%32)
}

// explain runs the kernel with all its results stored and returns the first difference. It
// returns nil if the devices agree then, which happens if the stores change the code that
// ptxas generates.
func (p *Pair) explain(ctx context.Context, k *Kernel) (*FirstDifference, error) {
	text, l := traced(k, "k0")
	b := &Batch{Text: text, Jobs: []Job{k.job("k0", l)}}
	ref, err := p.Reference.Run(ctx, b)
	if fatal(err) != nil {
		return nil, err
	}
	other, otherErr := p.Other.Run(ctx, b)
	if fatal(otherErr) != nil {
		return nil, otherErr
	}
	if err != nil || otherErr != nil || ref[0].Fault != "" || other[0].Fault != "" {
		return nil, nil
	}
	return k.firstDifference(l, ref[0].Trace, other[0].Trace), nil
}

// firstDifference returns the earliest point at which any thread has a difference.
func (k *Kernel) firstDifference(l *layout, ref, other []byte) *FirstDifference {
	for _, p := range l.points {
		for t := range len(ref) / l.traceSize {
			at := t*l.traceSize + p.at
			for i := at; i < at+slot(p.reg); i += 8 {
				if a, b := hexWord(ref, i), hexWord(other, i); a != b {
					return &FirstDifference{p.inst, p.reg, t / k.Threads(), t % k.Threads(), a, b}
				}
			}
		}
	}
	return nil
}
