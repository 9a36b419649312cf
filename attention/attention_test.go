package attention

import (
	"context"
	"errors"
	"flag"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// deviceName lets what needs no particular target run on a GPU: -device cuda:0.
var deviceName = flag.String("device", "", "run on this device instead of an emulated sm_89 or sm_90a")

func open(t testing.TB, target ptx.Target) device.Device {
	t.Helper()
	if *deviceName == "" {
		return emulated(t, target)
	}
	dev, err := device.Open(*deviceName)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	if !dev.Info().Target.Runs(target) {
		t.Skipf("%s does not run code for %s", dev.Info().Name, target)
	}
	return dev
}

func emulated(t testing.TB, target ptx.Target) device.Device {
	t.Helper()
	dev, err := emu.New(target, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

func newTestOp(t *testing.T, dev device.Device, p Problem, opt Options) *Op {
	t.Helper()
	op, err := NewWith(dev, p, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := op.Close(); err != nil {
			t.Error(err)
		}
	})
	return op
}

func inputs(t *testing.T, p Problem) *ref.Inputs {
	t.Helper()
	p = p.Filled()
	in, err := ref.Generate("normal", 0, p.Shape)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func run(t *testing.T, op *Op, q, k, v Input) *Result {
	t.Helper()
	r, err := op.Run(context.Background(), q, k, v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func runFloats(t *testing.T, op *Op, in *ref.Inputs) *Result {
	t.Helper()
	return run(t, op, F32(in.Q.Data), F32(in.K.Data), F32(in.V.Data))
}

// right compares a result with float64 attention of the quantised inputs. The kernels for Ada and
// Hopper round P to e4m3, half a step in sixteen at most.
func right(t *testing.T, op *Op, in *ref.Inputs, r *Result, opt ref.Options) {
	t.Helper()
	p := op.Problem()
	x, err := in.Quantise(codec(p), fp8.PerHead)
	if err != nil {
		t.Fatal(err)
	}
	opt.Causal = p.Causal
	want, err := ref.Attention(context.Background(), x.Q, x.K, x.V, opt)
	if err != nil {
		t.Fatal(err)
	}
	view, tol, rms := ref.F16, 0.004, 0.004
	if p.Output == problem.BF16 {
		view, tol = ref.BF16, 0.02
	}
	if op.Kernel().Claims["p"] == string(problem.E4M3) {
		tol, rms = 0.12, 0.016
	}
	got, err := view(op.Problem().O(), r.O)
	if err != nil {
		t.Fatal(err)
	}
	e, err := want.Compare(got, ref.CompareOptions{Tol: tol})
	if err != nil {
		t.Fatal(err)
	}
	if e.Bad > 0 || e.RMSE > rms {
		t.Errorf("%s of %+v: %v", op.Kernel().Name, p, e)
	}
	if p.LSE {
		e, err := want.CompareLSE(r.LSE, ref.CompareOptions{Tol: 0.005})
		if err != nil || e.Bad > 0 {
			t.Errorf("%s of %+v: lse %v, %v", op.Kernel().Name, p, e, err)
		}
	}
}

func TestShapes(t *testing.T) {
	dev := open(t, ptx.SM89)
	for _, p := range []Problem{
		{Shape: Square(1, 1, 1, 64), Format: problem.E4M3},
		{Shape: Square(2, 2, 17, 64), Format: problem.U8, LSE: true},
		{Shape: Square(1, 3, 33, 64), Format: problem.E5M2, Output: problem.BF16},
		{Shape: Square(2, 1, 100, 64), Format: problem.E4M3, LSE: true},
		{Shape: Square(1, 2, 33, 128), Format: problem.U8Legacy},
	} {
		op := newTestOp(t, dev, p, Options{})
		in := inputs(t, p)
		right(t, op, in, runFloats(t, op, in), ref.Options{})
	}
}

// TestAgain runs one operation twice with different inputs: buffers are used again,
// results are not.
func TestAgain(t *testing.T) {
	p := Problem{Shape: Square(1, 2, 33, 64), Format: problem.U8}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{})
	in := inputs(t, p)
	first := runFloats(t, op, in)
	keep := slices.Clone(first.O)
	other, err := ref.Generate("uniform", 1, in.Shape)
	if err != nil {
		t.Fatal(err)
	}
	right(t, op, other, runFloats(t, op, other), ref.Options{})
	if !slices.Equal(first.O, keep) {
		t.Error("the second run changed the first result")
	}
	if again := runFloats(t, op, in); !slices.Equal(again.O, keep) {
		t.Error("the same inputs give other bits")
	}
}

// TestPresets asks for each stage by its name, and wants the kernel for the GPU when it asks for
// none.
func TestPresets(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{Shape: Square(1, 1, 20, 64), Format: problem.E4M3}
	in := inputs(t, p)
	for _, v := range (stages.Family{}).Variants() {
		name := v.Name
		op := newTestOp(t, dev, p, Options{Kernel: name})
		if op.Kernel().Name != name || op.Kernel().Config["config"] == "" || !strings.Contains(op.Kernel().PTX, ".entry") {
			t.Errorf("asked for %s, got %s", name, op.Kernel().Name)
		}
		right(t, op, in, runFloats(t, op, in), ref.Options{})
	}
	want := "ada"
	if dev.Info().Target.Runs(ptx.SM90a) {
		want = "hopper"
	}
	if op := newTestOp(t, dev, p, Options{}); op.Kernel().Name != want {
		t.Errorf("the best kernel is %s, want %s", op.Kernel().Name, want)
	}
}

func TestScale(t *testing.T) {
	p := Problem{Shape: Square(1, 1, 40, 64), Format: problem.U8, LSE: true, Scale: 0.5}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{})
	in := inputs(t, p)
	right(t, op, in, runFloats(t, op, in), ref.Options{Scale: 0.5})
}

// TestInputs wants the same bits of the same numbers, however they are given.
func TestInputs(t *testing.T) {
	p := Problem{Shape: Square(1, 2, 33, 64), Format: problem.E5M2}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{Kernel: "stage3b"})
	in := inputs(t, p)
	want := runFloats(t, op, in)
	halves := func(x []float32) Input {
		b := make([]uint16, len(x))
		for i, v := range x {
			b[i] = fp8.F16(v)
		}
		return F16(b)
	}
	if got := run(t, op, halves(in.Q.Data), halves(in.K.Data), halves(in.V.Data)); !slices.Equal(got.O, want.O) {
		t.Error("halves give other bits")
	}
	x, err := in.Quantise(codec(p), fp8.PerHead)
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, op, Quantised(x.Q), Quantised(x.K), F32(in.V.Data)); !slices.Equal(got.O, want.O) {
		t.Error("quantised tensors give other bits")
	}
	// A scale a block is a scale a head where each head is one block.
	blocks, err := in.Quantise(codec(p), fp8.PerBlock(64))
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, op, Quantised(blocks.Q), Quantised(blocks.K), Quantised(blocks.V)); !slices.Equal(got.O, want.O) {
		t.Error("blocks as large as heads give other bits")
	}
	// Numbers that bfloat16 holds, and one scale for all heads.
	round := func(x *ref.Floats) Input {
		b := make([]uint16, len(x.Data))
		for i, v := range x.Data {
			b[i] = fp8.BF16(v)
			x.Data[i] = fp8.FromBF16(b[i])
		}
		return BF16(b)
	}
	got := run(t, op, round(in.Q), round(in.K), round(in.V))
	if want := runFloats(t, op, in); !slices.Equal(got.O, want.O) {
		t.Error("bfloat16s give other bits")
	}
	one, err := in.Quantise(codec(p), fp8.PerTensor)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, op, Quantised(one.Q), Quantised(one.K), Quantised(one.V))
	ideal, err := ref.Attention(context.Background(), one.Q, one.K, one.V, ref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := ref.F32(op.Problem().O(), r.Float32())
	if err != nil {
		t.Fatal(err)
	}
	if e, err := ideal.Compare(o, ref.CompareOptions{Tol: 0.004}); err != nil || e.Bad > 0 {
		t.Errorf("one scale: %v, %v", e, err)
	}
}

