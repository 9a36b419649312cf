// Package decode writes kernels for few queries against many keys: FP8 attention as a server
// runs it for each new token. The time goes into reading K and V, so the kernels read each
// byte once and keep many copies in flight.
//
//   - The queries of all heads that share a head of K and V are the rows of one tile: Sq·Hq/Hkv
//     rows, at most 64. Such a group of rows with its keys is an item.
//   - The keys of an item are split over as many blocks as fill the GPU. Each block writes a
//     partial result. The block that arrives last merges them in the same launch, in a fixed
//     order, so that the bits are the same from run to run.
//   - In a block, teams of warps have their own keys and a ring of tiles in shared memory,
//     which cp.async fills. Teams do not wait for each other until the end.
//   - Products run on mma.sync with operands in f16: bytes of K and V become f16 in registers,
//     which loses nothing, and weights are rounded to f16. This needs no special hardware, so
//     the kernels run from sm_80 on, and with e4m3 from sm_89 on.
//
// The files follow a block's work: item (what the block computes), load (copies of K and V),
// attention (products and softmax of a tile), merge (sums over teams, output), parts (sums over
// blocks).
package decode
