package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/gpus"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// campaign is what commands that measure share: where, and how often.
type campaign struct {
	device    string
	against   []string
	processes int

	dev       device.Device // nil is an emulator of each kernel's own target
	sensor    device.Sensor
	libraries lab.Libraries // of against, started once for all kernels
}

// register adds the flags.
func (m *campaign) register(c *cobra.Command, timed bool) {
	f := c.Flags()
	f.StringVar(&m.device, "device", "", "where to run: emu, emu:sm_90a …, cuda:0; a GPU if there is one when empty, else emu")
	complete(c, "device", "emu", "emu:sm_80", "emu:sm_86", "emu:sm_89", "emu:sm_90", "emu:sm_90a", "cuda:0")
	if !timed {
		return
	}
	f.StringSliceVar(&m.against, "against", nil, "libraries to time in the same run: torch, fa3, triton, jax; torch:flash names an implementation")
	f.IntVar(&m.processes, "processes", 1, "processes to time in: each is one replicate")
	complete(c, "against", rival.Libraries...)
}

func (m *campaign) misuse() error {
	for _, a := range m.against {
		library, _, _ := strings.Cut(a, ":")
		if near := term.Nearest(library, rival.Libraries); near != library {
			return fmt.Errorf("--against %s: there are %s", a, strings.Join(rival.Libraries, ", "))
		}
	}
	if m.processes < 0 || m.processes > 100 {
		return fmt.Errorf("--processes %d: 1 to 100 are possible", m.processes)
	}
	return nil
}

// open opens the device. The caller closes the campaign.
func (m *campaign) open() error {
	if m.device == "emu" {
		return nil
	}
	dev, err := device.Open(m.device)
	if err != nil {
		return fmt.Errorf("--device %s: %w", m.device, err)
	}
	info := dev.Info()
	if m.device == "" && info.Driver == "emu" {
		return dev.Close() // each kernel gets the emulator of its target
	}
	m.dev = dev
	if info.Driver != "emu" {
		m.sensor = gpus.Sensor(info.UUID)
	}
	return nil
}

func (m *campaign) close() {
	m.libraries.Close()
	if m.dev != nil {
		m.dev.Close()
	}
}

// fitting are the kernels that the device can run. Those that it cannot are an error,
// unless nobody named them.
func (m *campaign) fitting(subjects []*lab.Subject, leave bool) (list []*lab.Subject, err error) {
	for _, s := range subjects {
		switch {
		case m.dev == nil || m.dev.Info().Target.Runs(s.Target):
			list = append(list, s)
		case !leave:
			return nil, fmt.Errorf("%s is for %s, and %s is %s", s.Name, s.Target, m.dev.Info().Name, m.dev.Info().Target)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no kernel here is for %s", m.dev.Info().Target)
	}
	return list, nil
}

// gpu reports whether times say something here.
func (m *campaign) gpu() bool { return m.dev != nil && m.dev.Info().Driver != "emu" }

// where names what kernels run on.
func (m *campaign) where() string {
	if m.dev == nil {
		return "the emulator"
	}
	return m.dev.Info().Name
}

// rivals are the libraries of --against.
func (m *campaign) rivals() (list []lab.RivalChoice) {
	for _, a := range m.against {
		library, implementation, _ := strings.Cut(a, ":")
		list = append(list, lab.RivalChoice{Library: library, Implementation: implementation})
	}
	return list
}

// times completes what is timed of a subject: rivals, and other processes.
func (m *campaign) times(t lab.Times, s, baseline *lab.Subject) *lab.Times {
	t.Rivals, t.Libraries = m.rivals(), &m.libraries
	if m.processes > 1 {
		t.Processes = m.processes
		t.Elsewhere = func(ctx context.Context, process int) (*record.Performance, error) {
			return elsewhere(ctx, m.device, s, baseline, t, process)
		}
	}
	return &t
}

// planNames are the values of --plan, the shortest first.
var planNames = []string{"smoke", "quick", "full"}

// planOf is a plan by its name. Smoke is the least that still tells right from wrong:
// for the loop of editing and trying.
func planOf(name string) lab.Plan {
	switch name {
	case "full":
		return lab.Full()
	case "quick":
		return lab.Quick()
	}
	p := lab.Quick()
	p.Defects = lab.Defects{Shapes: []problem.Shape{problem.Square(1, 2, 33, 0)}, Schedules: []uint64{0, 1}}
	p.Cases = []lab.Case{
		{Shape: problem.Square(2, 3, 33, 0), Seed: 1, Distribution: "normal"},
		{Shape: problem.Square(1, 2, 100, 0), Seed: 2, Distribution: "one-hot"},
	}
	p.Counters = problem.Square(1, 1, 64, 0)
	return p
}

// methods are ways to time, warm before cold.
func methods(modes []timing.Mode, caches []timing.Cache) (list []timing.Method) {
	for _, mode := range modes {
		for _, cache := range caches {
			list = append(list, timing.Method{Mode: mode, Cache: cache})
		}
	}
	return list
}

// build says with what a campaign is run, as far as the command line knows.
func (m *campaign) build(ctx context.Context) record.Build {
	v := version.This()
	b := record.Build{Attest: v.Version, Command: os.Args, Git: record.Git{Commit: v.Revision, Dirty: v.Modified}}
	if v.Revision != "" {
		return b // what attest was built from, wherever it runs
	}
	if commit := git(ctx, "rev-parse", "HEAD"); commit != "" {
		b.Git = record.Git{Commit: commit, Branch: git(ctx, "rev-parse", "--abbrev-ref", "HEAD"), Dirty: git(ctx, "status", "--porcelain") != ""}
	}
	return b
}

// git is what git says of the current folder, "" without git or repository.
func git(ctx context.Context, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// steps shows the progress of several measurements, one after the other, as one.
type steps struct {
	*term.Progress
	start time.Time
	total int
	done  int
}

func startSteps(p *term.Progress, total int) *steps {
	return &steps{Progress: p, start: time.Now(), total: max(total, 1)}
}

// of tells how far the measurement of a kernel is.
func (s *steps) of(name string) func(lab.Progress) {
	return func(p lab.Progress) {
		s.show(p.Share)
		s.Say("%s: %s %s", name, p.Section, p.What)
	}
}

// next ends a measurement.
func (s *steps) next() {
	s.done++
	s.show(0)
}

func (s *steps) show(share float64) {
	all := (float64(s.done) + share) / float64(s.total)
	var left time.Duration
	if spent := time.Since(s.start); all > 0.02 && spent > time.Second {
		left = time.Duration(math.Round(float64(spent) * (1 - all) / all))
	}
	s.Share(all, left)
}
