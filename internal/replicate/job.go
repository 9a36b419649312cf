package replicate

import (
	"context"

	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// Command is the name of the hidden command that serves jobs. Its only argument, if any, is
// the file of the jobs; without one they come on standard input.
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
	// Arguments are what the kernel and its baseline were given.
	Arguments lab.Arguments `json:"arguments,omitzero"`

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

// subject returns a kernel of the job with the arguments, nil for nil.
func (j *Job) subject(k *kernel.Kernel) (*lab.Subject, error) {
	if k == nil {
		return nil, nil
	}
	s, err := lab.NewSubject(k)
	if err != nil {
		return nil, err
	}
	return s, s.Give(j.Arguments)
}

// Run times the kernel, or launches it. The result is nil for a job that only launches.
// libraries are those that earlier jobs have started.
func (j *Job) Run(ctx context.Context, libraries *lab.Libraries) (*record.Performance, error) {
	s, err := j.subject(j.Kernel)
	if err != nil {
		return nil, err
	}
	baseline, err := j.subject(j.Baseline)
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
	times := &lab.Times{Shapes: j.Shapes, Methods: j.Methods, Rivals: j.Rivals, Libraries: libraries, Stop: j.Stop, Seed: j.Seed}
	return lab.Time(ctx, s, lab.Plan{Device: m.Device, Sensor: m.Sensor, Baseline: baseline, Times: times}, nil)
}
