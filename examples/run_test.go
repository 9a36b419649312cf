package examples

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

// rig runs one example on an emulated GPU.
type rig struct {
	t   *testing.T
	dev device.Device
}

// buffer returns a device buffer with data.
func (r *rig) buffer(data []byte) device.Buffer {
	r.t.Helper()
	b, err := r.dev.Alloc(int64(len(data)))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := b.Write(0, data); err != nil {
		r.t.Fatal(err)
	}
	return b
}

// tensor returns the tensor map of a matrix with the given numbers of columns and rows.
func (r *rig) tensor(t ptx.Type, b device.Buffer, cols, rows uint64, box []uint32, s device.Swizzle) device.Param {
	r.t.Helper()
	m, err := r.dev.TensorMap(device.TensorDesc{
		Type: t, Addr: b.Addr(), Dims: []uint64{cols, rows}, Strides: []uint64{cols * uint64(t.Bytes())}, Box: box, Swizzle: s,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return m.Param()
}

func (r *rig) launch(k *build.Kernel, grid, block device.Dim, params ...device.Param) {
	r.t.Helper()
	text, err := k.PTX()
	if err != nil {
		r.t.Fatal(err)
	}
	mod, err := r.dev.Load(k.Name()+".ptx", text)
	if err != nil {
		r.t.Fatal(err)
	}
	kernel, err := mod.Kernel(k.Name())
	if err != nil {
		r.t.Fatal(err)
	}
	if err := kernel.Launch(context.Background(), device.Launch{Grid: grid, Block: block, Params: params}); err != nil {
		r.t.Fatal(err)
	}
}

// want compares a buffer of floats, bit by bit.
func (r *rig) want(b device.Buffer, want []float32) {
	r.t.Helper()
	got := make([]byte, b.Size())
	if err := b.Read(0, got); err != nil {
		r.t.Fatal(err)
	}
	if len(got) != 4*len(want) {
		r.t.Fatalf("a buffer of %d bytes, want %d floats", len(got), len(want))
	}
	for i, w := range want {
		if g := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])); math.Float32bits(g) != math.Float32bits(w) {
			r.t.Fatalf("element %d is %v, want %v", i, g, w)
		}
	}
}

// floats returns the bytes of numbers.
func floats(vs []float32) (b []byte) {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// poisoned returns n floats with a value that is never a result.
func poisoned(n int) []byte {
	b := make([]byte, 4*n)
	for i := range b {
		b[i] = 0xff
	}
	return b
}

// whole returns small integers, whose sums and products are exact in any order.
func whole(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	vs := make([]float32, n)
	for i := range vs {
		vs[i] = float32(r.IntN(17) - 8)
	}
	return vs
}

// product returns A·Bᵀ of an m×kdim matrix and an n×kdim matrix.
func product(a, b []float32, m, n, kdim int) []float32 {
	c := make([]float32, m*n)
	for i := range m {
		for j := range n {
			for k := range kdim {
				c[i*n+j] += a[i*kdim+k] * b[j*kdim+k]
			}
		}
	}
	return c
}

// TestRun runs every example on the emulator of its target under several schedules, and
// compares the results with the same computation in Go.
func TestRun(t *testing.T) {
	runs := map[string]func(*rig, *build.Kernel){
		"saxpy": runSaxpy, "reduce": runReduce, "transpose": runTranspose, "pipeline": runPipeline,
		"matmul": runMatmul, "ring": runRing, "wgmma": runWgmma,
	}
	for _, k := range All() {
		run := runs[k.Name()]
		if run == nil {
			t.Errorf("no test runs %s", k.Name())
			continue
		}
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s/schedule%d", k.Name(), seed), func(t *testing.T) {
				dev, err := emu.New(k.Target(), emu.Options{Schedule: seed})
				if err != nil {
					t.Fatal(err)
				}
				run(&rig{t, dev}, k)
			})
		}
	}
}

