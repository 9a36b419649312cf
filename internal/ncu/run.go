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
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/replicate"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// sections are the sections of ncu with the use of all pipes and memories, and with the stalls of warps.
var sections = []string{"SpeedOfLight", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis", "WarpStateStats"}

// Run profiles one launch of a kernel on a device, in a process of its own. path is the ncu
// program. It collects metrics besides those of the sections.
func Run(ctx context.Context, path, device string, s *lab.Subject, shape problem.Shape, metrics []string) (*Profile, error) {
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
		Device: device, Kernel: replicate.Contract(s), Shapes: []problem.Named{{Shape: shape}}, Launches: 2, Arguments: s.Given(),
	})
	if err != nil {
		return nil, err
	}
	// The job is a file, since ncu may not forward its standard input.
	file, log := filepath.Join(dir, "job.json"), filepath.Join(dir, "ncu.csv")
	if err := os.WriteFile(file, job, 0o600); err != nil {
		return nil, err
	}
	flags := arguments(s.Entries()[0], metrics)
	cmd := exec.CommandContext(ctx, path, slices.Concat(flags, []string{"--log-file", log, self, replicate.Command, file})...)
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
	if err != nil {
		return nil, err
	}
	p.Version, p.Flags = version(ctx, path), flags
	return p, nil
}

var versionLine = regexp.MustCompile(`(?m)^Version (\S+)`)

// version returns the version of ncu, or "".
func version(ctx context.Context, path string) string {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if v := versionLine.FindSubmatch(out); err == nil && v != nil {
		return string(v[1])
	}
	return ""
}

// arguments make ncu profile the second launch of an entry: the first warms up. The clock and the caches stay as they
// are: a prediction is for the clock at which the GPU runs and for warm caches, not for the base clock and cold ones.
func arguments(entry string, metrics []string) []string {
	args := []string{"--csv", "--page", "raw", "--clock-control", "none", "--cache-control", "none", "--launch-skip", "1", "--launch-count", "1", "--kernel-name", "regex:^" + regexp.QuoteMeta(entry) + "$"}
	for _, section := range sections {
		args = append(args, "--section", section)
	}
	if len(metrics) > 0 {
		args = append(args, "--metrics", strings.Join(metrics, ","))
	}
	return args
}

var metricName = regexp.MustCompile(`^[a-z0-9]+__[A-Za-z0-9_.:]+$`)

// CheckMetrics returns an error for a name that cannot be a metric of ncu.
func CheckMetrics(names []string) error {
	for _, name := range names {
		if !metricName.MatchString(name) {
			return fmt.Errorf("%q is not the name of a metric such as sm__cycles_elapsed.avg; ncu --query-metrics lists them", name)
		}
	}
	return nil
}
