package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
)

// SplitFiles is the JSON of attest evidence show --split.
type SplitFiles struct {
	Record string   `json:"record"` // the hash
	Files  []string `json:"files"`
}

// split writes a record as build_meta.json, correctness_summary.json and perf_baseline.json.
// It replaces no file.
func (a *Archive) split(item *evidence.Item, dir string) error {
	out := SplitFiles{Record: item.Hash}
	var files []atomicfile.File
	for _, part := range []struct {
		name    string
		content any
	}{
		{"build_meta.json", newBuildMeta(item)}, {"correctness_summary.json", newCorrectnessSummary(item)}, {"perf_baseline.json", newPerfBaseline(item)},
	} {
		text, err := json.MarshalIndent(part.content, "", "  ")
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		path := filepath.Join(dir, part.name)
		files, out.Files = append(files, atomicfile.File{Path: path, Data: append(text, '\n')}), append(out.Files, path)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--split: %w", err)
	}
	for _, path := range out.Files { // before any file is written
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("--split: %s exists; remove it or name another folder", path)
		}
	}
	if err := atomicfile.CreateAll(files...); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--split: another process wrote one of the files: %w", err)
	} else if err != nil {
		return fmt.Errorf("--split: %w", err)
	}
	if a.Env.JSON {
		a.Env.Encode(out)
		return nil
	}
	for _, path := range out.Files {
		fmt.Fprintln(a.Env, term.Clean(path))
	}
	return nil
}

// buildMeta is build_meta.json: what was built, from which sources, on which machine.
type buildMeta struct {
	Record    string            `json:"record"`
	Kernel    string            `json:"kernel"`
	Entry     string            `json:"entry"`
	SHA256    string            `json:"sha256"` // the SHA-256 of the PTX
	Identity  string            `json:"identity"`
	Toggles   map[string]string `json:"toggles"`
	Arch      string            `json:"arch"`
	Format    string            `json:"format"`
	Output    string            `json:"output"`
	Flags     []string          `json:"flags"` // the command line
	Git       gitMeta           `json:"git"`
	Device    string            `json:"device"`
	Host      string            `json:"host,omitempty"` // the machine that --on named
	Driver    string            `json:"driver"`
	CUDA      string            `json:"cuda_version"` // of ptxas, or ""
	Attest    string            `json:"attest"`
	Go        string            `json:"go"`
	OS        string            `json:"os"`
	Time      time.Time         `json:"timestamp"`
	Resources []resourceMeta    `json:"resources"`
	Ptxas     []record.Assembly `json:"ptxas"` // what ptxas -v wrote
}

type gitMeta struct {
	SHA    string `json:"sha"`
	Branch string `json:"branch"`
	Dirty  bool   `json:"dirty"`
}

// resourceMeta is what the kernel uses on a target.
type resourceMeta struct {
	Target    string `json:"target"`
	Registers int    `json:"registers"`
	Shared    int    `json:"shared_bytes"` // static and dynamic
	Spills    int    `json:"spill_bytes"`  // stores and loads
	Source    string `json:"source"`       // "ptxas", "jit" or "estimate"
}

func newBuildMeta(item *evidence.Item) buildMeta {
	k, b := &item.Kernel, &item.Build
	m := buildMeta{
		Record: item.Hash, Kernel: k.Name, Entry: k.Entry, SHA256: k.SHA256, Identity: k.Identity, Toggles: k.Config, Arch: k.Target,
		Format: k.Format, Output: k.Output, Flags: b.Command, Git: gitMeta{b.Git.Commit, b.Git.Branch, b.Git.Dirty},
		Device: b.Device.Name, Host: b.Host, Driver: b.Driver, CUDA: b.Ptxas, Attest: b.Attest, Go: b.Go, OS: b.OS, Time: b.Time,
		Resources: []resourceMeta{}, Ptxas: []record.Assembly{},
	}
	if r := item.Resources; r != nil {
		for i := range r.Usage {
			u := &r.Usage[i]
			m.Resources = append(m.Resources, resourceMeta{u.Target, u.Registers.Value, u.Shared.Value + r.Dynamic, u.SpillStores.Value + u.SpillLoads.Value, string(u.Registers.Source)})
		}
		m.Ptxas = append(m.Ptxas, r.Ptxas...)
	}
	return m
}

// correctnessSummary is correctness_summary.json: the errors of every case.
type correctnessSummary struct {
	Record    string           `json:"record"`
	Kernel    string           `json:"kernel"`
	Skipped   string           `json:"skipped,omitempty"` // why there are no cases
	Passed    int              `json:"passed"`
	Total     int              `json:"total"`
	AllPassed bool             `json:"all_passed"`
	Tolerance record.Tolerance `json:"tolerance"`
	Cases     []caseSummary    `json:"cases"`
}

