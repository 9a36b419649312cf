package attention

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestHopperChosen wants the kernels for Hopper wherever they can, decode for few queries, and
// the stages for the rest. Nothing is run.
func TestHopperChosen(t *testing.T) {
	dev := open(t, ptx.SM90a)
	square := func(b, h, s, d int) Problem {
		return Problem{Shape: Square(b, h, s, d), Format: problem.E4M3}
	}
	with := func(p Problem, change func(*Problem)) Problem {
		change(&p)
		return p
	}
	for _, c := range []struct {
		p    Problem
		name string
	}{
		{square(1, 8, 512, 64), "hopper"},
		{square(4, 16, 4096, 128), "hopper"},
		{with(square(1, 1, 1, 64), func(p *Problem) { p.Format = problem.E5M2 }), "hopper"},
		{with(square(1, 8, 777, 128), func(p *Problem) { p.Hkv, p.Causal, p.LSE = 1, true, true }), "hopper"},
		{with(square(1, 8, 1, 64), func(p *Problem) { p.Skv, p.Output = 20000, problem.BF16 }), "decode"},
		{with(square(1, 8, 512, 64), func(p *Problem) { p.Format = problem.U8 }), "stage3b"},
		{with(square(1, 8, 512, 128), func(p *Problem) { p.Format = problem.U8Legacy }), "stage3b"},
	} {
		op := newTestOp(t, dev, c.p, Options{})
		if op.Kernel().Name != c.name {
			t.Errorf("%+v: %s, want %s", c.p, op.Kernel().Name, c.name)
		}
		if want := hopper.Choose(c.p.Filled(), dev.Info().SMs).String(); c.name == "hopper" && op.Kernel().Config["config"] != want {
			t.Errorf("%+v: %s, want %s", c.p, op.Kernel().Config["config"], want)
		}
	}
}

// TestHopperShapes runs problems that the stages do not support, and problems that all kernels
// support.
func TestHopperShapes(t *testing.T) {
	dev := open(t, ptx.SM90a)
	for _, p := range []Problem{
		{Shape: Square(1, 1, 1, 64), Format: problem.E4M3},
		{Shape: Square(2, 2, 65, 64), Format: problem.E5M2, LSE: true, Causal: true},
		{Shape: Shape{B: 1, Hq: 8, Hkv: 1, Sq: 33, Skv: 33, D: 64}, Format: problem.E4M3, Output: problem.BF16, LSE: true},
		{Shape: Shape{B: 2, Hq: 4, Hkv: 2, Sq: 40, Skv: 300, D: 128}, Format: problem.E4M3, Causal: true},
		{Shape: Shape{B: 1, Hq: 2, Hkv: 2, Sq: 130, Skv: 40, D: 128}, Format: problem.E4M3, LSE: true},
		{Shape: Square(1, 2, 300, 64), Format: problem.E4M3}, // a cluster
	} {
		op := newTestOp(t, dev, p, Options{})
		if op.Kernel().Name != "hopper" {
			t.Errorf("%+v: %s", p, op.Kernel().Name)
		}
		in := inputs(t, p)
		right(t, op, in, runFloats(t, op, in), ref.Options{})
	}
}

// TestHopperDesigns asks for each by name.
func TestHopperDesigns(t *testing.T) {
	dev := open(t, ptx.SM90a)
	p := Problem{Shape: Square(1, 2, 100, 64), Format: problem.E4M3, Scale: 0.2}
	in := inputs(t, p)
	for _, d := range hopper.Designs() {
		op := newTestOp(t, dev, p, Options{Kernel: d.Name})
		if op.Kernel().Name != d.Name || !strings.Contains(op.Kernel().PTX, "wgmma") {
			t.Errorf("asked for %s, got %s", d.Name, op.Kernel().Name)
		}
		right(t, op, in, runFloats(t, op, in), ref.Options{Scale: 0.2})
	}
}

