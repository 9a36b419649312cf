package calibrate

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
)

// published reads what attest calibrate measured on an H200.
func published(t *testing.T) map[string]Result {
	t.Helper()
	text, err := os.ReadFile("../../evidence/calibration/h200.json")
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Device.Name != "NVIDIA H200" || r.Device.Clock != 1980 || len(r.Results) < 100 {
		t.Fatalf("the calibration is of %s at %d MHz with %d results", r.Device.Name, r.Device.Clock, len(r.Results))
	}
	results := map[string]Result{}
	for _, x := range r.Results {
		results[x.Name] = x
	}
	return results
}

// TestNumbers checks that the measured numbers of the chip are those of the published calibration.
// A probe also measures the loop around it, which takes up to 6 %.
func TestNumbers(t *testing.T) {
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, got := range published(t) {
		number, ok := chip.Numbers[name]
		if !ok || number.Basis != "measured" {
			continue
		}
		n++
		loop := 0.06*got.Value + 0.5
		if strings.HasPrefix(name, "fence_") {
			loop = 8.5 // a store stands before the fence
		}
		if math.Abs(number.Value-got.Value) > loop {
			t.Errorf("%s is %v, and %.2f was measured", name, number.Value, got.Value)
		}
	}
	if n < 30 {
		t.Errorf("only %d numbers were measured by probes", n)
	}
}

// notReplayed are probes whose time the simulator does not reproduce, with reasons.
var notReplayed = map[string]string{
	"dram_ns":                       "runs count as warm",
	"lds32_4warps":                  "loop overhead that the assembler unrolls",
	"memory_issue_interval":         "loop overhead that the assembler unrolls",
	"l2_bytes_64":                   "the L2 does not give its whole rate to half of the SMs",
	"l2_half_bytes_1":               "half of a line costs less than the simulator assumes",
	"store_bytes_1":                 "the simulator gives stores the rate of loads",
	"store_bytes_64":                "the simulator gives stores the rate of loads",
	"store_bytes":                   "the simulator gives stores the rate of loads",
	"copy_bytes_1":                  "implausible: more than shared memory can write",
	"copy_bytes_64":                 "implausible: more than shared memory can write",
	"copy_bytes":                    "implausible: more than the L2 can deliver",
	"copy_half_bytes":               "implausible: more than the L2 can deliver",
	"fence_cta":                     "fences have one latency",
	"mma_e4m3_latency":              "the assembler computes equal products once and adds the results",
	"mma_e4m3_interval_1":           "the assembler computes equal products once and adds the results",
	"mma_e4m3_interval_2":           "the assembler computes equal products once and adds the results",
	"beside_4_wgmma_32_exp_0_fma_1": "the assembler moves 16 exponentials before the products",
	"beside_4_wgmma_32_exp_0_fma_2": "the assembler moves 16 exponentials before the products",
	"fetch_loop_2048":               "the instruction cache has a soft limit",
	"fetch_loop_4096":               "needs many iterations",
	"loop_iteration":                "the assembler unrolls the loop",
}

// TestProbesOnTheSimulator replays probes and compares with what an H200 measured. It finds mistakes
// of the simulator that cancel out in whole kernels.
func TestProbesOnTheSimulator(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator runs all probes")
	}
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	measured := published(t)
	n := 0
	for _, p := range Probes() {
		want, ok := measured[p.Name]
		if !ok || want.Error != "" || notReplayed[p.Name] != "" || p.first {
			continue
		}
		n++
		a, b := cyclesOf(t, &p, &chip, 4), cyclesOf(t, &p, &chip, 8)
		if got := p.value((b-a)/4, device.Info{Clock: chip.MHz}); math.Abs(got-want.Value) > 0.17*want.Value+0.1 {
			t.Errorf("%s: the simulator gives %.2f, the card %.2f", p.Name, got, want.Value)
		}
	}
	if n < 75 {
		t.Errorf("only %d probes were replayed", n)
	}
}

// cyclesOf returns what a probe with n iterations takes on the simulator.
func cyclesOf(t *testing.T, p *Probe, chip *chips.Chip, n uint32) float64 {
	t.Helper()
	rec := &warptrace.Recorder{}
	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: rec})
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Text()
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load(p.Name+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("probe")
	if err != nil {
		t.Fatal(err)
	}
	l, _, free, err := p.launch(dev, p.memory)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	l.Params[2] = device.U32(n)
	if err := k.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	plan := machine.Plan{Clusters: []int{0}}
	if p.blocks != allSMs {
		plan.L2Bytes, plan.BulkBytes = chip.Get("sm_bytes"), chip.Get("sm_bulk_bytes")
	}
	return machine.New(rec.Launches()[0], chip, float64(chip.MHz), nil).Replay(plan).Cycles
}
