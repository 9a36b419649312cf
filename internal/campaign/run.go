package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/profile"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// Once runs one kernel on one case. Its exported fields are the values of the flags of attest
// run.
type Once struct {
	Selection
	Campaign
	Shape        problem.Named
	Seed         uint64
	Distribution string
	Check        string // kinds of defects that the checkers look for: all, none or a list

	kinds []finding.Kind // the kinds of findings that Check names
	file  string         // of the kernel, "" for a kernel of attest
}

// rowsCompared is the number of rows of a large output that are compared with the reference.
const rowsCompared = 4096

// Run runs the named kernel. The error asks for exit code 1 when its output is wrong.
func (x *Once) Run(ctx context.Context, env *cli.Env, names []string) error {
	if !slices.Contains(Distributions(), x.Distribution) {
		return fmt.Errorf("--distribution %s: use %s", x.Distribution, english.Or(Distributions()))
	}
	var err error
	if x.kinds, err = cli.ParseKinds(x.Check); err != nil {
		return err
	}
	progress := env.StartProgress()
	defer progress.Stop()
	if err := x.Open(); err != nil {
		return err
	}
	defer x.Close()
	progress.Say("building the kernel")
	x.On(&x.Machine)
	s, err := x.Selection.OneFor(x.Shape, names)
	if err != nil {
		return err
	}
	if x.file = x.PTX; len(names) > 0 && x.isFile(names[0]) {
		x.file = names[0]
	}
	if err := s.ServesShape(x.Shape.Shape); err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if _, err := x.Fitting([]*lab.Subject{s}, false); err != nil {
		return err
	}
	r, err := x.measure(ctx, s, StartSteps(progress, 1))
	if err != nil {
		return err
	}
	progress.Print(func() { r.Show(env) })
	if len(r.Wrong) > 0 {
		return cli.Exit(cli.Red)
	}
	return nil
}

func (x *Once) measure(ctx context.Context, s *lab.Subject, progress *Steps) (*RunResult, error) {
	shape := x.Shape
	p := lab.Plan{
		Device: x.Device, Sensor: x.Sensor, KeepGoing: true, Rows: rowsCompared,
		Cases: []lab.Case{{Shape: shape.Shape, Name: shape.Name, Seed: x.Seed, Distribution: x.Distribution, Own: true}},
	}
	if len(x.kinds) > 0 {
		p.Defects = lab.Defects{Shapes: []problem.Shape{shape.Shape}, Schedules: checkedSchedules, Own: true}
	}
	rec, err := lab.Measure(ctx, s, p, progress.Of(s.Name))
	if err != nil {
		return nil, err
	}
	if rec.Correctness == nil || len(rec.Correctness.Cases) != 1 {
		return nil, errors.New("the case was not run")
	}
	r := &RunResult{Kernel: rec.Kernel, Shape: shape.Shape.String(), Device: rec.Build.Device.Name, Case: &rec.Correctness.Cases[0]}
	r.Defects = x.chosen(rec.Defects)
	r.file, r.ptx = cmp.Or(x.file, s.Name+".ptx"), s.PTX
	r.Wrong = wrongWith(r)
	switch {
	case len(r.Wrong) > 0: // a wrong kernel is not timed
	case x.GPU():
		p.Times = &lab.Times{Shapes: []problem.Named{shape}, Methods: bothModes(timing.Warm), Seed: x.Seed}
		r.Performance, err = lab.Time(ctx, s, p, progress.Of(s.Name))
	default:
		progress.Say("%s, %v: simulating", s.Name, shape.Shape)
		var counted *profile.Report
		if counted, err = profile.Of(ctx, s, shape, chips.For(s.Target, nil), profile.Options{}); err == nil {
			r.Predicted = counted.Predicted
		}
	}
	return r, err
}

// checkedSchedules are the orders of warps that the checkers watch: the natural one and
// another.
var checkedSchedules = []uint64{0, 1}

// chosen returns the defects of the kinds that --check names, together with everything that
// needs no checker, such as a fault. It returns nil when no checker ran.
func (x *Once) chosen(d *record.Defects) *record.Defects {
	if d == nil {
		return nil
	}
	c := *d
	c.Found = slices.DeleteFunc(slices.Clone(d.Found), func(f record.Found) bool {
		return slices.Contains(check.Kinds(), f.Kind) && !slices.Contains(x.kinds, f.Kind)
	})
	c.Errors, c.Warnings = finding.Count(c.Findings())
	return &c
}

// wrongWith returns what the correctness gate would find wrong with the one case.
func wrongWith(r *RunResult) []string {
	c := r.Case
	why := []string{}
	if d := r.Defects; d != nil && d.Errors > 0 {
		why = append(why, "the checkers found "+english.Count(d.Errors, "error"))
	}
	if d := r.Defects; d != nil && d.Wrong != "" {
		why = append(why, d.Wrong)
	}
	if d := r.Defects; d != nil && d.Depends && r.Kernel.Deterministic() {
		why = append(why, "the output depends on the order in which warps run, or on the SM, the clock or the number of the launch")
	}
	if c.Failure != "" {
		return append(why, c.Failure)
	}
	why = append(why, gate.MemoryFaults(c)...)
	return append(why, gate.Within(gate.Tolerance, r.Kernel.Computes(), c)...)
}

// RunResult is the JSON of attest run.
type RunResult struct {
	Kernel      record.Kernel       `json:"kernel"`
	Shape       string              `json:"shape"`
	Device      string              `json:"device"`
	Case        *record.Case        `json:"case"`
	Wrong       []string            `json:"wrong"`
	Defects     *record.Defects     `json:"defects"` // nil without --check
	Performance *record.Performance `json:"performance"`
	Predicted   *predict.Profile    `json:"predicted"`

	file, ptx string // the kernel, for excerpts
}