// TestStream wants the same bits of a run on a stream, of a kernel queued among the
// caller's own work, and of a launch on the caller's buffers.
func TestStream(t *testing.T) {
	dev := open(t, ptx.SM89)
	s, err := dev.(device.Streamer).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Shape: Square(1, 2, 33, 64), Format: problem.U8, LSE: true}
	in := inputs(t, p)
	want := runFloats(t, newTestOp(t, dev, p, Options{}), in)
	op := newTestOp(t, dev, p, Options{Stream: s})
	got := runFloats(t, op, in)
	if !slices.Equal(got.O, want.O) || !slices.Equal(got.LSE, want.LSE) {
		t.Error("a stream gives other bits")
	}
	// The buffers that Run filled serve as the caller's.
	b := op.own
	o := make([]byte, len(want.O))
	for name, launch := range map[string]func() error{
		"queue":  func() error { return errors.Join(op.Queue(s, b), s.Read(b.O, 0, o), s.Sync(context.Background())) },
		"launch": func() error { return errors.Join(op.Launch(context.Background(), b), b.O.Read(0, o)) },
	} {
		if err := b.O.Write(0, make([]byte, len(o))); err != nil {
			t.Fatal(err)
		}
		if err := launch(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(o, want.O) {
			t.Errorf("%s gives other bits", name)
		}
	}
}

