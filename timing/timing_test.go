package timing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/examples"
	"github.com/GOATnote-Inc/attest/ptx"
)

func timer(t *testing.T, g *gpu) *Timer {
	t.Helper()
	tm, err := New(g)
	if err != nil {
		t.Fatal(err)
	}
	return tm
}

func all(t *testing.T, xs []float64, want float64) {
	t.Helper()
	for _, x := range xs {
		if !(math.Abs(x-want) <= 1e-9) {
			t.Fatalf("samples %v, want all %v", xs, want)
		}
	}
}

func TestEventTime(t *testing.T) {
	g := newGPU()
	g.call = 100 * time.Microsecond // the time of a slow host must not be in the samples
	tm := timer(t, g)
	for _, c := range []struct {
		cache Cache
		want  float64
	}{{Warm, 10}, {Cold, 30}} {
		p, err := tm.EventTime(g.work("k", 10*time.Microsecond, 100, 2), c.cache)
		if err != nil {
			t.Fatal(err)
		}
		xs, err := p.Sample(t.Context(), 20)
		if err != nil || len(xs) != 20 {
			t.Fatal(xs, err)
		}
		all(t, xs, c.want)
	}
	if g.fills < 20 {
		t.Errorf("the cache was flushed %d times for 20 cold samples", g.fills)
	}
	if tm.hold.wait < 3*g.call {
		t.Errorf("the stream was held for %v, but the host needs %v", tm.hold.wait, 3*g.call)
	}
}

// TestSlowHost checks that a host which cannot queue in time gives an error, not a sample.
func TestSlowHost(t *testing.T) {
	g := newGPU()
	g.call = time.Second
	p, _ := timer(t, g).EventTime(g.work("k", time.Microsecond, 100, 1), Warm)
	if xs, err := p.Sample(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "overloaded") {
		t.Errorf("%v, %v", xs, err)
	}
}

