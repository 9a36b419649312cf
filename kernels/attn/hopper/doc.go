// Package hopper writes FP8 attention kernels for Hopper: O = softmax(Q·Kᵀ·scale)·V on
// sm_90a, with e4m3 or e5m2 going to the tensor cores as they are.
//
//	p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 8, Hkv: 8, Sq: 512, Skv: 512, D: 64}, Format: problem.E4M3}
//	c := hopper.Choose(p, 132) // an H200 has 132 SMs
//	k, err := hopper.New(p, c)
//
// One generator serves all designs. A [Config] describes one, and [Choose] returns a good
// one for a problem. The throughput designs have blocks of three or four consumer
// warpgroups with 64 query rows each, and persistent blocks that compute one item after
// the other. The latency designs have 64 query rows per block and split their keys over
// two warpgroups, over a cluster of two blocks, or over both. Between them are two designs
// of 128 rows: one with two warpgroups, and one with four, of which two and two share the
// keys of 64 rows. docs/TUNING.md records what was tried and what it gave.
//
// # A block
//
// One warpgroup loads data, the others compute. Four rings lie between them:
//
//	Q    a tile of queries; the copy engine fills it
//	K    a tile of keys; the copy engine fills it
//	raw  a tile of values as they lie in memory; the copy engine fills it
//	V    the same tile transposed, because wgmma sums bytes only along rows
//
// In the producing warpgroup, warp 0 starts the copies, and warps 1 to 3 transpose from
// raw to V. A consumer computes, for each KV tile, from the last to the first:
//
//	S = Q·Kᵀ                wgmma, both factors in shared memory
//	m = rowmax S            keys that a row does not see have the score -∞
//	P = 2^(c·S - c·m + 8)   one fma and one exponential per score
//	T = P·V                 wgmma, P from registers
//	O = O + w·T             w = 2^(c·m - c·m₀)
//
// consumer.go has this loop with every wait, signal and hand-over in its place. While one
// warpgroup multiplies, the others compute their exponentials: with [Config.PingPong] they
// begin them one after the other, which is ping-pong scheduling. schedule (softmax.go) says
// where in a tile a warpgroup hands over.
//
// What does not depend on Hopper is in package part: work items, masks, the softmax, scales
// and stores. Here are the roles: kernel.go has the parameters and the barriers, producer.go
// the copies and the transposition of V, consumer.go the loop and the end of an item, and
// exchange.go the merge of results where warpgroups share the keys of the same rows.
//
// # Numbers
//
// Scores become e4m3 as P in [0, 256], so that the range of e4m3 is used; the 2^8 cancels
// in O/l. The accumulators of FP8 products keep 14 bits, so a sum over thousands of keys
// would lose accuracy with its length. T is therefore a fresh accumulator for each KV tile,
// and one fma adds it to O in f32.
//
// The maxima m may be those of the tile alone. The factor w then turns what is relative to
// m into what O is relative to, the m₀ of an earlier tile. The largest weight of each row
// and tile is 256, which e4m3 holds exactly, and a weight becomes 0 only beside one that is
// 2^18 times as large in the same tile. m₀ is a row's first m, until an m is above it by
// more than 2^32. Designs for few tiles use the largest m so far instead, with
// O = w·O + T. The row sum l is the sum of P before rounding, except with
// [Config.SumsInV].
//
// P leaves the accumulator of S and enters wgmma as operand A without crossing lanes: its
// columns come out in the order of tile.FP8Order, and V's tokens are transposed into the
// same order. V's dimensions are permuted as well, so that stores do not collide in banks;
// the output undoes it.
//
// Keys beyond a sequence's end have the score -∞. Under a causal mask, so do keys after the
// query. A row that sees no key gives zeros and an LSE of -∞.
package hopper
