package profile

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	emucount "github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/ncu"
	"github.com/GOATnote-Inc/attest/internal/predict"
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
	Launches  []Launch         `json:"launches"`  // in stream order
	// Occupancy is how many blocks fit on an SM of each known chip that the kernel runs on.
	Occupancy []report.ChipFit `json:"occupancy"`
	NCU       *ncu.Profile     `json:"ncu"`
	NCUNote   string           `json:"ncu_note"` // why NCU is null, or ""
	Hash      string           `json:"record"`   // of the record that keeps NCU, or ""

	subject   *lab.Subject
	shape     problem.Named
	resources *record.Resources
	asked     []string // metrics of ncu
}

// Launch is one launch of a kernel.
type Launch struct {
	Entry     string           `json:"entry"`
	Predicted *predict.Profile `json:"predicted"`
	Counts    *emucount.Counts `json:"counters"`
}

// everyItem is a number of SMs that makes persistent kernels start one block per item of
// work. The model spreads the blocks over the SMs of a chip itself.
const everyItem = 1 << 20

// Of counts what a kernel does on the emulator and predicts its time on a chip.
func Of(ctx context.Context, s *lab.Subject, shape problem.Named, chip chips.Chip) (*Report, error) {
	counted, err := lab.Count(ctx, s, shape.Shape, everyItem)
	if err != nil {
		return nil, err
	}
	r := &Report{Kernel: s.Name, Shape: shape.Shape.String(), Occupancy: []report.ChipFit{}, subject: s, shape: shape}
	var parts []*predict.Profile
	var entries []string
	for i, l := range counted.Launches {
		work := predict.Work{Counts: l.Counts, Blocks: l.Launch.Grid.Norm().Count(), Bytes: bytesOf(counted, i)}
		one := Launch{Entry: l.Counts.Kernel, Predicted: predict.Of(work, chip), Counts: l.Counts}
		r.Launches = append(r.Launches, one)
		parts, entries = append(parts, one.Predicted), append(entries, one.Entry)
	}
	r.Predicted = predict.Sum(parts, entries)
	return r, nil
}

// bytesOf returns the bytes that a launch moves between DRAM and the chip: its share of all
// operands, by the traffic of global memory.
func bytesOf(c *lab.Counted, launch int) int64 {
	var all, own uint64
	for i, l := range c.Launches {
		for _, b := range l.Counts.Bytes {
			if b.Space != "global" {
				continue
			}
			all += b.Bytes
			if i == launch {
				own += b.Bytes
			}
		}
	}
	if len(c.Launches) == 1 || all == 0 {
		return c.Bytes
	}
	return int64(float64(c.Bytes) * float64(own) / float64(all))
}

// Measure adds what Nsight Compute measures on a machine, or the reason why it does not. A
// user without the right to read counters still gets the prediction. metrics are collected
// besides the usual ones, and ncu must give all of them.
func (r *Report) Measure(ctx context.Context, m *machine.Machine, metrics []string) error {
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
