// Package hopper writes FP8 attention kernels for Hopper: O = softmax(Q·Kᵀ·scale)·V on
// sm_90a, with e4m3 or e5m2 going to the tensor cores as they are.
//
//	p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 8, Hkv: 8, Sq: 512, Skv: 512, D: 64}, Format: problem.E4M3}
//	c := hopper.Choose(p, 132) // an H200 has 132 SMs
//	k, err := hopper.Build(p, c)
//
// One generator serves all designs; a [Config] says which it is, and [Choose] knows a
// good one for a problem. The throughput design has blocks of three or four consumer
// warpgroups, 64 query rows each, that go through the items of work one after the other.
// The latency designs have 64 query rows a block, and split their keys over two
// warpgroups, over a cluster of two blocks, or over both. Between them are two of 128
// rows: for two warpgroups, and for four, two and two of which share the keys of 64 rows.
// docs/TUNING.md says what was tried and what it gave.
//
// # A block
//
// One warpgroup brings data, the others compute. Four rings lie between them:
//
//	Q   a tile of queries; the copy engine fills it
//	K   a tile of keys; the copy engine fills it
//	raw a tile of values as they lie in memory; the copy engine fills it
//	V   the same transposed, for wgmma sums bytes only along rows
//
// In the producing warpgroup warp 0 starts the copies, and warps 1 to 3 transpose
// from raw to V. A consumer's round reads, in consumer.go:
//
//	S = Q·Kᵀ                wgmma, both factors in shared memory
//	m = rowmax S
//	P = 2^(c·S - c·m + 8)   one fma and one exponential a score
//	T = P·V                 wgmma, P from registers
//	O = O + w·T             w = 2^(c·m - c·m₀)
//
// While one warpgroup multiplies, the others take their exponentials; [Config.Turns]
// keeps them from doing all the same thing at once.
//
// The files are in the order of a kernel's life: kernel.go has the parameters, the roles
// and the items of work; producer.go the copies and the transposition of V; consumer.go
// the inner loop, softmax.go and exp2.go what lies between its products; output.go the
// end, with exchange.go where keys are shared.
//
// # Numbers
//
// Scores go to e4m3 as P in [0, 256], so that its range is used; the 2^8 cancels in
// O/l. The accumulators of FP8 products keep 14 bits, so a sum over thousands of keys
// would lose accuracy with its length: T is a fresh accumulator for each tile of keys,
// added to O in f32 by one fma.
//
// So a tile's m can be its own, and w turns what is relative to it into what O is relative
// to, m₀ of a tile before. The largest weight of each row and tile is then 256, which e4m3
// has exactly, and a weight becomes 0 only beside one 2^18 times as large in the same
// tile. m₀ is a row's first m, until one is above it by far; see rows.weigh. Designs for few
// tiles have the largest m so far instead, and O = α·O + T. The row sum l is of the
// unrounded P, but for [Config.SumColumn].
//
// P leaves the accumulator of S and enters wgmma as operand A without crossing lanes:
// its columns come out in the order of tile.FP8Order, and V's tokens are transposed
// into the same one. V's dimensions are permuted as well, so that stores do not collide
// in banks; the output undoes it.
//
// Keys beyond a sequence's end and, with [Problem.Causal], after the query have the
// logit -∞. A row that sees no key gives zeros, and an LSE of -∞.
package hopper
