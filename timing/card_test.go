package timing_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/device/nvml"
	"github.com/GOATnote-Inc/attest/examples"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// card is the first GPU with a timer and the kernel saxpy.
type card struct {
	*timing.Timer
	dev    device.Device
	kernel device.Kernel
	sensor device.Sensor
}

func openCard(t *testing.T) *card {
	t.Helper()
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { dev.Close() })
	text, err := examples.Saxpy().PTX()
	check(t, err)
	m, err := dev.Load("saxpy.ptx", text)
	check(t, err)
	k, err := m.Kernel("saxpy")
	check(t, err)
	tm, err := timing.New(dev)
	check(t, err)
	t.Cleanup(func() { check(t, tm.Close()) })
	c := &card{Timer: tm, dev: dev, kernel: k}
	if gpu, err := nvml.Open(dev.Info().UUID); err == nil {
		c.sensor = gpu
	} else {
		t.Log("no sensor: ", err)
	}
	return c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// saxpy returns work on n floats, with enough sets of buffers for cold launches.
func (c *card) saxpy(t *testing.T, n int) timing.Work {
	t.Helper()
	bytes := int64(8 * n)
	var ls []device.Launch
	for range timing.ColdSets(c.dev.Info(), bytes) {
		x, y := c.floats(t, n), c.floats(t, n)
		ls = append(ls, device.Launch{Grid: device.D((n + 255) / 256), Block: device.D(256),
			Params: []device.Param{device.Ptr(x), device.Ptr(y), device.F32(0.5), device.U32(uint32(n))}})
	}
	return timing.Launches("saxpy", c.kernel, bytes, ls...)
}

func (c *card) floats(t *testing.T, n int) device.Buffer {
	t.Helper()
	b, err := c.dev.Alloc(int64(4 * n))
	check(t, err)
	t.Cleanup(func() { b.Free() })
	r := rand.New(rand.NewPCG(uint64(n), 1))
	data := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(r.Float32()))
	}
	check(t, b.Write(0, data))
	return b
}

// TestCard times one kernel with all four methods in turns, and twice with one of them. If
// TIMING_OUT is set, it writes the run to this file.
func TestCard(t *testing.T) {
	c := openCard(t)
	w := c.saxpy(t, 1<<20) // 8 MiB, which fit in the cache
	var cands []timing.Candidate
	for _, cache := range []timing.Cache{timing.Warm, timing.Cold} {
		e, err := c.EventTime(w, cache)
		check(t, err)
		g, err := c.GraphReplay(t.Context(), w, cache, 0)
		check(t, err)
		defer g.Close()
		cands = append(cands, e, g)
	}
	again, err := c.GraphReplay(t.Context(), w, timing.Warm, 0)
	check(t, err)
	defer again.Close()
	cands = append(cands, again)

	run, err := timing.Interleave(t.Context(), timing.Plan{Sensor: c.sensor, Stop: timing.Stop{Least: 100, Most: 300, Time: 30 * time.Second}}, cands...)
	check(t, err)
	for i, s := range run.Candidates {
		t.Logf("%-5s %-4s %4d launches: %+v", s.Method.Mode, s.Method.Cache, s.Method.Launches, run.Summary(i))
	}
	low, high := run.Clocks()
	t.Logf("ended: %s; clocks %d to %d MHz, throttled by %v, sensor %q", run.Ended, low, high, run.Throttle(), run.SensorError)
	if path := os.Getenv("TIMING_OUT"); path != "" {
		text, err := json.Marshal(run)
		check(t, err)
		check(t, os.WriteFile(path, text, 0o644))
	}

	const eventWarm, graphWarm, eventCold, graphCold, graphAgain = 0, 1, 2, 3, 4
	median := func(i int) float64 { return run.Summary(i).P50 }
	if !(median(graphWarm) < median(graphCold)) {
		t.Errorf("replayed warm %.2f µs, cold %.2f", median(graphWarm), median(graphCold))
	}
	if !(median(graphWarm) <= median(eventWarm) && median(eventWarm) < median(eventCold)) {
		t.Errorf("warm: replayed %.2f µs, between events %.2f; cold %.2f", median(graphWarm), median(eventWarm), median(eventCold))
	}
	// 8 MiB are read and 4 MiB are written. No GPU has a memory bandwidth of 20 TB/s.
	if floor := 12e6 / 20e6; median(graphCold) < floor {
		t.Errorf("%.2f µs is less than the %.2f µs that the memory needs", median(graphCold), floor)
	}
	cmp, err := stats.Compare([]stats.Replicate{run.Replicate(graphWarm, graphAgain)}, stats.Options{})
	check(t, err)
	t.Logf("the same work twice: %+v", cmp)
	if cmp.Differs(0.02) {
		t.Errorf("the same work differs from itself: ratio %.4f", cmp.Ratio)
	}
}
