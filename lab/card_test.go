package lab

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"attest/device"
	"attest/device/cuda"
	"attest/device/nvml"
	"attest/record"
	"attest/ref"
	"attest/timing"
)

var (
	cardOut    = flag.String("card.out", "", "a folder for the records of what was measured on a card")
	cardRivals = flag.String("card.rival", "", "a library to time beside")
)

// openCard opens the first GPU; without one the test is skipped.
func openCard(t *testing.T) (device.Device, device.Sensor) {
	t.Helper()
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { dev.Close() })
	gpu, err := nvml.Open(dev.Info().UUID)
	if err != nil {
		return dev, nil
	}
	return dev, gpu
}

// TestCardCeilings probes the card twice: what it can do does not change.
func TestCardCeilings(t *testing.T) {
	dev, _ := openCard(t)
	timer, err := timing.New(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	var found [2]record.Ceiling
	for i := range found {
		if found[i], err = ceilings(context.Background(), dev, timer); err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", found[i])
	}
	near := func(what string, a, b float64) {
		if !(a > 0) || a > 1.2*b || b > 1.2*a {
			t.Errorf("%s: %v and then %v", what, a, b)
		}
	}
	near("bandwidth", found[0].Bandwidth, found[1].Bandwidth)
	near("tensor cores", found[0].FLOPs, found[1].FLOPs)
	near("launch", found[0].Launch, found[1].Launch)
}

// TestCard judges a ladder on the card, each kernel against the one before it.
func TestCard(t *testing.T) {
	dev, sensor := openCard(t)
	p := Quick()
	p.Device, p.Sensor, p.References = dev, sensor, shared
	p.Times = DefaultTimes()
	p.Times.Shapes = []ref.Named{p.Times.Shapes[0], p.Times.Shapes[2]}
	p.Times.Stop = timing.Stop{Least: 30, Most: 200, Time: 3 * time.Second}
	if *cardRivals != "" {
		p.Times.Rivals = []RivalChoice{{Library: *cardRivals}}
	}
	names := Names()
	if dev.Info().Target.SM != 90 {
		names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, "hopper") })
	}
	p.Baseline = nil
	for _, name := range names {
		s := preset(t, name)
		r, v := measure(t, s, p)
		t.Logf("%s: %s: %s", name, v.Outcome, v.Why)
		for _, g := range v.Gates {
			t.Logf("    %s %s: %s", g.Name, g.Status, g.Summary)
			for _, why := range g.Reasons {
				t.Logf("        %s", why)
			}
		}
		if v.Outcome == record.Reject {
			t.Errorf("%s is rejected: %s", name, v.Why)
		}
		for _, n := range r.Performance.Notes {
			t.Logf("    note: %s", n)
		}
		t.Logf("    ceilings %+v", r.Performance.Ceiling)
		saveRecord(t, name, r, v)
		p.Baseline = s
	}
}

func saveRecord(t *testing.T, name string, r *record.Record, v record.Verdict) {
	t.Helper()
	if *cardOut == "" {
		return
	}
	text, err := json.MarshalIndent(map[string]any{"record": r, "verdict": v}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*cardOut, name+".json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCardWrong runs wrong kernels on the card, where no checker sees them: guard
// bands, poison and references do.
func TestCardWrong(t *testing.T) {
	dev, _ := openCard(t)
	p := smaller(quickly())
	p.Device, p.KeepGoing = dev, true
	p.Defects.Shapes = nil
	for _, c := range wrongKernels() {
		if c.gate == "defects" && !c.onCard {
			continue
		}
		_, v := measure(t, c.make(t), p)
		if g := v.Gates[2]; g.Status != record.Red {
			t.Errorf("%s: correctness is %s: %s", c.name, g.Status, g.Summary)
		}
	}
}

// TestCardSameText has a kernel timed against itself: the card's noise.
func TestCardSameText(t *testing.T) {
	dev, sensor := openCard(t)
	p := smaller(quickly())
	p.Device, p.Sensor = dev, sensor
	p.Defects.Shapes = nil
	p.Times = DefaultTimes()
	p.Times.Shapes = p.Times.Shapes[:1]
	p.Times.Stop = timing.Stop{Least: 30, Most: 100, Time: 3 * time.Second}
	s := preset(t, "stage3b")
	p.Baseline = s
	perf, err := Time(context.Background(), s, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range perf.Shapes {
		t.Logf("%s/%s: ratio %.4f [%.4f, %.4f], floor %.2f of %.2f µs", one.Method.Mode, one.Method.Cache, one.Baseline.Ratio,
			one.Baseline.Interval.Low, one.Baseline.Interval.High, one.Floor, one.Summaries[0].P50)
		if !one.OutputsOK || one.Baseline.Differs(0.03) {
			t.Errorf("%+v: %s, %+v", one.Method, one.Wrong, one.Baseline)
		}
	}
}
