package cuda_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

type (
	b32 = build.B32
	f32 = build.F32
	h2  = build.F16x2
)

// products returns one kernel for each type of mma.sync and wgmma.
func products() (ps []*product) {
	mma := func(name, kind, cKind string, factors, words int, f func(k *build.Kernel, w []b32) []b32) {
		ps = append(ps, &product{mmaKernel(name, factors, words, f), kind, cKind, 0, factors, words})
	}
	mma("f16_f32_k16", "f16", "f32", 6, 4, func(k *build.Kernel, w []b32) []b32 {
		f := build.MmaForm{Shape: build.M16n8k16, D: ptx.F32, A: ptx.F16, B: ptx.F16}
		return cast[b32](k.Mma(f, [4]b32(w), [2]b32(w[4:]), cast[f32](w[6:])).F32())
	})
	mma("f16_f16_k16", "f16", "f16", 6, 2, func(k *build.Kernel, w []b32) []b32 {
		f := build.MmaForm{Shape: build.M16n8k16, D: ptx.F16, A: ptx.F16, B: ptx.F16}
		return cast[b32](k.Mma(f, [4]b32(w), [2]b32(w[4:]), cast[h2](w[6:])).F16x2())
	})
	mma("bf16_k16", "bf16", "f32", 6, 4, func(k *build.Kernel, w []b32) []b32 {
		f := build.MmaForm{Shape: build.M16n8k16, D: ptx.F32, A: ptx.BF16, B: ptx.BF16}
		return cast[b32](k.Mma(f, [4]b32(w), [2]b32(w[4:]), cast[f32](w[6:])).F32())
	})
	mma("tf32_k8", "f32", "f32", 6, 4, func(k *build.Kernel, w []b32) []b32 {
		f := build.MmaForm{Shape: build.M16n8k8, D: ptx.F32, A: ptx.TF32, B: ptx.TF32}
		return cast[b32](k.Mma(f, [4]b32(w), [2]b32(w[4:]), cast[f32](w[6:])).F32())
	})
	mma("e4m3_f32_k32", "e4m3", "f32", 6, 4, func(k *build.Kernel, w []b32) []b32 {
		f := build.MmaForm{Shape: build.M16n8k32, D: ptx.F32, A: ptx.E4M3, B: ptx.E4M3}
		return cast[b32](k.Mma(f, [4]b32(w), [2]b32(w[4:]), cast[f32](w[6:])).F32())
	})
	mma("e5m2_f16_k32", "e5m2", "f16", 6, 2, func(k *build.Kernel, w []b32) []b32 {
		f := build.MmaForm{Shape: build.M16n8k32, D: ptx.F16, A: ptx.E5M2, B: ptx.E5M2}
		return cast[b32](k.Mma(f, [4]b32(w), [2]b32(w[4:]), cast[h2](w[6:])).F16x2())
	})
	mma("e4m3_f32_k16", "e4m3", "f32", 3, 4, func(k *build.Kernel, w []b32) []b32 {
		f := build.MmaForm{Shape: build.M16n8k16, D: ptx.F32, A: ptx.E4M3, B: ptx.E4M3}
		return cast[b32](k.Mma(f, [2]b32(w), [1]b32(w[2:]), cast[f32](w[3:])).F32())
	})
	for _, n := range []int{8, 64} {
		ps = append(ps, wgmmaProducts(n)...)
	}
	return ps
}

