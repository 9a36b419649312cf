package campaign

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/replicate"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// Campaign says where kernels are measured, against which libraries, and in how many processes.
type Campaign struct {
	machine.Machine
	Against   []string // libraries: "torch", "torch:flash"
	Processes int

	libraries lab.Libraries  // the libraries that Against names, started once for all kernels
	others    replicate.Pool // the processes after the first
}

// Check returns an error for invalid values.
func (c *Campaign) Check() error {
	for _, a := range c.Against {
		library, _, _ := strings.Cut(a, ":")
		if near := term.Nearest(library, rival.Libraries); near != library {
			return fmt.Errorf("--against %s: the libraries are %s", a, strings.Join(rival.Libraries, ", "))
		}
	}
	if c.Processes < 0 || c.Processes > 100 {
		return fmt.Errorf("--processes %d: use 1 to 100", c.Processes)
	}
	return nil
}

// Close stops the libraries and closes the device.
func (c *Campaign) Close() {
	c.others.Close()
	c.libraries.Close()
	c.Machine.Close()
}

// rivals returns the libraries of --against.
func (c *Campaign) rivals() (list []lab.RivalChoice) {
	for _, a := range c.Against {
		library, implementation, _ := strings.Cut(a, ":")
		list = append(list, lab.RivalChoice{Library: library, Implementation: implementation})
	}
	return list
}

// times adds the rivals and the other processes to what is timed. Each process has its own
// seed, so that the candidates take turns in different orders.
func (c *Campaign) times(t lab.Times, s, baseline *lab.Subject) *lab.Times {
	t.Rivals, t.Libraries = c.rivals(), &c.libraries
	if c.Processes > 1 {
		t.Processes = c.Processes
		t.Elsewhere = func(ctx context.Context, process int) (*record.Performance, error) {
			return c.others.Time(ctx, process, replicate.Job{
				Device: c.Name, Kernel: replicate.Contract(s), Baseline: replicate.Contract(baseline),
				Shapes: t.Shapes, Methods: t.Methods, Rivals: t.Rivals, Stop: t.Stop, Seed: t.Seed + uint64(process), Arguments: s.Given(),
			})
		}
	}
	return &t
}

// drawSeed returns the seed of the inputs that no kernel can know: the given seed, the seed in the
// environment variable ATTEST_SEED, or a random one.
func drawSeed(given uint64) (uint64, error) {
	text := os.Getenv("ATTEST_SEED")
	switch {
	case given != 0:
		return given, nil
	case text == "":
		return lab.FreshSeed(), nil
	}
	seed, err := strconv.ParseUint(text, 0, 64)
	if err != nil || seed == 0 {
		return 0, fmt.Errorf("ATTEST_SEED is %q: it must be a whole number from 1 on", text)
	}
	return seed, nil
}

// build returns the version, the command line and the revision of this program. A binary
// without a revision asks git in the current folder.
func build(ctx context.Context) record.Build {
	v := version.This()
	b := record.Build{Attest: v.Version, Command: os.Args, Host: os.Getenv(cli.HostVariable), Git: record.Git{Commit: v.Revision, Dirty: v.Modified}}
	commit := git(ctx, "rev-parse", "HEAD")
	if v.Revision != "" {
		if commit == v.Revision { // the current folder is where attest was built
			b.Git.Branch = git(ctx, "rev-parse", "--abbrev-ref", "HEAD")
		}
		return b
	}
	if commit != "" {
		b.Git = record.Git{Commit: commit, Branch: git(ctx, "rev-parse", "--abbrev-ref", "HEAD"), Dirty: git(ctx, "status", "--porcelain") != ""}
	}
	return b
}

// git returns the output of git for the current folder, or "" without git or a repository.
func git(ctx context.Context, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
