package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// checkDistributions checks the flags of a comparison of errors.
func (x *Bench) checkDistributions() error {
	for _, d := range x.Distributions {
		if !slices.Contains(Distributions(), d) {
			return fmt.Errorf("--distribution %s: use %s", d, english.Or(Distributions()))
		}
	}
	switch {
	case len(x.Distributions) == 0:
		return nil
	case len(x.Against) == 0:
		return errors.New("--distribution compares errors with those of libraries: name one with --against fa3")
	case x.Sweep > 0 || x.Energy > 0 || x.Processes > 1:
		return errors.New("--distribution compares errors and times nothing: leave out --sweep, --energy and --processes")
	}
	return nil
}

// accuracy compares the errors of a kernel with those of the libraries.
func (x *Bench) accuracy(ctx context.Context, r *BenchResult, s *lab.Subject, on shapes.List, progress *Steps) (*BenchResult, error) {
	plan := lab.AccuracyPlan{Device: x.Device, Build: x.built, Seed: x.Seed, Shapes: on, Distributions: x.Distributions, Rivals: x.rivals(), Libraries: &x.libraries}
	rec, err := lab.Accuracy(ctx, s, plan, progress.Of(s.Name))
	if err != nil {
		return nil, err
	}
	r.Accuracy = rec.Accuracy
	for i := range rec.Accuracy.Cases {
		if c := &rec.Accuracy.Cases[i]; c.Kernel.Total.RMSE == math.MaxFloat64 {
			r.Wrong = append(r.Wrong, fmt.Sprintf("%v, %s: elements of the output are not finite", c.Shape, c.Distribution))
		}
	}
	r.Record, _, err = x.keep(rec, nil, s)
	return r, err
}

// printAccuracy prints the errors of the kernel and of the libraries, case by case.
func printAccuracy(env *cli.Env, a *record.Accuracy) {
	report.Deviations(a).WriteText(env, "  ", env.OutStyle())
	for _, n := range report.DeviationNotes(a) {
		fmt.Fprintf(env, "  %s\n", term.Clean(n))
	}
}