func TestGoroutines(t *testing.T) {
	p := Problem{Shape: Square(1, 1, 17, 64), Format: problem.U8}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{})
	in := inputs(t, p)
	want := runFloats(t, op, in)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			r, err := op.Run(context.Background(), F32(in.Q.Data), F32(in.K.Data), F32(in.V.Data))
			if err != nil || !slices.Equal(r.O, want.O) {
				t.Errorf("a goroutine's run differs: %v", err)
			}
		})
	}
	wait.Wait()
}

func TestClosed(t *testing.T) {
	p := Problem{Shape: Square(1, 1, 1, 64), Format: problem.U8}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{})
	in := inputs(t, p)
	runFloats(t, op, in)
	if err := errors.Join(op.Close(), op.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := op.Run(context.Background(), F32(in.Q.Data), F32(in.K.Data), F32(in.V.Data)); !errors.Is(err, ErrClosed) {
		t.Errorf("a run after Close: %v", err)
	}
	if err := op.Launch(context.Background(), Buffers{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a launch after Close: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	p := Problem{Shape: Square(1, 1, 17, 64), Format: problem.U8}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{})
	in := inputs(t, p)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := op.Run(ctx, F32(in.Q.Data), F32(in.K.Data), F32(in.V.Data)); !errors.Is(err, context.Canceled) {
		t.Errorf("a run with a cancelled context: %v", err)
	}
	right(t, op, in, runFloats(t, op, in), ref.Options{}) // and it goes on
	if err := op.Launch(ctx, op.own); !errors.Is(err, context.Canceled) {
		t.Errorf("a launch with a cancelled context: %v", err)
	}
}

// TestCancelledMeanwhile ends a run that takes an emulator long.
func TestCancelledMeanwhile(t *testing.T) {
	if *deviceName != "" {
		t.Skip("a GPU may be done before")
	}
	p := Problem{Shape: Square(1, 8, 2048, 64), Format: problem.U8}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{Kernel: "stage0"})
	d := op.Problem().O()
	zeros := Quantised(&fp8.Tensor{Format: fp8.U8, Shape: d, Data: make([]byte, d.Len()), Scales: slices.Repeat([]float32{1}, d.H)})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := op.Run(ctx, zeros, zeros, zeros); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a run that ran out of time: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	p := Problem{Shape: Square(1, 1, 16, 64), Format: problem.E4M3}
	for _, c := range []struct {
		target ptx.Target
		opt    Options
		change func(*Problem)
		want   string
	}{
		{ptx.SM89, Options{}, func(p *Problem) { p.D = 80 }, "head dimension 80 is not supported: use 64, 96, 128 or 256"},
		{ptx.SM89, Options{}, func(p *Problem) { p.Sq = 0 }, "must be at least 1"},
		{ptx.SM89, Options{}, func(p *Problem) { p.Format = "e3m4" }, `format "e3m4" is not known`},
		{ptx.SM80, Options{}, func(p *Problem) { p.D = 80 }, "attention: emulated sm_80: no kernel computes this problem: decode: head dimension 80 is not supported: use 64, 96, 128, 192 or 256; hopper: sm_80 does not run code for sm_90a"},
		{ptx.SM90a, Options{}, func(p *Problem) { p.Causal, p.Format = true, problem.U8 }, "hopper: format u8 is not supported: use e4m3 or e5m2; ada: format u8 is not supported: use e4m3 or e5m2; stages: the stages have no causal mask"},
		{ptx.SM90, Options{}, func(p *Problem) { p.Skv, p.Format = 5, problem.U8 }, "ada: format u8 is not supported: use e4m3 or e5m2; stages: the stages need K and V of the shape of Q: K and V have 1 heads and 5 positions, Q has 1 and 16"},
		{ptx.SM89, Options{}, func(p *Problem) { p.Hq, p.Hkv = 3, 2 }, "3 heads of Q cannot share 2 heads of K and V evenly"},
		{ptx.SM90, Options{Kernel: "hopper-split-kv"}, func(*Problem) {}, "hopper-split-kv on emulated sm_90: sm_90 does not run code for sm_90a"},
		{ptx.SM80, Options{Kernel: "stage2"}, func(*Problem) {}, "stage2 on emulated sm_80: sm_80 cannot convert e4m3"},
		{ptx.SM89, Options{Kernel: "stage9"}, func(*Problem) {}, `no kernel is called "stage9": use one of stage0`},
		{ptx.SM89, Options{}, func(p *Problem) { p.Scale = math.NaN() }, "scale NaN is not a finite number above zero"},
		{ptx.SM89, Options{}, func(p *Problem) { p.Scale = -1 }, "scale -1 is not"},
	} {
		p := p
		c.change(&p)
		_, err := NewWith(emulated(t, c.target), p, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	p := Problem{Shape: Square(2, 2, 16, 64), Format: problem.E4M3, LSE: true}
	op := newTestOp(t, open(t, ptx.SM89), p, Options{})
	in := inputs(t, p)
	q, k, v := F32(in.Q.Data), F32(in.K.Data), F32(in.V.Data)
	tensor := func(f fp8.Format, s fp8.Scaling, d fp8.Dims) *fp8.Tensor {
		x, err := fp8.Quantise(f, s, d, in.K.Data)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	d := op.Problem().O()
	spoilt := tensor(fp8.E4M3, fp8.PerHead, d)
	spoilt.Scales[1] = 0
	short := tensor(fp8.E4M3, fp8.PerHead, d)
	short.Scales = short.Scales[1:]
	nan := slices.Clone(in.V.Data)
	nan[64*16+5] = float32(math.NaN())
	for _, c := range []struct {
		q, k, v Input
		want    string
	}{
		{F32(in.Q.Data[1:]), k, v, "attention: Q: 4095 elements are given, but [2,2,16,64] has 4096"},
		{q, F16(make([]uint16, 7)), v, "K: 7 elements are given"},
		{q, k, nil, "V is missing"},
		{q, k, F32(nan), "V: quantise: element [0,1,0,5] is NaN"},
		{q, Quantised(nil), v, "K: the tensor is nil"},
		{q, Quantised(tensor(fp8.E5M2, fp8.PerHead, d)), v, "K: the format of the tensor is e5m2, the problem has e4m3"},
		{q, Quantised(tensor(fp8.E4M3, fp8.PerHead, fp8.Dims{B: 1, H: 4, S: 16, D: 64})), v, "K: the tensor has the extents [1,4,16,64], the problem has [2,2,16,64]"},
		{q, Quantised(spoilt), v, "K: scale 1 is 0"},
		{q, Quantised(short), v, "K: 1 scale,"},
		{q, Quantised(tensor(fp8.E4M3, fp8.PerBlock(16), d)), v, "quantise with fp8.PerHead or fp8.PerTensor"},
	} {
		_, err := op.Run(context.Background(), c.q, c.k, c.v)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	run(t, op, q, k, v)
	b := op.own
	b.LSE = nil
	if err := op.Launch(context.Background(), b); err == nil || !strings.Contains(err.Error(), "buffer lse is missing") {
		t.Error(err)
	}
	b.LSE, b.O = op.own.LSE, b.Q
	if err := op.Launch(context.Background(), b); err == nil || !strings.Contains(err.Error(), "buffer o has 4096 bytes, it needs 8192") {
		t.Error(err)
	}
}
