package campaign

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
)

// smallGPU is the driver of the device "small:0": an emulator that attest takes for a GPU, with little to
// probe.
type smallGPU struct{}

func init() { device.Register("small", smallGPU{}) }

func (smallGPU) Present() bool { return false }

func (smallGPU) Open(string) (device.Device, error) {
	d, err := emu.New(ptx.SM89, emu.Options{})
	return smallDevice{d}, err
}

type smallDevice struct{ *emu.Device }

func (d smallDevice) Info() device.Info {
	i := d.Device.Info()
	i.Name, i.Driver, i.SMs, i.L2, i.Memory = "small GPU", "small", 1, 4<<10, 0
	return i
}

// The events of the emulator are over at once. Those of a GPU are not while the host queues more work, which
// is what the timer waits for.
type (
	smallStream struct{ device.Stream }
	smallEvent  struct{ device.Event }
	smallGraph  struct{ device.Graph }
)

func (d smallDevice) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return smallStream{s}, err
}

func (d smallDevice) NewEvent() (device.Event, error) {
	e, err := d.Device.NewEvent()
	return smallEvent{e}, err
}

func (d smallDevice) NewGraph(queue func(device.Stream) error) (device.Graph, error) {
	g, err := d.Device.NewGraph(queue)
	return smallGraph{g}, err
}

func (s smallStream) Record(e device.Event) error { return s.Stream.Record(e.(smallEvent).Event) }

func (smallEvent) Done() (bool, error) { return false, nil }

func (e smallEvent) Since(start device.Event) (time.Duration, error) {
	return e.Event.Since(start.(smallEvent).Event)
}

func (g smallGraph) Replay(s device.Stream) error { return g.Graph.Replay(s.(smallStream).Stream) }

