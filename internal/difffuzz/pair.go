package difffuzz

import (
	"context"
	"errors"
)

// Pair is a pair of devices whose results must agree.
type Pair struct{ Reference, Other Runner }

// Close closes both devices.
func (p *Pair) Close() error { return errors.Join(p.Reference.Close(), p.Other.Close()) }

// differ runs kernels on both devices. It returns the difference for each kernel, or nil.
func (p *Pair) differ(ctx context.Context, ks []*Kernel) ([]*Difference, error) {
	b := NewBatch(ks)
	refs, refErr := p.Reference.Run(ctx, b)
	if err := fatal(refErr); err != nil {
		return nil, err
	}
	others, otherErr := p.Other.Run(ctx, b)
	if err := fatal(otherErr); err != nil {
		return nil, err
	}
	if refErr != nil || otherErr != nil || len(others) < len(ks) || len(refs) < len(ks) {
		if len(ks) == 1 {
			return []*Difference{refusal(refErr, otherErr)}, nil
		}
		return p.differOneByOne(ctx, ks) // to find the kernel that is the cause
	}
	diffs := make([]*Difference, len(ks))
	for i, k := range ks {
		diffs[i] = k.compare(&refs[i], &others[i])
	}
	return diffs, nil
}

// differOneByOne is differ with one module per kernel.
func (p *Pair) differOneByOne(ctx context.Context, ks []*Kernel) ([]*Difference, error) {
	diffs := make([]*Difference, len(ks))
	for i, k := range ks {
		d, err := p.differ(ctx, []*Kernel{k})
		if err != nil {
			return nil, err
		}
		diffs[i] = d[0]
	}
	return diffs, nil
}

// Runs is the number of times that a kernel on which devices differ runs again, alone in
// its module.
const Runs = 4

// countReproduced runs a kernel Runs times and returns in how many runs there was a
// difference of the kind.
func (p *Pair) countReproduced(ctx context.Context, k *Kernel, kind string) (seen int, err error) {
	for range Runs {
		ds, err := p.differ(ctx, []*Kernel{k})
		if err != nil {
			return 0, err
		}
		if ds[0] != nil && ds[0].Kind == kind {
			seen++
		}
	}
	return seen, nil
}

// fatal returns err if the kernels are not its cause, else nil.
func fatal(err error) error {
	if err == nil || errors.As(err, new(*Refused)) {
		return nil
	}
	return err
}

// refusal returns the difference if one of the devices refused a module.
func refusal(ref, other error) *Difference {
	d := &Difference{Kind: "refused"}
	if r := new(Refused); ref == nil && errors.As(other, &r) && r.Crashed {
		d.Kind = "crash"
	}
	if ref != nil {
		d.Reference = ref.Error()
	}
	if other != nil {
		d.Other = other.Error()
	}
	return d
}
