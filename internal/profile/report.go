package profile

import (
	"context"
	"fmt"
	"os/exec"

	emucount "github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/ncu"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// Report is the JSON of attest profile.
type Report struct {
	Kernel    string           `json:"kernel"`
	Shape     string           `json:"shape"`
	Predicted *predict.Profile `json:"predicted"`
	NCU       *ncu.Profile     `json:"ncu"`
	NCUNote   string           `json:"ncu_note"` // why NCU is null, or ""
	Counts    *emucount.Counts `json:"counters"`

	subject *lab.Subject
	shape   problem.Named
}

// everyItem is a number of SMs that makes persistent kernels start one block per item of
// work. The model spreads the blocks over the SMs of a chip itself.
const everyItem = 1 << 20

// Of counts what a kernel does on the emulator and predicts its time on a chip.
func Of(ctx context.Context, s *lab.Subject, shape problem.Named, chip predict.Chip) (*Report, error) {
	counted, err := lab.Count(ctx, s, shape.Shape, everyItem)
	if err != nil {
		return nil, err
	}
	if n := len(counted.Launches); n != 1 {
		return nil, fmt.Errorf("%s has %d launches: a profile is of kernels with one", s.Name, n)
	}
	one := counted.Launches[0]
	work := predict.Work{Counts: one.Counts, Blocks: one.Launch.Grid.Norm().Count(), Bytes: counted.Bytes}
	return &Report{
		Kernel: s.Name, Shape: shape.Shape.String(), Predicted: predict.Of(work, chip), Counts: one.Counts,
		subject: s, shape: shape,
	}, nil
}

// Measure adds what Nsight Compute measures on a machine, or the reason why it does not. A
// user without the right to read counters still gets the prediction.
func (r *Report) Measure(ctx context.Context, m *machine.Machine) error {
	path, err := exec.LookPath("ncu")
	switch {
	case !m.GPU():
		r.NCUNote = "no GPU here"
		return nil
	case err != nil:
		r.NCUNote = "ncu is not on PATH"
		return nil
	}
	r.NCU, err = ncu.Run(ctx, path, m.Name, r.subject, r.shape.Shape)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.NCUNote = err.Error()
	}
	return nil
}
