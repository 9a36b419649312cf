package check_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/devicetest"
	"github.com/GOATnote-Inc/attest/ptx"
)

// workload is a correct kernel with a launch. The files of its buffers are generated: the file
// N.TYPE.txt holds the numbers from 0 to N-1.
type workload struct {
	file   string // the PTX file
	launch string
}

// examples are the kernels of package examples, with sizes that no tile divides and
// blocks that have nothing to do.
var examples = []workload{
	{"examples/testdata/saxpy.ptx", `{"entry": "saxpy", "grid": [3], "block": [64], "params": [
		{"buffer": "150.f32.txt"}, {"buffer": "150.f32.txt"}, {"f32": 2}, {"u32": 150}]}`},
	{"examples/testdata/reduce.ptx", `{"entry": "reduce", "grid": [4], "block": [256], "params": [
		{"buffer": "1007.f32.txt"}, {"zeros": 4}, {"u32": 1007}]}`},
	{"examples/testdata/transpose.ptx", `{"entry": "transpose", "grid": [2, 2], "block": [32, 8], "params": [
		{"buffer": "1190.f32.txt"}, {"poison": 4760}, {"u32": 34}, {"u32": 35}]}`},
	{"examples/testdata/pipeline.ptx", `[
		{"entry": "pipeline", "grid": [1], "block": [256], "params": [{"buffer": "4096.f32.txt"}, {"poison": 16384}, {"u32": 4}]},
		{"entry": "pipeline", "grid": [2], "block": [256], "params": [{"buffer": "1024.f32.txt"}, {"poison": 4096}, {"u32": 1}]}]`},
	{"examples/testdata/matmul.ptx", `{"entry": "matmul", "grid": [1, 1], "block": [128], "params": [
		{"buffer": "6144.f16.txt"}, {"buffer": "6144.f16.txt"}, {"poison": 16384}, {"u32": 64}, {"u32": 96}]}`},
	{"examples/testdata/ring.ptx", `[
		{"entry": "ring", "grid": [1], "block": [160], "params": [
			{"tensormap": {"type": "f32", "buffer": "4096.f32.txt", "dims": [64, 64], "box": [64, 8]}}, {"poison": 16384}, {"u32": 8}]},
		{"entry": "ring", "grid": [2], "block": [160], "params": [
			{"tensormap": {"type": "f32", "buffer": "512.f32.txt", "dims": [64, 8], "box": [64, 8]}}, {"poison": 2048}, {"u32": 1}]}]`},
	{"examples/testdata/wgmma.ptx", `{"entry": "wgmma", "grid": [1], "block": [128], "params": [
		{"tensormap": {"type": "u8", "buffer": {"zeros": 8192}, "dims": [128, 64], "box": [128, 64], "swizzle": "128B"}},
		{"tensormap": {"type": "u8", "buffer": {"zeros": 8192}, "dims": [128, 64], "box": [128, 64], "swizzle": "128B"}},
		{"poison": 16384}]}`},
}

// attention returns an attention kernel with heads of the given number of queries.
func attention(name string, heads, seq, grid, block, shared int) workload {
	n := 64 * heads * seq
	return workload{"kernels/attn/stages/testdata/" + name + ".ptx", fmt.Sprintf(`{"entry": "attn_e4m3_d64_f16", "grid": [%d], "block": [%d], "shared": %d, "params": [
		{"buffer": "%d.e4m3.txt"}, {"buffer": "%[4]d.e4m3.txt"}, {"buffer": "%[4]d.e4m3.txt"},
		{"buffer": "%[5]d.f32.txt"}, {"buffer": "%[5]d.f32.txt"}, {"buffer": "%[5]d.f32.txt"}, {"poison": %[6]d},
		{"u32": 1}, {"u32": %[5]d}, {"u32": %[7]d}, {"f32": 0.125}]}`, grid, block, shared, n, heads, 2*n, seq)}
}

// presets returns the attention kernels. Those with rings get enough tiles to use each slot more
// than once.
var presets = []workload{
	attention("stage0", 2, 80, 6, 128, 32512), attention("stage1", 2, 80, 6, 128, 48896), attention("stage2", 2, 80, 6, 128, 53504),
	attention("stage3a", 2, 80, 6, 128, 48896), attention("xor-swizzle", 2, 80, 6, 128, 50432), attention("stage3b", 2, 80, 4, 128, 44032),
	attention("stage4", 1, 210, 4, 128, 52224), attention("stage5", 1, 210, 4, 192, 62528), attention("stage5-persistent", 2, 80, 3, 192, 62528),
}

