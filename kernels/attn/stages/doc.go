// Package stages writes attention kernels: O = softmax(Q·Kᵀ·scale)·V with Q, K and V in
// one byte per element and one scale per head.
//
//	p := problem.Attention{Shape: problem.Square(1, 8, 512, 64), Format: problem.E4M3}
//	preset, err := stages.FindPreset("stage3b", p.D)
//	k, err := stages.New(p, preset.Config, ptx.SM89)
//
// A [Config] has one field per decision, and [Config.Check] says why a combination is not
// possible. [Presets] are the steps from a simple kernel to a fast one, with one idea each:
//
//	stage0             scalar products: each thread computes a few scores
//	stage1             cp.async loads K and V two tiles ahead; Q·Kᵀ on tensor cores
//	stage2             P·V on tensor cores, with P rounded to f16 in shared memory
//	stage3a            P overwrites the scores, which saves shared memory
//	xor-swizzle        tiles without padding, decoded 16 bytes at a time
//	stage3b            scores and P stay in registers: one warp owns whole rows
//	stage4             a third stage in the cp.async ring
//	stage5             producer warps load and decode, the other warps compute
//	stage5-persistent  as many blocks as fit on the GPU, each computing several tiles
//
// No preset uses LUT or FastExp. They move work from one unit to another: LUT from
// arithmetic to shared memory, FastExp from the special function units to the FMA units.
// That pays only if the unit that is relieved limits the kernel, so measure before you turn
// them on.
//
// # Parity
//
// Presets that do the same arithmetic in the same order give the same bits on the same
// device. Tests check it.
//
//	stage0 = stage1    for u8 only: its scores are sums of integers below 2^24, which are
//	                   exact in any order; tensor cores round sums of floats differently
//	stage1 ≠ stage2    P is rounded to f16
//	stage2 = stage3a = xor-swizzle = stage3b = stage4 = stage5 = stage5-persistent
//
// The last line holds for all pairs of these seven presets and for every format. They use the
// same mma.sync on the same tiles of keys, and the same four lanes add up a row in the same
// order. The fields Stages, VectorDequant, Swizzle, LUT, ReuseScores, FusedSoftmax,
// Producers, Persistent and TileM change no bit. TensorPV, FastExp and TileN do, and so
// does TensorQK for floating-point formats.
//
// # Files
//
//	kernel.go       parameters and roles
//	plan.go         layout of shared memory
//	load.go         loads bytes from global memory; decode.go converts them to f16
//	kv.go           loads and decodes one tile of K and V for the whole block
//	unfused*.go     scores in shared memory: scalar products, or tensor cores
//	fused.go        scores in registers
//	specialised.go  scores in registers, with producer warps
//	softmax.go      the online softmax of all kernels
//	output.go       stores O and the LSE
//
// Work items, masks, the softmax, scales and stores come from package part.
//
// # Numbers
//
// Bytes are converted to f16 without rounding (decode.go), and scores are sums in f32. P is
// f32 on the scalar path and f16 on tensor cores; row sums are of P before rounding. A key
// beyond the end of a sequence has the score -∞. A row whose scores are all -∞ gives zeros
// and an LSE of -∞. A NaN in Q, K or V gives NaN in the output rows that depend on it. The
// scales and the softmax scale may have any sign.
package stages
