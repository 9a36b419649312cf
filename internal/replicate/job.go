package replicate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// Command is the name of the hidden command that runs a job. Its only argument, if any, is
// the file of the job; without one the job comes on standard input.
const Command = "replicate"

// Job is the work of another process.
type Job struct {
	Device   string            `json:"device"` // as --device names it
	Kernel   *kernel.Kernel    `json:"kernel"`
	Baseline *kernel.Kernel    `json:"baseline,omitempty"`
	Shapes   []problem.Named   `json:"shapes"`
	Methods  []timing.Method   `json:"methods"`
	Rivals   []lab.RivalChoice `json:"rivals"`
	Stop     timing.Stop       `json:"stop"`
	Seed     uint64            `json:"seed"`

	// Plan, if not nil, is the whole measurement, and Shapes to Seed are not used.
	Plan *lab.Plan `json:"plan,omitempty"`
	// Launches, if not 0, is how often the kernel is launched on the first shape without
	// being timed. A profiler that watches slows every launch down, so times would be wrong.
	Launches int `json:"launches,omitempty"`
}

// Contract returns the kernel of a subject, nil for nil.
func Contract(s *lab.Subject) *kernel.Kernel {
	if s == nil {
		return nil
	}
	return s.Kernel
}

func subject(k *kernel.Kernel) (*lab.Subject, error) {
	if k == nil {
		return nil, nil
	}
	return lab.NewSubject(k)
}

// Read reads a job. what names its origin in errors.
func Read(in io.Reader, what string) (*Job, error) {
	var j Job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return nil, fmt.Errorf("%s does not hold a job that attest wrote: %w", what, err)
	}
	return &j, nil
}

// Run does the job. The result is nil for a job that only launches.
func (j *Job) Run(ctx context.Context) (*record.Performance, error) {
	s, err := subject(j.Kernel)
	if err != nil {
		return nil, err
	}
	baseline, err := subject(j.Baseline)
	if err != nil {
		return nil, err
	}
	m := &machine.Machine{Name: j.Device}
	if err := m.Open(); err != nil {
		return nil, err
	}
	defer m.Close()
	if j.Launches > 0 {
		return nil, lab.Launch(ctx, m.Device, s, j.Shapes[0].Shape, j.Launches)
	}
	times := &lab.Times{Shapes: j.Shapes, Methods: j.Methods, Rivals: j.Rivals, Stop: j.Stop, Seed: j.Seed}
	return lab.Time(ctx, s, lab.Plan{Device: m.Device, Sensor: m.Sensor, Baseline: baseline, Times: times}, nil)
}

// Elsewhere runs the job in another process of this program and returns its measurements.
func Elsewhere(ctx context.Context, j Job) (*record.Performance, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, Command)
	var told bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &told
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(told.String()))
	}
	var p record.Performance
	if err := json.Unmarshal(out, &p); err != nil {
		return nil, fmt.Errorf("the output of the other process: %w", err)
	}
	return &p, nil
}
