// Package hopper writes FP8 attention kernels for Hopper: O = softmax(Q·Kᵀ·scale)·V on
// sm_90a, with e4m3 or e5m2 going to the tensor cores as they are.
//
//	p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 8, Hkv: 8, Sq: 512, Skv: 512, D: 64}, Format: problem.E4M3}
//	c := hopper.Choose(p, 132) // an H200 has 132 SMs
//	k, err := hopper.New(p, c)
//
// One generator writes all designs. A [Config] describes a design, and [Choose] returns the
// fastest one for a problem. The throughput designs have persistent blocks of three or four
// consumer warpgroups, with 64 query rows each. The latency designs have 64 query rows per
// block. They may split the keys over two warpgroups, over a cluster of two blocks, or over
// both. Between them are two designs of 128 rows: one with two warpgroups, and one with two
// pairs of warpgroups, each of which splits the keys of 64 rows. docs/TUNING.md records what
// was tried and what it gave.
//
// Heads of V may have another size than heads of Q and K, such as 192/128. The heads of V decide about
// registers, because the output is in registers.
//
// # A block
//
// One warpgroup loads data, the others compute. Four rings connect them:
//
//	Q    a tile of queries; the copy engine fills it
//	K    a tile of keys; the copy engine fills it
//	raw  a tile of values as in global memory; the copy engine fills it
//	V    the same tile transposed, because wgmma sums bytes only along rows
//
// In the producing warpgroup, warp 0 starts the copies, and warps 1 to 3 transpose from
// raw to V. A consumer computes, for each KV tile, from the last to the first:
//
//	S = Q·Kᵀ                wgmma, both factors in shared memory
//	m = rowmax S            keys that a row does not see have the score -∞
//	P = 2^(c·S - c·m + 8)   one fma and one exponential per score; with Codes, some weights without exponentials
//	T = P·V                 wgmma, P from registers
//	O = O + w·T             w = 2^(c·m - c·m₀)
//
// consumer.go has this loop with every wait, signal and hand-over in its place. While one
// warpgroup multiplies, the others compute their exponentials: with [Config.PingPong] they
// begin them one after the other, which is ping-pong scheduling. schedule (softmax.go) says
// where in a tile a warpgroup hands over.
//
// What does not depend on Hopper is in package part: work items, masks, the softmax, scales
// and stores. This package has the roles: kernel.go declares the parameters and the barriers,
// producer.go copies tiles and transposes V, consumer.go has the loop and the end of an item,
// and exchange.go merges the results of warpgroups that split the keys of the same rows.
//
// # Numbers
//
// P is between 0 and 256 and is rounded to e4m3; the factor 2^8, which uses the range of
// e4m3, cancels in O/l. The accumulators of FP8 products keep 14 bits, so a sum over thousands of keys
// would lose accuracy with its length. T is therefore a fresh accumulator for each KV tile,
// and one fma adds it to O in f32.
//
// With [Config.TileMaxima], m is the largest score of the tile alone. O is then relative to
// m₀, the m of an earlier tile, and the factor w converts T from m to m₀. The largest weight
// of each row and tile is 256, which e4m3 holds exactly, and a weight rounds to 0 only if
// the tile has one that is 2^18 times as large. m₀ is a row's first m, and is replaced when
// w would exceed 2^32. Without TileMaxima, which suits few tiles, m is the largest score so
// far, and O = w·O + T. The row sum l is the sum of P before rounding, except with
// [Config.SumsInV], and except for weights that are computed as codes, which count as they are.
//
// P leaves the accumulator of S and enters wgmma as operand A without crossing lanes: its
// columns come out in the order of tile.FP8Order, and V's tokens are transposed into the
// same order. V's dimensions are permuted as well, so that stores do not collide in banks;
// the output undoes it.
//
// Keys beyond a sequence's end have the score -∞. Under a causal mask, so do keys after the
// query. A row that sees no key gives zeros and an LSE of -∞.
package hopper
