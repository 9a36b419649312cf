package attention

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// server is an operation over pages with buffers for its largest batch.
type server struct {
	op *Op
	p  Problem
	b  Buffers
}

// newServer returns a server for b sequences of at most skv keys.
func newServer(t testing.TB, dev device.Device, b, skv int) *server {
	t.Helper()
	p := Problem{
		Shape: Shape{B: b, Hq: 4, Hkv: 2, Sq: 1, Skv: skv, D: 64}, Layout: problem.BSHD, Keys: problem.Paged, FormatQ: problem.F16,
		Batch: problem.Batch{PageSize: 16},
	}.Filled()
	op, err := New(dev, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { op.Close() })
	return &server{op, p, ones(t, op, p)}
}

// ones returns buffers for a problem of an operation. Numbers in e4m3 and scales are 1.
func ones(t testing.TB, op *Op, p Problem) (b Buffers) {
	t.Helper()
	bound, err := op.program.Bind(p.Filled(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range bound.Memory {
		if at := b.at(m.Name); at != nil {
			if *at, err = op.dev.Alloc(m.Bytes); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { (*at).Free() })
			one := slices.Repeat([]byte{0x38}, int(m.Bytes)) // 1 in e4m3, 0.53 in f16
			if strings.HasSuffix(m.Name, "s") {
				for i := 0; i < len(one); i += 4 {
					binary.LittleEndian.PutUint32(one[i:], 0x3f800000)
				}
			}
			if err := (*at).Write(0, one); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

// queued runs a plan whose values of V are all 1, and wants an output of ones.
func queued(t *testing.T, op *Op, plan *Plan, o device.Buffer) {
	t.Helper()
	stream, err := op.dev.(device.Streamer).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, o.Size())
	if err := errors.Join(o.Write(0, got), plan.Queue(stream), stream.Sync(context.Background()), o.Read(0, got)); err != nil {
		t.Fatal(err)
	}
	if want := slices.Repeat([]byte{0, 0x3c}, len(got)/2); !slices.Equal(got, want) {
		t.Errorf("%s: the output is not 1", op.Kernel().Name)
	}
}

// TestPlanOfASmallBatch makes plans for batches that have more parts than the batch of New, whose items fill the
// GPU without splitting keys. Earlier plans still work.
func TestPlanOfASmallBatch(t *testing.T) {
	for _, name := range []string{"decode", "prefill"} {
		p := Problem{Shape: Shape{B: 512, Hq: 8, Hkv: 8, Sq: 1, Skv: 2048, D: 64}}
		op := newTestOp(t, open(t, ptx.SM89), p, Options{Kernel: name})
		var plans []*Plan
		var outputs []device.Buffer
		for _, p.B = range []int{4, 1} {
			b := ones(t, op, p)
			plan, err := op.Plan(p, b)
			if err != nil {
				t.Fatal(err)
			}
			plans, outputs = append(plans, plan), append(outputs, b.O)
		}
		for i, plan := range plans {
			queued(t, op, plan, outputs[i])
		}
	}
}

// TestPlanAfterAStoppedLaunch uses a plan after a launch of the same operation was stopped at different places.
func TestPlanAfterAStoppedLaunch(t *testing.T) {
	if *deviceName != "" {
		t.Skip("a GPU may be done before")
	}
	p := Problem{Shape: Shape{B: 2, Hq: 4, Hkv: 2, Sq: 1, Skv: 9000, D: 64}}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{Kernel: "decode"})
	b := ones(t, op, p)
	plan, err := op.Plan(p, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(5+20*i)*time.Millisecond)
		err := op.Launch(ctx, b)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		queued(t, op, plan, b.O)
	}
}

// ints writes 32-bit integers to a buffer.
func ints(t testing.TB, to device.Buffer, list ...int) {
	t.Helper()
	var data []byte
	for _, n := range list {
		data = binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	if err := to.Write(0, data); err != nil {
		t.Fatal(err)
	}
}

// TestPlanReadsLengthsOnTheDevice captures a plan in a graph and replays it with other lengths and
// other pages.
func TestPlanReadsLengthsOnTheDevice(t *testing.T) {
	dev := open(t, ptx.SM89)
	s := newServer(t, dev, 3, 64)
	// Page n has values of V that tell the page: 2^-n.
	pages := make([]byte, s.b.V.Size())
	for i := range pages {
		pages[i] = byte(0x38 - 8*(i/(16*2*64)))
	}
	if err := s.b.V.Write(0, pages); err != nil {
		t.Fatal(err)
	}
	smaller := s.p
	smaller.B = 2
	plan, err := s.op.Plan(smaller, s.b)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := dev.(device.Streamer).NewGraph(plan.Queue)
	if err != nil {
		t.Fatal(err)
	}
	defer graph.Close()
	stream, err := dev.(device.Streamer).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		lengths, table []int
		want           []uint16 // the first element of each sequence, in f16
	}{
		{[]int{16, 16}, []int{0, -1, -1, -1, 1, -1, -1, -1}, []uint16{0x3c00, 0x3800}},
		{[]int{5, 32}, []int{2, -1, -1, -1, 1, 1, -1, -1}, []uint16{0x3400, 0x3800}},
		{[]int{0, 16}, []int{-1, -1, -1, -1, 3, -1, -1, -1}, []uint16{0, 0x3000}},
	} {
		ints(t, s.b.SeqUsedK, step.lengths...)
		ints(t, s.b.PageTable, step.table...)
		if err := errors.Join(graph.Replay(stream), stream.Sync(context.Background())); err != nil {
			t.Fatal(err)
		}
		o := make([]byte, s.b.O.Size())
		if err := s.b.O.Read(0, o); err != nil {
			t.Fatal(err)
		}
		for i, want := range step.want {
			if got := binary.LittleEndian.Uint16(o[2*i*4*64:]); got != want {
				t.Errorf("lengths %v, pages %v: sequence %d starts with %#x, want %#x", step.lengths, step.table, i, got, want)
			}
		}
	}
}

// TestPlanRefuses gives a plan more than New has prepared.
func TestPlanRefuses(t *testing.T) {
	s := newServer(t, open(t, ptx.SM89), 2, 64)
	for want, change := range map[string]func(*Problem){
		"it needs":           func(p *Problem) { p.B = 400 },
		"a tile has at most": func(p *Problem) { p.Sq = 64 },
		"format_q is bf16":   func(p *Problem) { p.FormatQ = problem.BF16 },
	} {
		p := s.p
		change(&p)
		if _, err := s.op.Plan(p, s.b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	plan, err := s.op.Plan(s.p, s.b)
	if err != nil {
		t.Fatal(err)
	}
	s.op.Close()
	if err := plan.Queue(nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// idle is a stream that does nothing.
type idle struct {
	device.Stream
	launches int
}

func (s *idle) Launch(device.Kernel, device.Launch) error {
	s.launches++
	return nil
}

// TestPlanAllocatesNothing queues a plan many times.
func TestPlanAllocatesNothing(t *testing.T) {
	s := newServer(t, open(t, ptx.SM89), 2, 64)
	plan, err := s.op.Plan(s.p, s.b)
	if err != nil {
		t.Fatal(err)
	}
	var stream device.Stream = &idle{}
	if n := testing.AllocsPerRun(100, func() { plan.Queue(stream) }); n != 0 {
		t.Errorf("%v allocations per launch, want none", n)
	}
	if n := stream.(*idle).launches; n != 101 {
		t.Errorf("%d launches", n)
	}
}

// BenchmarkPlan measures the time of a plan on the host.
func BenchmarkPlan(b *testing.B) {
	s := newServer(b, open(b, ptx.SM89), 64, 64)
	for b.Loop() {
		if _, err := s.op.Plan(s.p, s.b); err != nil {
			b.Fatal(err)
		}
	}
}
