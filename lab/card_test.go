package lab

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/device/nvml"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
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

// TestCardCeilings probes the GPU twice and wants the same ceilings.
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

// TestCard judges all kernels on the GPU, each against its baseline.
func TestCard(t *testing.T) {
	dev, sensor := openCard(t)
	p := Quick()
	p.Device, p.Sensor, p.References = dev, sensor, shared
	p.Times = DefaultTimes()
	p.Times.Shapes = []problem.Named{p.Times.Shapes[0], p.Times.Shapes[2]}
	p.Times.Stop = timing.Stop{Least: 30, Most: 200, Time: 3 * time.Second}
	if *cardRivals != "" {
		p.Times.Rivals = []RivalChoice{{Library: *cardRivals}}
	}
	for _, name := range kernels.Names() {
		s := preset(t, name)
		if !dev.Info().Target.Runs(s.Target) {
			continue
		}
		p.Baseline = nil
		if base := kernels.Base(name); base != "" {
			p.Baseline = preset(t, base)
		}
		r, v := measure(t, s, p)
		lines, wrong := told(r, v)
		for _, l := range lines {
			t.Log(l)
		}
		for _, w := range wrong {
			t.Error(w)
		}
		saveRecord(t, name, r, v)
	}
}

// told returns a record and its verdict as lines, and what is wrong: a kernel that is rejected or
// was not timed. A kernel that is rejected early has no times.
func told(r *record.Record, v record.Verdict) (lines, wrong []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	say("%s: %s: %s", r.Kernel.Name, v.Outcome, v.Why)
	for _, g := range v.Gates {
		say("    %s %s: %s", g.Name, g.Status, g.Summary)
		for _, why := range g.Reasons {
			say("        %s", why)
		}
	}
	if p := r.Performance; p != nil {
		for _, n := range p.Notes {
			say("    note: %s", n)
		}
		c := p.Ceiling
		say("    the card: %.4g GB/s, %.4g TFLOP/s, %.3g µs for an empty launch", c.Bandwidth, c.FLOPs, c.Launch)
	}
	switch {
	case v.Outcome == record.Reject:
		wrong = append(wrong, fmt.Sprintf("%s is rejected: %s", r.Kernel.Name, v.Why))
	case r.Performance == nil || len(r.Performance.Shapes) == 0:
		wrong = append(wrong, r.Kernel.Name+" was not timed")
	}
	return lines, wrong
}

// TestTold wants a message about a kernel that is rejected before it is timed.
func TestTold(t *testing.T) {
	s := preset(t, "stage3b")
	p := smaller(quickly())
	for _, c := range []struct {
		budget *record.Budget
		want   string
	}{
		{&record.Budget{Registers: 1}, "stage3b is rejected: the resources gate is red: "},
		{nil, "stage3b was not timed"},
	} {
		p.Budget = c.budget
		r, v := measure(t, s, p)
		lines, wrong := told(r, v)
		if len(wrong) != 1 || !strings.HasPrefix(wrong[0], c.want) {
			t.Errorf("%q, want %q", wrong, c.want)
		}
		if len(lines) < 5 || !strings.HasPrefix(lines[0], "stage3b: ") {
			t.Errorf("%q", lines)
		}
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

// TestCardWrong runs wrong kernels on the GPU. There are no checkers, so guard bands, poison and
// references must catch them.
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

// TestCardSameText times a kernel against itself, which shows the noise of the GPU.
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
