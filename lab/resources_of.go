package lab

import (
	"context"

	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// ResourcesOf returns what a kernel uses on each target that can run it, and the threads and the
// dynamic shared memory of its launches on a shape. It runs nothing, so it has no occupancy of
// a driver and no budget.
func ResourcesOf(ctx context.Context, s *Subject, shape problem.Shape, targets []ptx.Target, ask resources.Asked) (*record.Resources, error) {
	r := &record.Resources{}
	for _, target := range targets {
		if !target.Runs(s.Target) {
			continue
		}
		report, err := resources.Of(ctx, s.Name, s.PTX, target, ask)
		if err != nil {
			return nil, err
		}
		if u := report.Usage(s.Entries()[0]); u != nil {
			r.Usage = append(r.Usage, *u)
		}
		if report.Output != "" {
			r.Ptxas = append(r.Ptxas, record.Assembly{Target: target.String(), Output: report.Output})
		}
	}
	return r, launchesOf(r, s, shape)
}

// launchesOf raises the threads and the dynamic shared memory of r to those of the kernel's
// launches on a shape.
func launchesOf(r *record.Resources, s *Subject, shape problem.Shape) error {
	plan, err := s.Bind(s.At(shape), kernel.Chip{}, kernel.Options{Values: anyScales})
	if err != nil {
		return err
	}
	for _, step := range plan.Steps {
		r.Dynamic = max(r.Dynamic, step.Shared)
		r.Threads = max(r.Threads, step.Block[0]*step.Block[1]*step.Block[2])
	}
	return nil
}