func TestGraphReplay(t *testing.T) {
	g := newGPU()
	tm := timer(t, g)
	p, err := tm.GraphReplay(t.Context(), g.work("k", 10*time.Microsecond, 100, 3), Warm, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Method(); got != (Method{Graph, Warm, 100, 1, "events"}) {
		t.Errorf("%+v: 100 launches of 10 µs are a millisecond", got)
	}
	xs, err := p.Sample(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	all(t, xs, 10)

	// Cold launches: 30 sets of 100 bytes are three times the size of the cache.
	if _, err := tm.GraphReplay(t.Context(), g.work("k", time.Microsecond, 100, 29), Cold, 0); err == nil || !strings.Contains(err.Error(), "need 30 sets") {
		t.Errorf("too few sets: %v", err)
	}
	cold, err := tm.GraphReplay(t.Context(), g.work("k", 10*time.Microsecond, 100, 30), Cold, 31)
	if err != nil {
		t.Fatal(err)
	}
	if got := cold.Method(); got.Launches != 60 || got.Sets != 30 {
		t.Errorf("%+v: every set must be used equally often", got)
	}
	if xs, err = cold.Sample(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	all(t, xs, 30)
	for _, c := range []interface{ Close() error }{p, cold} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestClose(t *testing.T) {
	g := newGPU()
	tm := timer(t, g)
	w := g.work("k", time.Microsecond, 100, 1)
	held := g.open
	e, _ := tm.EventTime(w, Cold)
	p, err := tm.GraphReplay(t.Context(), w, Warm, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Sample(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if g.open != held+2 { // a graph and the buffer that flushes the cache
		t.Errorf("%d objects are open, want %d", g.open, held+2)
	}
	p.Close()
	e.Close()
	if err := tm.Close(); err != nil {
		t.Error(err)
	}
	if g.open != 1 { // the buffer of the work
		t.Errorf("%d objects are still open", g.open-1)
	}
}

func TestColdSets(t *testing.T) {
	for _, c := range []struct {
		l2, bytes int64
		want      int
	}{{60 << 20, 2 << 20, 90}, {60 << 20, 1 << 30, 2}, {0, 100, 1}, {1000, 0, 1}, {100, 7, 43}} {
		if got := ColdSets(device.Info{L2: c.l2}, c.bytes); got != c.want {
			t.Errorf("L2 of %d, sets of %d: %d, want %d", c.l2, c.bytes, got, c.want)
		}
	}
}

// TestInterleaveOrder checks the order of the launches.
func TestInterleaveOrder(t *testing.T) {
	turns := func(order Order, seed uint64) string {
		g := newGPU()
		tm := timer(t, g)
		a, _ := tm.EventTime(g.work("A", time.Microsecond, 10, 1), Warm)
		b, _ := tm.EventTime(g.work("B", time.Microsecond, 10, 1), Warm)
		r, err := Interleave(t.Context(), Plan{WarmUp: 1, Batch: 1, Order: order, Seed: seed, Stop: Stop{Least: 6, Most: 6}}, a, b)
		if err != nil {
			t.Fatal(err)
		}
		var s strings.Builder
		for _, batch := range r.Batches {
			s.WriteString(r.Candidates[batch.Candidate].Name)
		}
		return s.String()
	}
	if got := turns(ABBA, 0); got != "ABBAABBAABBA" {
		t.Errorf("ABBA is %s", got)
	}
	if first, again := turns(Random, 1), turns(Random, 1); first != again {
		t.Error("the same seed gives two orders")
	}
	seen := map[string]bool{}
	for seed := range uint64(8) {
		seen[turns(Random, seed)] = true
	}
	if len(seen) < 4 {
		t.Errorf("eight seeds give %d orders", len(seen))
	}
}

// TestDriftCancels measures two equal kernels on a GPU that becomes slower steadily: measured
// in turns, they must not differ.
func TestDriftCancels(t *testing.T) {
	g := newGPU()
	g.scale = func(n int) float64 { return 1 + float64(n)/1000 }
	tm := timer(t, g)
	a, _ := tm.EventTime(g.work("A", 10*time.Microsecond, 10, 1), Warm)
	b, _ := tm.EventTime(g.work("B", 10*time.Microsecond, 10, 1), Warm)
	r, err := Interleave(t.Context(), Plan{WarmUp: 1, Batch: 2, Order: ABBA, Stop: Stop{Least: 100, Most: 100}}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := r.Summary(1).P50 / r.Summary(0).P50; !(math.Abs(ratio-1) <= 0.005) {
		t.Errorf("two equal kernels are %.4f apart", ratio)
	}
	if d := r.Summary(0).Drift; d < 0.1 {
		t.Errorf("the drift is not seen: %v", d)
	}
	if rep := r.Replicate(0, 1); len(rep.Old) != 100 || len(rep.New) != 100 {
		t.Errorf("%d and %d samples", len(rep.Old), len(rep.New))
	}
}

func TestStop(t *testing.T) {
	steady, wild := make([]float64, 40), make([]float64, 40)
	for i := range steady {
		steady[i], wild[i] = 10, float64(10+i)
	}
	s := Stop{Least: 30, Most: 60, Time: time.Minute}.orDefaults()
	for _, c := range []struct {
		name  string
		times [][]float64
		spent time.Duration
		want  Reason
	}{
		{"steady", [][]float64{steady, steady}, 0, Precise},
		{"too few", [][]float64{steady[:29], steady[:29]}, 0, ""},
		{"one of two is wild", [][]float64{steady, wild}, 0, ""},
		{"wild and long", [][]float64{wild}, time.Minute, Time},
		{"few and long", [][]float64{wild[:7]}, time.Minute, Time},
		{"wild and many", [][]float64{slices.Concat(wild, wild)}, 0, Samples},
	} {
		if got := s.reason(c.times, c.spent); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	s.Fewest = 10
	for n, want := range map[int]Reason{9: "", 10: Time} {
		if got := s.reason([][]float64{wild[:n]}, time.Minute); got != want {
			t.Errorf("%d samples, at least 10 wanted: %q, want %q", n, got, want)
		}
	}
}

// TestLaunchesInGraph wants replays of a millisecond, of 10 launches, or of 10 ms with fewer launches.
func TestLaunchesInGraph(t *testing.T) {
	for each, want := range map[float64]int{0: 1000, 0.5: 1000, 4: 250, 99: 11, 150: 10, 1000: 10, 1100: 10, 2000: 5, 4999: 3, 5000: 2, 40000: 2} {
		if got := launchesOf(each); got != want {
			t.Errorf("launches of %v µs: %d in a graph, want %d", each, got, want)
		}
	}
}

// TestRunIsARecord checks the states before and after each batch, and that a run can be
// encoded as JSON and decoded again.
func TestRunIsARecord(t *testing.T) {
	g := newGPU()
	a, _ := timer(t, g).EventTime(g.work("A", time.Microsecond, 10, 1), Warm)
	told := 0
	r, err := Interleave(t.Context(), Plan{WarmUp: 1, Sensor: &thermometer{}, Each: func(int, Batch) { told++ }}, a)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ended != Precise || len(r.Times(0)) != 30 || told != len(r.Batches) {
		t.Errorf("ended %q after %d samples, told of %d batches", r.Ended, len(r.Times(0)), told)
	}
	for _, b := range r.Batches {
		if b.Before == nil || b.After == nil || b.Before.SMClock <= b.After.SMClock || b.End.Before(b.Start) {
			t.Fatalf("%+v", b)
		}
	}
	if got := r.Throttle(); got != device.ThrottlePowerCap {
		t.Errorf("throttled by %v", got)
	}
	if low, high := r.Clocks(); low != 2000-7 || high != 2000-2 {
		t.Errorf("clocks from %d to %d", low, high)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Run
	if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(back.Times(0), r.Times(0)) || back.Throttle() != r.Throttle() {
		t.Errorf("it came back as %+v, %v", back, err)
	}
}

func TestFailures(t *testing.T) {
	g := newGPU()
	tm := timer(t, g)
	a, _ := tm.EventTime(g.work("A", time.Microsecond, 10, 1), Warm)
	t.Run("sensor", func(t *testing.T) {
		r, err := Interleave(t.Context(), Plan{WarmUp: 1, Sensor: &thermometer{err: errors.New("no clocks")}}, a)
		if err != nil || r.SensorError != "no clocks" {
			t.Errorf("%v, %q", err, r.SensorError)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := Interleave(ctx, Plan{WarmUp: 1, Each: func(int, Batch) { cancel() }}, a)
		if !errors.Is(err, context.Canceled) || len(r.Batches) == 0 || r.Ended != "" {
			t.Errorf("%v, %+v", err, r)
		}
	})
	t.Run("launch", func(t *testing.T) {
		g.fail = "A"
		defer func() { g.fail = "" }()
		if _, err := Interleave(t.Context(), Plan{WarmUp: 1}, a); err == nil || !strings.Contains(err.Error(), "A: launch failed") {
			t.Error(err)
		}
	})
	t.Run("plans", func(t *testing.T) {
		for _, p := range []Plan{{Order: "best first"}, {Batch: -1}, {Stop: Stop{Least: 10, Most: 5}}} {
			if _, err := Interleave(t.Context(), p, a); err == nil {
				t.Errorf("%+v is accepted", p)
			}
		}
		if _, err := Interleave(t.Context(), Plan{}); err == nil {
			t.Error("no candidates are accepted")
		}
	})
	t.Run("no work", func(t *testing.T) {
		if _, err := tm.EventTime(Work{}, Warm); err == nil {
			t.Error("accepted")
		}
	})
	t.Run("other stream", func(t *testing.T) {
		p, _ := tm.EventTime(Work{Name: "elsewhere", Queue: func(device.Stream, int) error { return nil }}, Warm)
		if _, err := p.Sample(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "another stream") {
			t.Error(err)
		}
	})
}

// TestHoldKernel runs the kernel that blocks a stream.
func TestHoldKernel(t *testing.T) {
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	h, err := newHold(dev)
	if err != nil {
		t.Fatal(err)
	}
	for _, wait := range []uint64{0, 1000} {
		l := device.Launch{Grid: device.D(1), Block: device.D(1), Params: []device.Param{device.U64(wait)}}
		if err := h.kernel.Launch(t.Context(), l); err != nil {
			t.Errorf("a wait of %d ns: %v", wait, err)
		}
	}
}

// Example times a kernel on the emulator. On a GPU only the name of the device differs.
func Example() {
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	text, _ := examples.Saxpy().PTX()
	m, err := dev.Load("saxpy.ptx", text)
	if err != nil {
		fmt.Println(err)
		return
	}
	k, _ := m.Kernel("saxpy")
	x, _ := dev.Alloc(4096)
	y, _ := dev.Alloc(4096)

	t, err := New(dev)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	work := Launches("saxpy", k, 8192, device.Launch{
		Grid: device.D(4), Block: device.D(256),
		Params: []device.Param{device.Ptr(x), device.Ptr(y), device.F32(2), device.U32(1024)},
	})
	one, _ := t.EventTime(work, Warm)
	many, _ := t.GraphReplay(context.Background(), work, Warm, 4)
	run, err := Interleave(context.Background(), Plan{WarmUp: time.Millisecond, Stop: Stop{Least: 10, Most: 10}}, one, many)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, c := range run.Candidates {
		fmt.Println(c.Name, c.Method.Mode, c.Method.Cache, run.Summary(i).N, "samples")
	}
	// Output:
	// saxpy event warm 10 samples
	// saxpy graph warm 10 samples
}
