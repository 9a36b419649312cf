package difffuzz

import (
	"context"
	"fmt"
)

// First is the first instruction, in the order of the text, whose result differs when
// every result is stored.
type First struct {
	Inst, Reg        string
	Block, Thread    int
	Reference, Other string
}

func (f *First) String() string {
	return fmt.Sprintf("%s gives %s = %s, not %s, in block %d, thread %d (lane %d)", f.Inst, f.Reg, f.Other, f.Reference, f.Block, f.Thread, f.Thread%32)
}

// explain runs the kernel with all its results stored. It returns nil when the devices
// then agree, as they may when storing changes what an assembler does.
func (p *Pair) explain(ctx context.Context, k *Kernel) (*First, error) {
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
	return k.first(l, ref[0].Trace, other[0].Trace), nil
}

// first finds the earliest point with a difference, in any thread.
func (k *Kernel) first(l *layout, ref, other []byte) *First {
	for _, p := range l.points {
		for t := range len(ref) / l.traceSize {
			at := t*l.traceSize + p.at
			for i := at; i < at+slot(p.reg); i += 8 {
				if a, b := show(ref, i), show(other, i); a != b {
					return &First{p.inst, p.reg, t / k.Threads(), t % k.Threads(), a, b}
				}
			}
		}
	}
	return nil
}
