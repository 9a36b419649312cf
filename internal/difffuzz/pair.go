package difffuzz

import (
	"context"
	"errors"
)

// Pair is two devices that must agree.
type Pair struct{ Reference, Other Runner }

// Close closes both.
func (p *Pair) Close() error { return errors.Join(p.Reference.Close(), p.Other.Close()) }

// differ runs kernels on both and returns for each what they differ in, or nil.
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
		return p.apart(ctx, ks) // to see whose fault it is
	}
	diffs := make([]*Difference, len(ks))
	for i, k := range ks {
		diffs[i] = k.compare(&refs[i], &others[i])
	}
	return diffs, nil
}

// apart is differ for one kernel at a time.
func (p *Pair) apart(ctx context.Context, ks []*Kernel) ([]*Difference, error) {
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

// Runs is how often a kernel on which devices differ is run again, by itself.
const Runs = 4

// again counts in how many of Runs runs of a kernel there is a difference of a kind.
func (p *Pair) again(ctx context.Context, k *Kernel, kind string) (seen int, err error) {
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

// fatal is an error that is not about the kernels.
func fatal(err error) error {
	if err == nil || errors.As(err, new(*Refused)) {
		return nil
	}
	return err
}

// refusal compares what two devices say of a module.
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
