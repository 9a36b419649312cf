package rival_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/examples"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestCard times a kernel of ours and the attention of PyTorch in turns, in two processes on one GPU.
// It needs a GPU and PyTorch.
func TestCard(t *testing.T) {
	if _, err := cuda.List(); err != nil {
		t.Skip(err)
	}
	r, err := rival.Start(t.Context(), "torch", rival.Options{})
	if errors.Is(err, rival.ErrMissing) {
		t.Skip(err)
	}
	check(t, err)
	defer r.Close()
	p, err := r.Prepare(t.Context(), rival.Case{Shape: problem.Square(1, 8, 512, 64), DType: "f16", Implementation: "flash"})
	check(t, err)
	theirs, err := p.Candidate(t.Context(), timing.Graph, timing.Warm)
	check(t, err)

	plan := timing.Plan{Stop: timing.Stop{Least: 60, Most: 100, Time: 20 * time.Second}}
	alone, err := timing.Interleave(t.Context(), plan, theirs)
	check(t, err)
	beside, err := timing.Interleave(t.Context(), plan, ours(t), theirs)
	check(t, err)
	a, b := alone.Summary(0).P50, beside.Summary(1).P50
	t.Logf("%s: alone %.2f µs, beside ours %.2f µs; ours %.2f µs", theirs.Name(), a, b, beside.Summary(0).P50)
	if ratio := b / a; ratio < 0.9 || ratio > 1.1 {
		t.Errorf("beside ours it takes %.2f of the time", ratio)
	}

	out, err := p.Output(t.Context(), true)
	check(t, err)
	if out.Error.Max == nil || *out.Error.Max > 0.01 || out.Checksum.Bad > 0 || len(out.Values) != 8*512*64 {
		t.Errorf("%+v, %d values", out.Error, len(out.Values))
	}
}

// TestCardFiles gives PyTorch inputs whose result is known: V is 1, so O is 1.
func TestCardFiles(t *testing.T) {
	if _, err := cuda.List(); err != nil {
		t.Skip(err)
	}
	r, err := rival.Start(t.Context(), "torch", rival.Options{})
	if errors.Is(err, rival.ErrMissing) {
		t.Skip(err)
	}
	check(t, err)
	defer r.Close()
	file := filepath.Join(t.TempDir(), "ones.f16")
	const n = 64 * 64
	data := make([]byte, 0, 2*n)
	for range n {
		data = append(data, 0x00, 0x3c) // 1.0
	}
	check(t, os.WriteFile(file, data, 0o644))
	p, err := r.Prepare(t.Context(), rival.Case{Shape: problem.Square(1, 1, 64, 64), DType: "bf16", Implementation: "math",
		Inputs: &rival.Inputs{Q: file, K: file, V: file, DType: "f16"}})
	check(t, err)
	out, err := p.Output(t.Context(), true)
	check(t, err)
	for i, v := range out.Values {
		if math.Abs(float64(v)-1) > 0.01 {
			t.Fatalf("O[%d] = %v", i, v)
		}
	}
}

// TestCardRight compares every implementation of every installed library with float64, with causal
// masks and shared heads.
func TestCardRight(t *testing.T) {
	if _, err := cuda.List(); err != nil {
		t.Skip(err)
	}
	for _, library := range rival.Libraries {
		t.Run(library, func(t *testing.T) {
			r, err := rival.Start(t.Context(), library, rival.Options{})
			if errors.Is(err, rival.ErrMissing) {
				t.Skip(err)
			}
			check(t, err)
			defer r.Close()
			for _, i := range r.Hello().Implementations {
				for _, dtype := range i.DTypes {
					for _, shape := range []problem.Shape{problem.Square(1, 2, 256, 64), {B: 2, Hq: 8, Hkv: 2, Sq: 512, Skv: 512, D: 128}} {
						right(t, r, rival.Case{Shape: shape, Causal: true, DType: dtype, Implementation: i.Name})
					}
				}
			}
		})
	}
}

// right checks one case. P is rounded to two or three bits in FP8, and rows that see one key
// have its V, which cuDNN rounds as well.
func right(t *testing.T, r *rival.Rival, c rival.Case) {
	t.Helper()
	most := map[string]float64{"f16": 0.003, "bf16": 0.02, "e4m3": 0.2, "e5m2": 0.4}[c.DType]
	p, err := r.Prepare(t.Context(), c)
	if errors.Is(err, rival.ErrUnsupported) {
		t.Logf("%v, causal %t: %v", c.Shape, c.Causal, err)
		return
	}
	if err != nil {
		t.Errorf("%v, causal %t: %v", c.Shape, c.Causal, err)
		return
	}
	defer p.Close()
	out, err := p.Output(t.Context(), false)
	check(t, err)
	if out.Error.Max == nil || *out.Error.Max > most || out.Checksum.Bad > 0 {
		t.Errorf("%s on %v, causal %t: %d bad, error %v", p.Name(), c.Shape, c.Causal, out.Checksum.Bad, out.Error)
		return
	}
	t.Logf("%s on %v, causal %t: error %.2g", p.Name(), c.Shape, c.Causal, *out.Error.Max)
}

// ours is saxpy over a megabyte.
func ours(t *testing.T) timing.Candidate {
	t.Helper()
	dev, err := cuda.Open(0)
	check(t, err)
	t.Cleanup(func() { dev.Close() })
	text, err := examples.Saxpy().PTX()
	check(t, err)
	m, err := dev.Load("saxpy.ptx", text)
	check(t, err)
	k, err := m.Kernel("saxpy")
	check(t, err)
	const n = 1 << 18
	x, err := dev.Alloc(4 * n)
	check(t, err)
	y, err := dev.Alloc(4 * n)
	check(t, err)
	tm, err := timing.New(dev)
	check(t, err)
	t.Cleanup(func() { tm.Close() })
	c, err := tm.GraphReplay(t.Context(), timing.Launches("saxpy", k, 8*n, device.Launch{
		Grid: device.D(n / 256), Block: device.D(256),
		Params: []device.Param{device.Ptr(x), device.Ptr(y), device.F32(0.5), device.U32(n)},
	}), timing.Warm, 0)
	check(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