func runSaxpy(r *rig, k *build.Kernel) {
	const n, a = 1000, float32(0.1)
	x, y := make([]float32, n), make([]float32, n)
	want := make([]float32, n)
	for i := range want {
		x[i], y[i] = float32(i)*1.7, float32(n-i)*0.3
		exact := new(big.Float).SetPrec(200).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(x[i])))
		want[i], _ = exact.Add(exact, big.NewFloat(float64(y[i]))).Float32() // rounded once
	}
	yb := r.buffer(floats(y))
	r.launch(k, device.D(4), device.D(256), device.Ptr(r.buffer(floats(x))), device.Ptr(yb), device.F32(a), device.U32(n))
	r.want(yb, want)
}

func runReduce(r *rig, k *build.Kernel) {
	const n = 10007
	x := whole(1, n)
	sum := float32(0)
	for _, v := range x {
		sum += v
	}
	total := r.buffer(make([]byte, 4))
	r.launch(k, device.D(5), device.D(256), device.Ptr(r.buffer(floats(x))), device.Ptr(total), device.U32(n))
	r.want(total, []float32{sum})
}

func runTranspose(r *rig, k *build.Kernel) {
	const rows, cols = 70, 45
	in, want := make([]float32, rows*cols), make([]float32, rows*cols)
	for i := range in {
		in[i] = float32(i)
		want[i%cols*rows+i/cols] = float32(i)
	}
	out := r.buffer(poisoned(rows * cols))
	r.launch(k, device.D((cols+31)/32, (rows+31)/32), device.D(32, 8),
		device.Ptr(r.buffer(floats(in))), device.Ptr(out), device.U32(rows), device.U32(cols))
	r.want(out, want)
}

func runPipeline(r *rig, k *build.Kernel) {
	const tiles, tile = 7, 1024
	in, want := make([]float32, tiles*tile), make([]float32, tiles*tile)
	for i := range in {
		in[i] = float32(i)
		want[i/tile*tile+tile-1-i%tile] = float32(i)
	}
	out := r.buffer(poisoned(tiles * tile))
	r.launch(k, device.D(3), device.D(256), device.Ptr(r.buffer(floats(in))), device.Ptr(out), device.U32(tiles))
	r.want(out, want)
}

func runMatmul(r *rig, k *build.Kernel) {
	const m, n, kdim = 128, 64, 96
	a, bt := whole(2, m*kdim), whole(3, n*kdim)
	half := func(vs []float32) (b []byte) {
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint16(b, scalar.CvtF16F32(math.Float32bits(v)))
		}
		return b
	}
	b := make([]float32, kdim*n) // stored by rows; product needs it by columns
	for i, v := range bt {
		b[i%kdim*n+i/kdim] = v
	}
	c := r.buffer(poisoned(m * n))
	r.launch(k, device.D(n/64, m/64), device.D(128),
		device.Ptr(r.buffer(half(a))), device.Ptr(r.buffer(half(b))), device.Ptr(c), device.U32(n), device.U32(kdim))
	r.want(c, product(a, bt, m, n, kdim))
}

func runRing(r *rig, k *build.Kernel) {
	const tiles, tile = 11, 512
	in, want := make([]float32, tiles*tile), make([]float32, tiles*tile)
	for i := range in {
		in[i], want[i] = float32(i), float32(2*i)
	}
	src := r.tensor(ptx.F32, r.buffer(floats(in)), 64, 8*tiles, []uint32{64, 8}, device.NoSwizzle)
	dst := r.buffer(poisoned(tiles * tile))
	r.launch(k, device.D(2), device.D(160), src, device.Ptr(dst), device.U32(tiles))
	r.want(dst, want)
}

func runWgmma(r *rig, k *build.Kernel) {
	const m, n, kdim = 64, 64, 128
	a, b := whole(4, m*kdim), whole(5, n*kdim)
	quarter := func(vs []float32) device.Param {
		var data []byte
		for _, v := range vs {
			data = append(data, scalar.CvtE4M3F32(math.Float32bits(v)))
		}
		return r.tensor(ptx.U8, r.buffer(data), kdim, 64, []uint32{kdim, 64}, device.Swizzle128B)
	}
	d := r.buffer(poisoned(m * n))
	r.launch(k, device.D(1), device.D(128), quarter(a), quarter(b), device.Ptr(d))
	r.want(d, product(a, b, m, n, kdim))
}
