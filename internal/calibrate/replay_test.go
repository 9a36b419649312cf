package calibrate

import (
	"math"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
)

// replayed are the probes whose result on the simulator must be the chip's number: they find
// mistakes of the simulator that cancel out in whole kernels.
var replayed = []string{
	"float_latency", "float_interval", "alu_latency", "alu_interval", "imad_latency", "imad_interval", "mufu_latency", "mufu_interval",
	"half_latency", "half_interval", "cvt_latency", "cvt_interval", "convert_latency", "convert_interval", "shuffle_latency", "shuffle_interval",
	"redux_latency", "shared_latency", "memory_sm_interval", "l1_latency", "mbarrier_try", "cluster_latency", "dsmem_latency",
}

// TestProbesOnTheSimulator replays probes and compares with the numbers that the simulator uses.
func TestProbesOnTheSimulator(t *testing.T) {
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Probes() {
		if !slices.Contains(replayed, p.Name) {
			continue
		}
		a, b := cyclesOf(t, &p, &chip, 4), cyclesOf(t, &p, &chip, 12)
		got, want := p.value((b-a)/8, device.Info{Clock: chip.MHz}), chip.Get(p.Name)
		if math.Abs(got-want) > 0.25*want+0.3 {
			t.Errorf("%s: the simulator gives %.2f, the chip has %.2f", p.Name, got, want)
		}
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
	return machine.New(rec.Launches()[0], chip, float64(chip.MHz), nil).Replay(machine.Plan{Clusters: []int{0}}).Cycles
}