// TestSweepKeepsEachShape interrupts a sweep in its third shape. The records of the first two are kept,
// each with the sections that were measured once for their kernel.
func TestSweepKeepsEachShape(t *testing.T) {
	x := &Bench{Samples: 10, Time: time.Millisecond, Modes: []string{"graph"}, Caches: []string{"warm"}, Seed: 5, alone: true}
	x.Name, x.Dir = "small:0", t.TempDir()
	for _, n := range []int{32, 33, 40} {
		x.Shapes = append(x.Shapes, problem.Named{Shape: problem.Square(1, 1, n, 64)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &endAfter{text: " 2/3 ", end: cancel}
	if err := x.Run(ctx, &cli.Env{Out: out, Err: io.Discard}, []string{"stage2"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the interrupt gives %v", err)
	}
	s, err := evidence.Open(x.Dir)
	if err != nil {
		t.Fatal(err)
	}
	items := s.Load().Items
	if len(items) != 2 {
		t.Fatalf("%d records\n%s", len(items), out)
	}
	for i, item := range items {
		p := item.Record.Performance
		if len(p.Shapes) != 1 || p.Shapes[0].Shape != x.Shapes[i].Shape || !p.Shapes[0].OutputsOK || p.Shapes[0].Rows == 0 || p.Shapes[0].Compared == 0 || p.Ceiling.Bandwidth == 0 {
			t.Errorf("record %d: %+v", i, p)
		}
		if c := item.Record.Correctness; c == nil || len(c.Cases) == 0 || len(c.Cases) != len(items[0].Record.Correctness.Cases) {
			t.Errorf("record %d has no cases", i)
		}
	}
	if a, b := items[0].Record.Performance.Ceiling, items[1].Record.Performance.Ceiling; a != b {
		t.Errorf("the ceilings were measured twice: %v and %v", a, b)
	}
}

// endAfter calls a function after an output with a text.
type endAfter struct {
	bytes.Buffer
	text string
	end  func()
}

func (w *endAfter) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if strings.Contains(w.String(), w.text) {
		w.end()
	}
	return n, err
}

// TestSweepLimit wants no shape to be timed after the time is over, and a line that says so.
func TestSweepLimit(t *testing.T) {
	x := &Bench{Samples: 1, Time: time.Millisecond, Limit: time.Nanosecond, Modes: []string{"graph"}, Caches: []string{"warm"}, Sweep: 3}
	x.Name = "emu:sm_90a"
	var out, err bytes.Buffer
	if err := x.Run(t.Context(), &cli.Env{Out: &out, Err: &err}, []string{"hopper"}); err != nil {
		t.Error(err)
	}
	if out.Len() > 0 || !strings.Contains(err.String(), "3 shapes are not timed") {
		t.Errorf("%s%s", &out, &err)
	}
}

// TestSweepDraws wants shapes of decode for decode, and masks in turn for the others.
func TestSweepDraws(t *testing.T) {
	for name, queries := range map[string]func(s problem.Shape) bool{
		"decode": func(s problem.Shape) bool { return s.Sq <= 4 && s.Sq < s.Skv }, "hopper": func(s problem.Shape) bool { return s.Sq == s.Skv },
	} {
		x := &Bench{Samples: 1, Time: time.Second, Sweep: 6, Seed: 3}
		batches, err := x.prepare([]string{name})
		if err != nil || len(batches) != 6 {
			t.Fatalf("%s: %d batches, %v", name, len(batches), err)
		}
		if a := ahead(batches); a != nil {
			t.Errorf("%s: few shapes compile ahead: %+v", name, a)
		}
		for i, b := range batches {
			if s := b.shapes[0].Shape; !queries(s) || b.subjects[0].Problem.Causal != (name == "hopper" && i%2 == 1) {
				t.Errorf("%s: %v, causal %v", name, s, b.subjects[0].Problem.Causal)
			}
		}
	}
}

// TestSweepAhead wants each kind of kernel once, and all cases of decode, whose texts depend on more.
func TestSweepAhead(t *testing.T) {
	x := &Bench{Samples: 1, Time: time.Second, Sweep: 40, Seed: 3}
	batches, err := x.prepare([]string{"hopper"})
	if err != nil {
		t.Fatal(err)
	}
	a := ahead(batches)
	if a == nil || a.DType != "e4m3" || len(a.Kernels) < 6 || len(a.Kernels) > 12 || len(a.Decode) > 0 {
		t.Errorf("%+v", a)
	}
	x = &Bench{Samples: 1, Time: time.Second, Sweep: 10, Seed: 3}
	if batches, err = x.prepare([]string{"decode"}); err != nil {
		t.Fatal(err)
	}
	if a := ahead(batches); len(a.Kernels) > 0 || len(a.Decode) != 10 || a.Decode[0].Shape != x.Shapes[0].Shape {
		t.Errorf("decode: %+v", a)
	}
}

// TestSwept wants one line per shape with the fastest rival, and the mean and the lowest speedup at the end.
func TestSwept(t *testing.T) {
	var out bytes.Buffer
	env := &cli.Env{Out: &out}
	w := swept{of: 2, noted: map[string]bool{}}
	for i, ratio := range []float64{0.5, 1.25} {
		times := record.Times{
			Shape: problem.Square(1, 8, 512<<i, 64), Names: []string{"hopper", "a", "b"}, Summaries: []stats.Summary{{P50: 10}, {}, {}}, TFLOPs: []ref.Float{700, 0, 0},
			Rivals: []record.Rival{{Name: "a", Comparison: stats.Comparison{Ratio: ratio}}, {Name: "b", Comparison: stats.Comparison{Ratio: ratio / 2}}},
		}
		w.show(env, &BenchResult{Performance: &record.Performance{Shapes: []record.Times{times}, Notes: []string{"jax: not there"}}})
	}
	w.show(env, &BenchResult{Shapes: []string{"1,2,33,64"}, Wrong: []string{"too many registers"}})
	w.end(env)
	for _, want := range []string{
		"  3/2  1,2,33,64                        not timed\n         wrong: too many registers\n",
		"  1/2  1,8,512,64 ", "700 TFLOP/s  2.00x over a\n", "  2/2  1,8,1024,64 ", "0.80x over a\n",
		"2 shapes beside a rival: geometric mean of the speedups 1.26x, lowest 0.80x (1,8,1024,64, a), below 1 on 1 (50 %)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
	if n := strings.Count(out.String(), "jax: not there"); n != 1 {
		t.Errorf("a note is there %d times", n)
	}
}
