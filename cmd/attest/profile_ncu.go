package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// ncuProfile is what Nsight Compute measured: shares of the peak in per cent.
type ncuProfile struct {
	Micros     float64            `json:"us"`
	Tensor     float64            `json:"tensor"`
	Arithmetic float64            `json:"arithmetic"`
	Memory     float64            `json:"memory"`
	Metrics    map[string]float64 `json:"metrics"`
}

// ncuSections have the use of all pipes and memories, by whatever names the chip
// gives them.
var ncuSections = []string{"SpeedOfLight", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis"}

// runNCU profiles one launch of a kernel, in a process of its own.
func runNCU(ctx context.Context, path, dev string, s *lab.Subject, shape string) (*ncuProfile, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "attest-ncu-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "ncu.csv")
	args := []string{"--csv", "--page", "raw", "--launch-skip", "1", "--launch-count", "1", "--kernel-name", "regex:^" + regexp.QuoteMeta(s.ABI.Entry) + "$", "--log-file", log}
	for _, section := range ncuSections {
		args = append(args, "--section", section)
	}
	one, err := problem.ParseShape(shape)
	if err != nil {
		return nil, err
	}
	ask, err := json.Marshal(replica{
		Device: dev, Kernel: *newReplicaKernel(s), Shapes: []problem.Named{{Shape: one}}, Launches: 2,
	})
	if err != nil {
		return nil, err
	}
	// In a file, for ncu need not hand on its standard input.
	what := filepath.Join(dir, "ask.json")
	if err := os.WriteFile(what, ask, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, append(args, self, "replicate", what)...)
	var told bytes.Buffer
	cmd.Stderr = &told
	runErr := cmd.Run()
	text, err := os.ReadFile(log)
	if err != nil {
		return nil, fmt.Errorf("ncu: %w: %s", errors.Join(runErr, err), strings.TrimSpace(told.String()))
	}
	p, err := parseNCU(text)
	if said := strings.TrimSpace(told.String()); err != nil && said != "" {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return p, err
}

// Which metrics are what; the largest of a kind counts.
var (
	ncuTensor     = regexp.MustCompile(`pipe_tensor.*pct`)
	ncuArithmetic = regexp.MustCompile(`(pipe_(xu|alu|fma|fmaheavy|fp16)|issue_active|inst_issued).*pct`)
	ncuMemory     = regexp.MustCompile(`(dram__throughput|l1tex__data_(pipe|bank)|lts__t_sectors|memory_throughput).*pct`)
)

// parseNCU reads the raw page as CSV: names, units, and a row for the launch.
func parseNCU(text []byte) (*ncuProfile, error) {
	var table bytes.Buffer
	var said []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, `"`) {
			table.WriteString(line)
		} else if strings.Contains(line, "ERROR") {
			said = append(said, strings.Trim(strings.TrimSpace(line), "= "))
		}
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) < 3 {
		return nil, fmt.Errorf("ncu gave no table: %s", strings.Join(append(said, "no launch was profiled"), "; "))
	}
	p := &ncuProfile{Metrics: map[string]float64{}}
	names, units, row := rows[0], rows[1], rows[2]
	for i, name := range names {
		v, err := strconv.ParseFloat(strings.ReplaceAll(row[i], ",", ""), 64)
		if err != nil || !strings.Contains(name, "__") {
			continue
		}
		p.Metrics[name] = v
		switch {
		case name == "gpu__time_duration.sum":
			p.Micros = v * ncuMicros(units[i])
		case ncuTensor.MatchString(name):
			p.Tensor = max(p.Tensor, v)
		case ncuArithmetic.MatchString(name):
			p.Arithmetic = max(p.Arithmetic, v)
		case ncuMemory.MatchString(name):
			p.Memory = max(p.Memory, v)
		}
	}
	if p.Micros == 0 {
		return nil, errors.New("ncu gave no time")
	}
	return p, nil
}

// ncuMicros is a unit of time in microseconds.
func ncuMicros(unit string) float64 {
	switch unit {
	case "ns", "nsecond":
		return 1e-3
	case "ms", "msecond":
		return 1e3
	case "s", "second":
		return 1e6
	}
	return 1
}
