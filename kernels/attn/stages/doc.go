// Package attn writes attention kernels: O = softmax(Q·Kᵀ·scale)·V with Q, K and V in
// one byte per element and one scale per head.
//
//	p := problem.Attention{Shape: problem.Square(1, 8, 512, 64), Format: problem.E4M3}
//	preset, err := attn.FindPreset("stage3b", p.D)
//	k, err := attn.Build(p, preset.Config, ptx.SM89)
//
// A [Config] has a field for each decision, and [Config.Check] says why a combination
// cannot be. [Presets] are the stages by which such a kernel grows, each for one idea:
//
//	stage0             one thread, a few dot products
//	stage1             bytes come by cp.async two tiles ahead; Q·Kᵀ on tensor cores
//	stage2             P·V on tensor cores, P rounded to f16 in shared memory
//	stage3a            P where the scores were: less shared memory
//	xor-swizzle        tiles without padding, decoded 16 bytes at a time
//	stage3b            scores and P never leave registers: one warp owns whole rows
//	stage4             a third stage in the ring
//	stage5             warps that only load and decode, warps that only compute
//	stage5-persistent  as many blocks as fit, each going on to the next tile
//
// LUT and FastExp are in no preset. They trade one unit of the multiprocessor for
// another, shared memory for arithmetic and multiply-adds for the special function unit,
// and pay only where the one they relieve is what a kernel waits for: measure, then turn
// them on.
//
// # Parity
//
// Presets that do the same arithmetic in the same order agree in every bit, on the same
// device. Tests hold them to it.
//
//	stage0 = stage1    for u8 only, whose scores are sums of whole numbers below 2^24 and
//	                   exact in any order; for floats tensor cores round elsewhere
//	stage1 ≠ stage2    P is rounded to f16
//	stage2 = stage3a = xor-swizzle = stage3b = stage4 = stage5 = stage5-persistent
//
// The last line is all pairs of these seven, in every format: the same mma.sync on the
// same tiles of keys, and a row's sum added by the same four lanes in the same order.
// Of the toggles, Stages, VectorDequant, Swizzle, LUT, ReuseScores, FusedSoftmax,
// Producers, Persistent and TileM change no bit; TensorPV, FastExp and TileN do, and
// TensorQK but for u8.
//
// # How a kernel reads
//
// All kernels share the pieces; the files are in the order of a kernel's life.
//
//	kernel.go       parameters and roles
//	plan.go         what lies where in shared memory
//	load.go         bytes from global memory; decode.go makes halves of them
//	kv.go           a decoded tile of K and V for the whole block, tile by tile
//	unfused*.go     scores in shared memory: scalar products, or tensor cores
//	fused.go        scores in registers
//	specialised.go  fused, with producer warps
//	softmax.go      the online softmax that all of them use
//	output.go       O and the LSE
//
// Work items, masks, the softmax, scales and stores are those of package part.
//
// # Numbers
//
// Bytes become halves without rounding (decode.go) and scores are sums in f32. P is
// f32 on the scalar path and f16 on tensor cores; sums of P are of the unrounded f32.
// A key beyond the end of a sequence has the logit -∞. A NaN in a row of Q, K or V
// comes out in the rows it takes part in; scales and scale are plain factors of any
// sign.
package stages
