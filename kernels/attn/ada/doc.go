// Package ada writes FP8 attention kernels for Ada: O = softmax(Q·Kᵀ·scale)·V on sm_89, with e4m3
// or e5m2 going to the tensor cores as they are. The same kernels run on sm_80 and sm_86 with
// products in f16.
//
//	p := problem.Attention{Shape: problem.Square(1, 8, 512, 64), Format: problem.E4M3}
//	c := ada.Choose(p, 58, false) // an L4 has 58 SMs
//	k, err := ada.New(p, c)
//
// One generator writes all designs. A [Config] describes a design, and [Choose] returns the one
// with the lowest predicted time for a problem. [Throughput] has one warp for each 16 query rows.
// [Latency] splits the keys of 16 query rows over several warps of a block, so that a small problem
// fills the GPU.
//
// # A block
//
// All warps load and compute. cp.async fills a ring of slots with the bytes of K and V, several
// rounds ahead. One barrier per round says that a slot has arrived and that the slot of the round
// before may be filled again. A warp computes, for each KV tile, from the last to the first:
//
//	S = Q·Kᵀ                mma.sync, Q in registers
//	m = rowmax S            keys that a row does not see have the score -∞
//	P = 2^(c·S - c·m + 8)   one fma and one exponential per score
//	T = P·V                 mma.sync, P from registers
//	O = w·O + T             w = 2^(c·m₀ - c·m), where m₀ is the maximum before this tile
//
// If a head has so few keys that all of them fit in shared memory, [Config.Whole] needs no ring: four
// warps start all copies of K and V at the beginning, in the order in which they are needed, and all
// warps wait only for copies. A warp then has at most 128 keys, and the tensor cores add P·V to O. The
// block needs up to 99 KiB of shared memory, so the contract of the kernel states that budget.
//
// attend.go has the loop over the rounds and whole.go the rounds without a ring. load.go and feed.go have
// the copies, product.go the operands of the products, and merge.go merges the results of warps that split
// the keys of the same rows. What does not depend on Ada is in package part: work items, masks, the
// softmax, scales and stores.
//
// # Operands
//
// P leaves the accumulator of S and enters mma.sync as operand A without crossing lanes: its
// columns come out in the order of tile.FP8Order. ldmatrix with .trans transposes V in words of two
// bytes. Two prmt sort the bytes of two such words into operand B for the even and for the odd
// dimensions, and the tokens are then in the same order as P. So V needs no transposed copy. A lane
// has four neighbouring elements of O, which it stores at once.
//
// # Numbers
//
// P is between 0 and 256 and is rounded to e4m3; the factor 2^8, which uses the range of e4m3,
// cancels in O/l. On Ada, sums of FP8 products keep 14 bits, so a sum over thousands of keys would
// lose accuracy with its length. T is therefore a fresh accumulator for each KV tile, and one fma
// adds it to O in f32. Only sums over at most 128 keys stay in the tensor cores. The row sum l is the
// sum of P before rounding.
//
// With [Config.Widen], bytes become f16 in registers, without rounding, right before a product,
// and P is rounded to f16. The layout of the operands stays the same.
//
// Keys beyond a sequence's end have the score -∞. Under a causal mask, so do keys after the query. A
// row that sees no key gives zeros and an LSE of -∞. A NaN in Q, K or V gives NaN in the output
// rows that depend on it. Scales may have any sign.
package ada