// triton are kernels that Triton compiled, from the corpus of the parser.
var triton = []workload{
	{"ptx/parse/testdata/triton36/mm_fp16_8_90.ptx", `{"entry": "matmul", "grid": [1, 1], "block": [256], "shared": 131072, "params": [
		{"buffer": "32768.f16.txt"}, {"buffer": "32768.f16.txt"}, {"poison": 32768}, {"u32": 128}, {"u32": 128}, {"u32": 256}, {"u64": 0}, {"u64": 0}]}`},
	{"ptx/parse/testdata/triton36/mm_fp32_4_80.ptx", `{"entry": "matmul", "grid": [1, 1], "block": [128], "shared": 147456, "params": [
		{"buffer": "32768.f32.txt"}, {"buffer": "16384.f32.txt"}, {"poison": 16384}, {"u32": 128}, {"u32": 64}, {"u32": 256}, {"u64": 0}, {"u64": 0}]}`},
	{"ptx/parse/testdata/triton36/attn_fp8e4nv_89.ptx", `{"entry": "attn", "grid": [2, 1], "block": [128], "shared": 65536, "params": [
		{"buffer": "16384.u8.txt"}, {"buffer": "16384.u8.txt"}, {"buffer": "16384.u8.txt"}, {"poison": 32768}, {"u32": 256}, {"f32": 0.125}, {"u64": 0}, {"u64": 0}]}`},
	{"ptx/parse/testdata/triton36/attn_fp8e5_90.ptx", `{"entry": "attn", "grid": [2, 1], "block": [128], "shared": 65536, "params": [
		{"buffer": "16384.u8.txt"}, {"buffer": "16384.u8.txt"}, {"buffer": "16384.u8.txt"}, {"poison": 32768}, {"u32": 256}, {"f32": 0.125}, {"u64": 0}, {"u64": 0}]}`},
	{"ptx/parse/testdata/triton36/misc_90.ptx", `{"entry": "misc", "grid": [1], "block": [128], "shared": 16384, "params": [
		{"buffer": "256.f32.txt"}, {"zeros": 2048}, {"u32": 256}, {"u64": 0}, {"u64": 0}]}`},
	{"ptx/parse/testdata/triton36/desc_90.ptx", `{"entry": "desc", "grid": [2], "block": [128], "shared": 32768, "params": [
		{"buffer": "8192.f16.txt"}, {"poison": 16384}, {"u32": 128}, {"u32": 64}, {"zeros": 1024}, {"u64": 0}]}`},
}

func (w workload) name() string { return strings.TrimSuffix(filepath.Base(w.file), ".ptx") }

func (w workload) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(w.file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (w workload) launches(t *testing.T) *launchfile.File {
	t.Helper()
	f, err := launchfile.Parse(w.name()+".json", []byte(w.launch))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ramp generates the files of workloads.
func ramp(name string) ([]byte, error) {
	n, typ, _ := strings.Cut(name, ".")
	count, err := strconv.Atoi(n)
	if err != nil {
		return nil, err
	}
	if typ == "e4m3.txt" { // numbers around 0, all of them exact
		return []byte(strings.Repeat("-2 -1 0 1 2 ", count/5)), nil
	}
	if typ == "u8.txt" || typ == "f16.txt" { // few bits: small numbers, again and again
		return []byte(strings.Repeat("0..63 ", count/64)), nil
	}
	return fmt.Appendf(nil, "0..%d", count-1), nil
}

// TestExamplesAreClean: the kernels of the project have no findings.
func TestExamplesAreClean(t *testing.T) {
	for _, w := range append(examples, presets...) {
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			noAlarm(t, 0, watch(t, w.text(t), w.launches(t), ramp, 0))
		})
	}
}

// TestTritonIsClean: kernels that Triton compiled have no errors.
func TestTritonIsClean(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long")
	}
	for _, w := range triton {
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			found := watch(t, w.text(t), w.launches(t), ramp, 0)
			if found.fault != nil {
				t.Error(found.fault)
			}
			errorsIn(t, found.defects)
		})
	}
}

// TestNvccKernelsAreClean: the CUDA kernels of the emulator's tests have no errors.
func TestNvccKernelsAreClean(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long")
	}
	files, err := filepath.Glob("../testdata/nvcc/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("../testdata/nvcc", name)) }
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := read(name + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		data, err := read(name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		launches, err := launchfile.Parse(name+".json", data)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watch(t, string(text), launches, read, 0)
			if w.fault != nil {
				t.Error(w.fault)
			}
			errorsIn(t, w.defects)
		})
	}
}

// errorsIn reports errors in correct kernels. Warnings are accepted: they concern common practice.
func errorsIn(t *testing.T, defects []finding.Finding) {
	t.Helper()
	for i := range defects {
		if d := &defects[i]; d.Severity == finding.Error {
			t.Errorf("%s: %s", d.Kernel, describe(d))
		}
	}
}

// TestConformanceIsClean: the cases that every device must pass have no errors.
func TestConformanceIsClean(t *testing.T) {
	devicetest.Run(t, func(target ptx.Target) (device.Device, error) {
		c := check.New()
		dev, err := emu.New(target, emu.Options{Observer: c, GuardShared: true, KeepGoing: true, Output: io.Discard})
		return &judged{dev, c, t}, err
	})
}

// judged checks the findings of a case when its device is closed.
type judged struct {
	device.Device
	c *check.Checker
	t *testing.T
}

// Close leaves out divergent barriers: one case shows that GPUs do not wait at a barrier for
// threads that have ended, although PTX does not promise it.
func (j *judged) Close() error {
	errorsIn(j.t, slices.DeleteFunc(j.c.Findings(), func(f finding.Finding) bool { return f.Kind == check.BarrierDivergence }))
	return j.Device.Close()
}