// TestHopperScales gives one scale for all heads.
func TestHopperScales(t *testing.T) {
	p := Problem{Shape: Shape{B: 1, Hq: 4, Hkv: 2, Sq: 33, Skv: 33, D: 64}, Format: problem.E4M3}
	op := newTestOp(t, open(t, ptx.SM90a), p, Options{})
	x, err := inputs(t, p).Quantise(codec(p), fp8.PerTensor)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, op, Quantised(x.Q), Quantised(x.K), Quantised(x.V))
	want, err := ref.Attention(context.Background(), x.Q, x.K, x.V, ref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := ref.F32(op.Problem().O(), r.Float32())
	if err != nil {
		t.Fatal(err)
	}
	if e, err := want.Compare(o, ref.CompareOptions{Tol: 0.12}); err != nil || e.Bad > 0 || e.RMSE > 0.016 {
		t.Errorf("one scale: %v, %v", e, err)
	}
}

// TestHopperAgain uses one operation again and again: alone, from goroutines, on a
// stream, and on two sets of the caller's buffers that are under way together. All give
// the bits of their inputs, whatever the order of warps.
func TestHopperAgain(t *testing.T) {
	dev := open(t, ptx.SM90a)
	p := Problem{Shape: Square(1, 2, 260, 64), Format: problem.E4M3, LSE: true} // keys split within the block and over a cluster
	op := newTestOp(t, dev, p, Options{})
	a := inputs(t, p)
	b, err := ref.Generate("uniform", 1, a.Shape)
	if err != nil {
		t.Fatal(err)
	}
	wantA, wantB := runFloats(t, op, a), runFloats(t, op, b)
	right(t, op, a, wantA, ref.Options{})
	right(t, op, b, wantB, ref.Options{})

	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			if r, err := op.Run(context.Background(), F32(a.Q.Data), F32(a.K.Data), F32(a.V.Data)); err != nil || !slices.Equal(r.O, wantA.O) || !slices.Equal(r.LSE, wantA.LSE) {
				t.Errorf("a goroutine's run differs: %v", err)
			}
		})
	}
	wait.Wait()

	s, err := dev.(device.Streamer).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	streamed := newTestOp(t, dev, p, Options{Stream: s})
	second := newTestOp(t, dev, p, Options{Stream: s}) // its buffers are the second set
	if r := runFloats(t, streamed, a); !slices.Equal(r.O, wantA.O) {
		t.Error("a stream gives other bits")
	}
	runFloats(t, second, b)
	o := [2][]byte{make([]byte, len(wantA.O)), make([]byte, len(wantA.O))}
	for i, set := range []Buffers{streamed.own, second.own} {
		if err := errors.Join(set.O.Write(0, make([]byte, len(o[i]))), op.Queue(s, set), s.Read(set.O, 0, o[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o[0], wantA.O) || !slices.Equal(o[1], wantB.O) {
		t.Error("queued on two sets of buffers it gives other bits")
	}
	if *deviceName != "" {
		return
	}
	other, err := emu.New(ptx.SM90a, emu.Options{Schedule: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r := runFloats(t, newTestOp(t, other, p, Options{}), a); !slices.Equal(r.O, wantA.O) {
		t.Error("another order of warps gives other bits")
	}
}

// TestHopperRefuses gives K the shape of Q where it has its own.
func TestHopperRefuses(t *testing.T) {
	p := Problem{Shape: Shape{B: 1, Hq: 2, Hkv: 1, Sq: 3, Skv: 5, D: 64}, Format: problem.E4M3}
	op := newTestOp(t, open(t, ptx.SM90a), p, Options{})
	in := inputs(t, p)
	_, err := op.Run(context.Background(), F32(in.Q.Data), F32(in.Q.Data), F32(in.V.Data))
	if err == nil || !strings.Contains(err.Error(), "K: 384 elements are given, but [1,1,5,64] has 320") {
		t.Error(err)
	}
	run(t, op, F32(in.Q.Data), F32(in.K.Data), F32(in.V.Data))
	b := op.own
	b.V = b.Vs
	if err := op.Launch(context.Background(), b); err == nil || !strings.Contains(err.Error(), "buffer v has 4 bytes, it needs 320") {
		t.Error(err)
	}
}
