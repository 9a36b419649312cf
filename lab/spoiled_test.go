package lab

import (
	"math"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// spoiledAndPlain times a kernel with and without spoiling, in turns, in a replayed graph with a
// warm cache. It returns both medians and the median of what was subtracted, in microseconds.
func spoiledAndPlain(t *testing.T, dev device.Device, s *Subject, shape problem.Shape, stop timing.Stop) (spoiled, plain, subtracted float64) {
	t.Helper()
	timer, err := timing.New(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	m, err := newMeasurement(s, Plan{Device: dev, Times: &Times{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.newContestant(t.Context(), s, shape)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	one, err := c.candidate(t.Context(), timer, timing.Method{Mode: timing.Graph, Cache: timing.Warm})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	other, err := timer.GraphReplay(t.Context(), timing.Work{Name: "plain", Bytes: c.bytes, Queue: c.queue}, timing.Warm, one.Method().Launches)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	run, err := timing.Interleave(t.Context(), timing.Plan{WarmUp: 10 * time.Millisecond, Stop: stop}, one, other)
	if err != nil {
		t.Fatal(err)
	}
	var controls []float64
	for _, b := range run.Batches {
		controls = append(controls, b.Controls...)
	}
	t.Logf("%s on %v: %d launches on %d sets", s.Name, shape, one.Method().Launches, one.Method().Sets)
	return run.Summary(0).P50, run.Summary(1).P50, stats.Median(controls)
}

// TestSpoiledTimes wants an honest kernel to take as long with spoiling as without.
func TestSpoiledTimes(t *testing.T) {
	spoiled, plain, subtracted := spoiledAndPlain(t, newCard(), preset(t, "stage3b"), problem.Square(1, 2, 33, 64), timing.Stop{Least: 10, Most: 10})
	if math.Abs(spoiled/plain-1) > 0.02 || subtracted < 0.9 || subtracted > 1.1 {
		t.Errorf("%.4g µs with spoiling, of which %.3g µs were subtracted, and %.4g µs without", spoiled, subtracted, plain)
	}
}

// TestCardSpoiled is TestSpoiledTimes on a GPU.
func TestCardSpoiled(t *testing.T) {
	dev, _ := openCard(t)
	for _, name := range []string{"stage5", "hopper"} {
		s := preset(t, name)
		if !dev.Info().Target.Runs(s.Target) {
			continue
		}
		for _, shape := range []problem.Shape{problem.Square(1, 8, 512, 64), problem.Square(2, 8, 256, 64), problem.Square(1, 8, 2048, 64)} {
			spoiled, plain, subtracted := spoiledAndPlain(t, dev, s, shape, timing.Stop{Least: 100, Most: 300, Time: 5 * time.Second})
			t.Logf("%.4g µs with spoiling, %.4g µs without (%+.2f %%); %.3g µs per launch were subtracted", spoiled, plain, 100*(spoiled/plain-1), subtracted)
			if math.Abs(spoiled/plain-1) > 0.03 {
				t.Errorf("%s on %v: the two differ by more than 3 %%", name, shape)
			}
		}
	}
}