type caseSummary struct {
	Shape        string    `json:"shape"` // B,H,S,D
	Name         string    `json:"name,omitempty"`
	Seed         uint64    `json:"seed"`
	Distribution string    `json:"distribution"`
	MaxAbsErr    ref.Float `json:"max_abs_err"`
	MeanAbsErr   ref.Float `json:"mean_abs_err"`
	BadPercent   ref.Float `json:"pct_bad"` // elements whose error is above the tolerance
	Passed       bool      `json:"passed"`
	Reasons      []string  `json:"reasons,omitempty"`
	Cause        string    `json:"likely_cause,omitempty"`
}

func newCorrectnessSummary(item *evidence.Item) correctnessSummary {
	s := correctnessSummary{Record: item.Hash, Kernel: item.Kernel.Name, Cases: []caseSummary{}}
	c := item.Correctness
	if c == nil {
		s.Skipped = "the record has no correctness section"
		return s
	}
	s.Total, s.Tolerance = len(c.Cases), c.Tolerance
	for i := range c.Cases {
		one := &c.Cases[i]
		reasons := gate.Wrong(c.Tolerance, item.Kernel.Computes(), one)
		x := caseSummary{
			Shape: one.Shape.String(), Name: one.Name, Seed: one.Seed, Distribution: one.Distribution,
			Passed: len(reasons) == 0, Reasons: reasons, Cause: one.Cause,
		}
		if e := one.Errors; e != nil {
			x.MaxAbsErr, x.MeanAbsErr, x.BadPercent = ref.Float(e.Max), ref.Float(e.Mean), ref.Float(100*e.BadShare)
		}
		if x.Passed {
			s.Passed++
		}
		s.Cases = append(s.Cases, x)
	}
	s.AllPassed = s.Passed == s.Total && s.Total > 0
	return s
}

// perfBaseline is perf_baseline.json: the times of every shape, in microseconds.
type perfBaseline struct {
	Record  string     `json:"record"`
	Kernel  string     `json:"kernel"`
	Device  string     `json:"device"`
	Skipped string     `json:"skipped,omitempty"` // why there are no times
	Shapes  []perfTime `json:"shapes"`
}

type perfTime struct {
	Shape    string        `json:"shape"`
	Name     string        `json:"name,omitempty"`
	Mode     string        `json:"mode"`  // "graph" or "event"
	Cache    string        `json:"cache"` // "warm" or "cold"
	Samples  int           `json:"samples"`
	P50      float64       `json:"p50_us"`
	P90      float64       `json:"p90_us"`
	Mean     float64       `json:"mean_us"`
	Std      float64       `json:"std_us"`
	Min      float64       `json:"min_us"`
	Max      float64       `json:"max_us"`
	CV       float64       `json:"cv"`
	Baseline *perfRelative `json:"baseline,omitempty"`
}

// perfRelative compares the kernel with its baseline in the same run.
type perfRelative struct {
	Name    string  `json:"name"`
	P50     float64 `json:"p50_us"`
	Speedup float64 `json:"speedup"` // above 1 the kernel is faster
	Low     float64 `json:"speedup_low"`
	High    float64 `json:"speedup_high"`
}

func newPerfBaseline(item *evidence.Item) perfBaseline {
	b := perfBaseline{Record: item.Hash, Kernel: item.Kernel.Name, Device: item.Build.Device.Name, Shapes: []perfTime{}}
	p := item.Performance
	switch {
	case p == nil:
		b.Skipped = "the record has no performance section"
		return b
	case p.Skipped != "":
		b.Skipped = p.Skipped
	}
	for i := range p.Shapes {
		t := &p.Shapes[i]
		if len(t.Summaries) == 0 {
			continue
		}
		x := perfTime{Shape: t.Shape.String(), Name: t.Name, Mode: string(t.Method.Mode), Cache: string(t.Method.Cache)}
		x.fill(&t.Summaries[0])
		if t.Baseline != nil && len(t.Summaries) > 1 {
			x.Baseline = &perfRelative{t.Names[1], t.Summaries[1].P50, 1 / t.Baseline.Ratio, 1 / t.Baseline.Interval.High, 1 / t.Baseline.Interval.Low}
		}
		b.Shapes = append(b.Shapes, x)
	}
	return b
}

func (x *perfTime) fill(s *stats.Summary) {
	x.Samples, x.P50, x.P90, x.Mean, x.Std, x.Min, x.Max, x.CV = s.N, s.P50, s.P90, s.Mean, s.Std, s.Min, s.Max, s.CV
}
