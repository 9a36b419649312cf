package ncu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/replicate"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// sections are the sections of ncu with the use of all pipes and memories.
var sections = []string{"SpeedOfLight", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis"}

// Run profiles one launch of a kernel on a device, in a process of its own. path is the ncu
// program.
func Run(ctx context.Context, path, device string, s *lab.Subject, shape problem.Shape) (*Profile, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "attest-ncu-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	job, err := json.Marshal(replicate.Job{
		Device: device, Kernel: replicate.Contract(s), Shapes: []problem.Named{{Shape: shape}}, Launches: 2,
	})
	if err != nil {
		return nil, err
	}
	// The job is a file, since ncu may not forward its standard input.
	file, log := filepath.Join(dir, "job.json"), filepath.Join(dir, "ncu.csv")
	if err := os.WriteFile(file, job, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, append(arguments(s.Entries()[0], log), self, replicate.Command, file)...)
	var told bytes.Buffer
	cmd.Stderr = &told
	runErr := cmd.Run()
	text, err := os.ReadFile(log)
	if err != nil {
		return nil, fmt.Errorf("ncu: %w: %s", errors.Join(runErr, err), strings.TrimSpace(told.String()))
	}
	p, err := Parse(text)
	if said := strings.TrimSpace(told.String()); err != nil && said != "" {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return p, err
}

// arguments make ncu profile the second launch of an entry: the first warms up.
func arguments(entry, log string) []string {
	args := []string{"--csv", "--page", "raw", "--launch-skip", "1", "--launch-count", "1", "--kernel-name", "regex:^" + regexp.QuoteMeta(entry) + "$", "--log-file", log}
	for _, section := range sections {
		args = append(args, "--section", section)
	}
	return args
}
