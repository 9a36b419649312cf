package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/abi"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// replica is what another process is asked to time: the very texts, not their names.
type replica struct {
	Device   string            `json:"device"`
	Kernel   replicaKernel     `json:"kernel"`
	Baseline *replicaKernel    `json:"baseline,omitempty"`
	Shapes   []problem.Named   `json:"shapes"`
	Methods  []timing.Method   `json:"methods"`
	Rivals   []lab.RivalChoice `json:"rivals"`
	Stop     timing.Stop       `json:"stop"`
	Seed     uint64            `json:"seed"`

	// Launches, if not 0, is how often the kernel is launched on the first shape and
	// nothing timed: a profiler that watches makes every launch slow.
	Launches int `json:"launches,omitempty"`
}

type replicaKernel struct {
	Name string   `json:"name"`
	PTX  string   `json:"ptx"`
	ABI  *abi.ABI `json:"abi"`
}

func newReplicaKernel(s *lab.Subject) *replicaKernel {
	if s == nil {
		return nil
	}
	return &replicaKernel{s.Name, s.PTX, s.ABI}
}

func (k *replicaKernel) subject() (*lab.Subject, error) {
	if k == nil {
		return nil, nil
	}
	return lab.External(k.Name, k.PTX, k.ABI)
}

// replicateCommand times in a process of its own, for --processes. It is started by
// attest and by nobody else.
func replicateCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "replicate [FILE]", Hidden: true, Args: cobra.MaximumNArgs(1),
		Short: "Time a kernel for another process of attest, which says which on standard input or in a file",
		RunE: func(c *cobra.Command, args []string) error {
			in, what := env.In, "standard input"
			if len(args) > 0 {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in, what = f, args[0]
			}
			var r replica
			if err := json.NewDecoder(in).Decode(&r); err != nil {
				return fmt.Errorf("%s is not what attest gate --processes writes: %w", what, err)
			}
			p, err := r.measure(c.Context())
			if err == nil && p != nil {
				env.Encode(p)
			}
			return err
		},
	}
}

// measure times what was asked for, and nothing else.
func (r *replica) measure(ctx context.Context) (*record.Performance, error) {
	s, err := r.Kernel.subject()
	if err != nil {
		return nil, err
	}
	baseline, err := r.Baseline.subject()
	if err != nil {
		return nil, err
	}
	m := &campaign{device: r.Device}
	if err := m.open(); err != nil {
		return nil, err
	}
	defer m.close()
	if r.Launches > 0 {
		return nil, lab.Launch(ctx, m.dev, s, r.Shapes[0].Shape, r.Launches)
	}
	times := &lab.Times{Shapes: r.Shapes, Methods: r.Methods, Rivals: r.Rivals, Stop: r.Stop, Seed: r.Seed}
	return lab.Time(ctx, s, lab.Plan{Device: m.dev, Sensor: m.sensor, Baseline: baseline, Times: times}, nil)
}

// elsewhere has another process of this program time the same. Its seed is its own,
// so that candidates take their turns in another order.
func elsewhere(ctx context.Context, dev string, s, baseline *lab.Subject, t lab.Times, process int) (*record.Performance, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ask, err := json.Marshal(replica{
		Device: dev, Kernel: *newReplicaKernel(s), Baseline: newReplicaKernel(baseline),
		Shapes: t.Shapes, Methods: t.Methods, Rivals: t.Rivals, Stop: t.Stop, Seed: t.Seed + uint64(process),
	})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "replicate")
	var told bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(ask), &told
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(told.String()))
	}
	var p record.Performance
	if err := json.Unmarshal(out, &p); err != nil {
		return nil, fmt.Errorf("what it wrote: %w", err)
	}
	return &p, nil
}
