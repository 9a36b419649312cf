package profile

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	emucount "github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/chips"
	here "github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/ncu"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/timeline"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// Report is the JSON of attest profile.
type Report struct {
	Kernel    string           `json:"kernel"`
	Shape     string           `json:"shape"`
	Predicted *predict.Profile `json:"predicted"` // the sum over all launches
	Launches  []Launch         `json:"launches"`  // the launches in stream order
	// Occupancy is how many blocks fit on an SM of each known chip that the kernel runs on.
	Occupancy []report.ChipFit `json:"occupancy"`
	// Stalls is where the time of warps goes, for kernels of one launch.
	Stalls  []Stall      `json:"stalls"`
	NCU     *ncu.Profile `json:"ncu"`
	NCUNote string       `json:"ncu_note"` // why NCU is null, or ""
	Hash    string       `json:"record"`   // of the record that keeps NCU, or ""

	subject   *lab.Subject
	shape     problem.Named
	resources *record.Resources
	asked     []string // the metrics of ncu that the user asked for
}

// Launch is one launch of a kernel.
type Launch struct {
	Entry     string           `json:"entry"`
	Predicted *predict.Profile `json:"predicted"`
	Counts    *emucount.Counts `json:"counters"`
}

// Options say what else a report contains.
type Options struct {
	Counters bool               // count what the whole grid does, which takes longer
	Timeline *timeline.Timeline // receives the replay of the first launch; may be nil
	Cold     bool               // predict a run whose operands are in no cache
}

// Of predicts the time of a kernel on a chip from a run of a few of its clusters on the emulator.
func Of(ctx context.Context, s *lab.Subject, shape problem.Named, chip chips.Chip, o Options) (*Report, error) {
	works, err := Works(ctx, s, shape, chip)
	if err != nil {
		return nil, err
	}
	r := &Report{Kernel: s.Name, Shape: shape.Shape.String(), Occupancy: []report.ChipFit{}, subject: s, shape: shape}
	var counted *lab.Counted
	if o.Counters {
		if counted, err = lab.Count(ctx, s, shape.Shape, 0); err != nil {
			return nil, err
		}
	}
	r.predict(works, chip, o, counted)
	return r, nil
}

// predict adds the predictions of all launches. counted may be nil.
func (r *Report) predict(works []predict.Work, chip chips.Chip, o Options, counted *lab.Counted) {
	var parts []*predict.Profile
	var entries []string
	for i, work := range works {
		work.Cold = o.Cold
		if l := o.Timeline; i == 0 && l != nil {
			l.Chip, l.MHz, l.Program = chip.String(), float64(chip.MHz), work.Trace.Program
			work.Watch = l
		}
		one := Launch{Entry: work.Trace.Kernel, Predicted: predict.Of(work, chip)}
		if counted != nil && i < len(counted.Launches) {
			one.Counts = counted.Launches[i].Counts
		}
		r.Launches = append(r.Launches, one)
		parts, entries = append(parts, one.Predicted), append(entries, one.Entry)
	}
	r.Predicted = predict.Sum(parts, entries)
	if len(r.Launches) == 1 {
		r.Stalls = stalls(r.Predicted, nil)
	}
}

// Works runs a few clusters of each launch of a kernel on the emulator, and returns the launches for
// predictions on a chip, in stream order.
func Works(ctx context.Context, s *lab.Subject, shape problem.Named, chip chips.Chip) (list []predict.Work, err error) {
	traced, err := lab.Trace(ctx, s, shape.Shape, chip.SMs, warptrace.Spread(samples(shape.Shape)))
	if err != nil {
		return nil, err
	}
	for _, t := range traced.Launches {
		w := predict.Work{Trace: t, Bytes: traced.Bytes / int64(len(traced.Launches)), Workspaces: traced.Workspaces}
		if err := w.Runs(chip); err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// samples returns how many clusters are recorded: several, because the blocks of a causal problem
// and the last blocks of a row differ, but fewer if the problem is large.
func samples(s problem.Shape) int {
	const most, budget = 8, 40e6 // budget is in products of a query and a key
	work := float64(s.B) * float64(s.Hq) * float64(s.Sq) * float64(s.Skv)
	return max(1, min(most, int(most*budget/max(work, 1))))
}

// Measure adds what Nsight Compute measures on a machine, or the reason why it does not. A
// user without the right to read counters still gets the prediction. metrics are collected
// besides the usual ones, and ncu must give all of them.
func (r *Report) Measure(ctx context.Context, m *here.Machine, metrics []string) error {
	r.asked = metrics
	path, err := exec.LookPath("ncu")
	switch {
	case !m.GPU():
		r.NCUNote = "no GPU here"
		return nil
	case err != nil:
		r.NCUNote = "ncu is not on PATH"
		return nil
	case len(r.Launches) > 1:
		r.NCUNote = fmt.Sprintf("Nsight Compute is used for kernels with one launch, and %s has %d", r.Kernel, len(r.Launches))
		return nil
	}
	r.NCU, err = ncu.Run(ctx, path, m.Name, r.subject, r.shape.Shape, metrics)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.NCUNote = err.Error()
		return nil
	}
	r.Stalls = stalls(r.Predicted, r.NCU)
	if missing := r.NCU.Missing(metrics); len(missing) > 0 {
		return fmt.Errorf("--metrics: ncu gave no %s; ncu --query-metrics lists what this GPU has", strings.Join(missing, ", "))
	}
	return nil
}

// Record returns what Nsight Compute measured as a section of a record, or why there is none.
func (r *Report) Record() (*record.Profile, error) {
	if r.NCU == nil {
		return nil, fmt.Errorf("--evidence keeps what Nsight Compute measures, and it measured nothing: %s", r.NCUNote)
	}
	return &record.Profile{
		Shape: r.shape.Shape, Name: r.shape.Name, Tool: strings.TrimSpace("ncu " + r.NCU.Version), Flags: r.NCU.Flags, Asked: r.asked,
		Micros: r.NCU.Micros, Metrics: r.NCU.Metrics, Units: r.NCU.Units, Raw: r.NCU.Raw,
	}, nil
}
