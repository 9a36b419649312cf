package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// onPath makes a PATH of scripts, by their names.
func onPath(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("ATTEST_PYTHON", "")
}

func examine(t *testing.T, m Machine) *Report {
	t.Helper()
	r, err := Examine(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) lacks(what string) bool {
	return slices.ContainsFunc(r.Lacks, func(l Lack) bool { return l.What == what && l.Cost != "" })
}

func TestNothing(t *testing.T) {
	onPath(t, nil)
	r := examine(t, Machine{Emulator: []string{"sm_80", "sm_90a"}})
	for _, what := range []string{"GPU", "ptxas", "cuobjdump", "nvdisasm", "ncu", "compute-sanitizer", "python"} {
		if !r.lacks(what) {
			t.Errorf("the lack of %s is not told: %v", what, r.Lacks)
		}
	}
	var b strings.Builder
	r.WriteText(&b, term.Style{})
	for _, want := range []string{"emulator  sm_80, sm_90a\n", "GPU       none: this build cannot", "ptxas              -\n", "Missing tools and what you lose without them:\n", "  ncu                no hardware counters"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestTools(t *testing.T) {
	onPath(t, map[string]string{
		"ptxas":             `echo "ptxas: NVIDIA (R) Ptx optimizing assembler"; echo "Cuda compilation tools, release 12.4, V12.4.131"`,
		"ncu":               `echo "NVIDIA (R) Nsight Compute Command Line Profiler"; echo "Version 2025.3.1.0 (build 36398880) (public-release)"`,
		"compute-sanitizer": `echo "cannot open shared object" >&2; exit 127`,
		"cuobjdump":         `echo no idea`,
		"nvcc":              `exec /bin/sleep 60`,
		"python3":           `echo '{"version": "3.12.3", "modules": [{"name": "torch", "version": "2.11.0"}, {"name": "triton", "version": ""}]}'`,
	})
	start := time.Now()
	r := examine(t, Machine{})
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("a tool that hangs held everything up for %v", d)
	}
	tool := func(name string) Tool {
		return r.Tools[slices.IndexFunc(tools, func(t tool) bool { return t.name == name })]
	}
	if got := tool("ptxas").Version; got != "12.4.131" {
		t.Errorf("ptxas %q", got)
	}
	if got := tool("ncu").Version; got != "2025.3.1.0" {
		t.Errorf("ncu %q", got)
	}
	for name, want := range map[string]string{"compute-sanitizer": "cannot open shared object", "cuobjdump": "does not print", "nvcc": "no answer within 2s"} {
		if got := tool(name); got.Version != "" || !strings.Contains(got.Note, want) || r.lacks(name) {
			t.Errorf("%s: %+v, want a note with %q", name, got, want)
		}
	}
	if r.Python.Version != "3.12.3" || len(r.Python.Modules) != 2 || r.lacks("torch") || !r.lacks("triton") || !r.lacks("nvdisasm") {
		t.Errorf("%+v, %v", r.Python, r.Lacks)
	}
}

func TestBrokenPython(t *testing.T) {
	onPath(t, map[string]string{"python3": `echo "no module named importlib.metadata" >&2; exit 1`})
	r := examine(t, Machine{})
	if !strings.Contains(r.Python.Note, "no module named") || !r.lacks("torch") || !r.lacks("jax") || r.lacks("python") {
		t.Errorf("%+v, %v", r.Python, r.Lacks)
	}
}

// TestRealPython: the probe itself runs.
func TestRealPython(t *testing.T) {
	p := probePython(t.Context())
	if p.Path == "" {
		t.Skip(p.Note)
	}
	if p.Note != "" || !strings.HasPrefix(p.Version, "3.") || len(p.Modules) != len(rival.Libraries) {
		t.Errorf("%+v", p)
	}
}

func TestGPUs(t *testing.T) {
	onPath(t, nil)
	state := device.State{SMClock: 345, Power: 75.2, Temperature: 31, Performance: "P0", Throttle: device.ThrottleIdle | device.ThrottlePowerCap, Processes: 1}
	card := GPU{Name: "NVIDIA H200", Target: "sm_90a", SMs: 132, Memory: 140 << 30, L2: 60 << 20, CUDA: "CUDA 13.0", Driver: "580.1", MaxSMClock: 1980, PowerLimit: 700, State: &state}
	r := examine(t, Machine{GPUs: func() ([]GPU, error) { return []GPU{card}, nil }})
	if r.lacks("GPU") || r.lacks("NVML") {
		t.Errorf("%v", r.Lacks)
	}
	var b strings.Builder
	r.WriteText(&b, term.Style{})
	for _, want := range []string{
		"GPU 0     NVIDIA H200, sm_90a, 132 SMs, 140.0 GiB, 60 MiB L2, driver 580.1, CUDA 13.0\n",
		"          345 of 1980 MHz, 75 of 700 W, 31 °C, P0, slowed by: power cap; 1 process on it\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}

	card.State, card.StateNote = nil, "no NVML"
	r = examine(t, Machine{GPUs: func() ([]GPU, error) { return []GPU{card}, nil }})
	if !r.lacks("NVML") {
		t.Errorf("%v", r.Lacks)
	}
	r = examine(t, Machine{GPUs: func() ([]GPU, error) { return nil, fmt.Errorf("no driver: %w", device.ErrNoDevice) }})
	if r.GPUNote != "no driver: "+device.ErrNoDevice.Error() || !r.lacks("GPU") || r.GPUs == nil {
		t.Errorf("%+v", r)
	}
	r = examine(t, Machine{GPUs: func() ([]GPU, error) { return nil, errors.New("mismatch") }})
	if r.GPUNote != "the driver failed: mismatch" {
		t.Errorf("%+v", r)
	}
}

func TestProgress(t *testing.T) {
	onPath(t, nil)
	said := 0
	examine(t, Machine{Say: func(string, ...any) { said++ }})
	if said == 0 {
		t.Error("nobody is told what is waited for")
	}
}