// wgmmaProducts returns kernels with A in registers and n rows of 32 bytes of B in shared
// memory.
func wgmmaProducts(n int) (ps []*product) {
	single := func(name, kind string, f func(k *build.Kernel, d []*build.Var[f32], a [4]b32, b build.U64)) {
		k := wgmmaKernel(fmt.Sprintf("wgmma_%s_n%d", name, n), n, n/2, f)
		ps = append(ps, &product{k, kind, "f32", 8 * n, 4, n / 2})
	}
	half := func(name, kind string, f func(k *build.Kernel, d []*build.Var[h2], a [4]b32, b build.U64)) {
		k := wgmmaKernel(fmt.Sprintf("wgmma_%s_n%d", name, n), n, n/4, f)
		ps = append(ps, &product{k, kind, "f16", 8 * n, 4, n / 4})
	}
	single("f16_f32", "f16", func(k *build.Kernel, d []*build.Var[f32], a [4]b32, b build.U64) {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.F16, B: ptx.F16}, d, a, b, k.Pred(true))
	})
	half("f16_f16", "f16", func(k *build.Kernel, d []*build.Var[h2], a [4]b32, b build.U64) {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.F16, B: ptx.F16}, d, a, b, k.Pred(true))
	})
	single("bf16", "bf16", func(k *build.Kernel, d []*build.Var[f32], a [4]b32, b build.U64) {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.BF16, B: ptx.BF16}, d, a, b, k.Pred(true))
	})
	single("tf32", "f32", func(k *build.Kernel, d []*build.Var[f32], a [4]b32, b build.U64) {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.TF32, B: ptx.TF32}, d, a, b, k.Pred(true))
	})
	single("e4m3", "e4m3", func(k *build.Kernel, d []*build.Var[f32], a [4]b32, b build.U64) {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}, d, a, b, k.Pred(true))
	})
	single("e5m2_minus", "e5m2", func(k *build.Kernel, d []*build.Var[f32], a [4]b32, b build.U64) {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.E5M2, B: ptx.E5M2, NegateA: true}, d, a, b, k.Pred(true))
	})
	half("e4m3_f16", "e4m3", func(k *build.Kernel, d []*build.Var[h2], a [4]b32, b build.U64) {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ptx.E4M3, B: ptx.E4M3}, d, a, b, k.Pred(true))
	})
	return ps
}

// mmaKernel returns a kernel in which each thread loads its factor and accumulator words.
func mmaKernel(name string, factors, words int, f func(k *build.Kernel, w []b32) []b32) *build.Kernel {
	k := build.New(name, ptx.SM90a)
	k.Version(8, 7)
	in, out := build.ParamGlobal[build.B32](k, "in"), build.ParamGlobal[build.B32](k, "out")
	i := k.CtaidX().MadLo(k.NtidX(), k.TidX())
	w := load(in.At(i.MulLo(factors+words)), factors+words)
	store(out.At(i.MulLo(words)), f(k, w))
	return k
}

// wgmmaKernel returns a kernel that copies the tile to shared memory as core matrices of 8
// rows by 16 bytes, without a swizzle, and multiplies once.
func wgmmaKernel[T build.Value](name string, n, words int, f func(k *build.Kernel, d []*build.Var[T], a [4]b32, b build.U64)) *build.Kernel {
	k := build.New(name, ptx.SM90a)
	in, out := build.ParamGlobal[build.B32](k, "in"), build.ParamGlobal[build.B32](k, "out")
	tile := 8 * n
	shared := build.SharedAlign(build.SharedArray[build.B32](k, "tile", tile), 1024)
	t := k.TidX()
	first := k.CtaidX().MulLo(tile + 128*(4+words))
	k.Loop(t, tile, 128, func(i build.U32) { shared.At(i).St(in.At(first.Add(i)).Ld()) })
	k.FenceProxyAsync()
	k.SyncThreads()

	w := load(in.At(first.Add(tile).Add(t.MulLo(4+words))), 4+words)
	var d []*build.Var[T]
	for _, c := range cast[T](w[4:]) {
		d = append(d, build.Vars(c, 1)...)
	}
	// Core matrices are 128 bytes apart along the rows. The second half of K follows them.
	start := shared.Addr().Shr(4).And(0x3fff).CvtU64()
	descriptor := start.Or(uint64(n/8*128>>4)<<16 | 128>>4<<32)
	k.WgmmaFence()
	f(k, d, [4]b32(w), descriptor)
	k.WgmmaCommitGroup()
	k.WgmmaWaitGroup(0)
	var result []T
	for _, v := range d {
		result = append(result, v.Get())
	}
	store(out.At(k.CtaidX().MadLo(128, t).MulLo(words)), cast[b32](result))
	return k
}

func load(p build.Global[b32], n int) (w []b32) {
	for i := range n {
		w = append(w, p.Plus(i).Ld())
	}
	return w
}

func store(p build.Global[b32], w []b32) {
	for i := range w {
		p.Plus(i).St(w[i])
	}
}

// cast converts values to another type of the same size.
func cast[T, F build.Value](from []F) (to []T) {
	for _, v := range from {
		to = append(to, build.Cast[T](v))
	}
	return to
}
