package campaign

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/profile"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// Compare measures two kernels. Its exported fields are the values of the flags of attest
// compare.
type Compare struct {
	Selection
	Campaign
	Shape problem.Named
}

// CompareResult is the JSON of attest compare.
type CompareResult struct {
	A          *record.Record     `json:"a"`
	B          *record.Record     `json:"b"`
	Difference *report.Difference `json:"difference"`
	Predicted  *PredictedPair     `json:"predicted"` // nil if the times were measured
}

// PredictedPair holds the predicted times of two kernels, and where their difference arises.
type PredictedPair struct {
	A          *predict.Profile    `json:"a"`
	B          *predict.Profile    `json:"b"`
	Difference *predict.Difference `json:"difference"`
}

// Run measures the two named kernels. The error asks for exit code 1 when one is wrong.
func (x *Compare) Run(ctx context.Context, env *cli.Env, names []string) error {
	if err := errors.Join(x.Selection.Check(), x.Campaign.Check()); err != nil {
		return err
	}
	progress := env.StartProgress()
	defer progress.Stop()
	if err := x.Open(); err != nil {
		return err
	}
	defer x.Close()
	progress.Say("building the kernels")
	x.On(&x.Machine)
	chosen := x.For(x.Shape)
	subjects, err := chosen.Subjects(names)
	if err != nil {
		return err
	}
	if len(subjects) != 2 {
		return fmt.Errorf("%s given, want two kernels or two hashes of the evidence; see attest compare --help", english.Are(len(subjects), "kernel"))
	}
	if _, err := x.Fitting(subjects, false); err != nil {
		return err
	}
	r, err := x.measure(ctx, subjects[0], subjects[1], StartSteps(progress, 2))
	if err != nil {
		return err
	}
	progress.Print(func() { r.Show(env) })
	for _, rec := range []*record.Record{r.A, r.B} {
		if v := gate.Judge(rec); !v.OK() {
			return cli.Exit(cli.Red)
		}
	}
	return nil
}

// measure measures A alone and B against A.
func (x *Compare) measure(ctx context.Context, a, b *lab.Subject, progress *Steps) (*CompareResult, error) {
	r := &CompareResult{}
	p := Plan("smoke")
	p.Device, p.Sensor, p.KeepGoing = x.Device, x.Sensor, true
	p.Defects, p.References, p.Counters = lab.Defects{}, &lab.References{}, x.Shape.Shape
	var err error
	if p.Seed, err = drawSeed(0); err != nil { // the same inputs for both, so that their errors can be compared
		return nil, err
	}
	if r.A, err = lab.Measure(ctx, a, p, progress.Of(a.Name)); err != nil {
		return nil, err
	}
	progress.Next()
	p.Baseline = a
	if x.GPU() {
		p.Times = x.times(lab.Times{Shapes: []problem.Named{x.Shape}, Methods: bothModes(timing.Warm, timing.Cold)}, b, a)
	}
	if r.B, err = lab.Measure(ctx, b, p, progress.Of(b.Name)); err != nil {
		return nil, err
	}
	progress.Next()
	r.Difference = report.Diff(&evidence.Item{Hash: a.Name, Record: r.A}, &evidence.Item{Hash: b.Name, Record: r.B})
	if x.GPU() {
		return r, nil
	}
	r.Predicted = &PredictedPair{}
	for _, one := range []struct {
		s  *lab.Subject
		to **predict.Profile
	}{{a, &r.Predicted.A}, {b, &r.Predicted.B}} {
		progress.Say("%s, %v: simulating", one.s.Name, x.Shape.Shape)
		simulated, err := profile.Of(ctx, one.s, x.Shape, chips.For(one.s.Target, nil), profile.Options{})
		if err != nil {
			return nil, err
		}
		*one.to = simulated.Predicted
	}
	r.Predicted.Difference = predict.Compare(r.Predicted.A, r.Predicted.B)
	return r, nil
}
