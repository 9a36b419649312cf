// Package tile writes the parts of kernels that experts draw on paper: matrices in
// registers, matrices in shared memory, products of the two, and rings of buffers.
//
//	S := w.Accumulator(64)                    // 16×64 in the registers of a warp
//	slot := K.Wait()                          // the ring's next tile of keys is there
//	w.MMA(S, "S = Q·Kᵀ", w.A(Q), K.At(slot))  // ldmatrix and mma.sync
//	K.Signal(w)                               // a producer may fill the slot again
//	K.Next()
//
// The receiver of a call shows whose work it is: a [Warp] for what 32 lanes do
// together, a [Warpgroup] for 128 threads, a [Side] of a [Ring] for a producer or a
// consumer, the kernel itself for single threads. Nothing waits by itself: barriers,
// groups of copies and arrivals are calls of their own.
//
//   - A [Layout] says which element of a matrix each register of each lane holds. It is
//     derived once and serves both Go, which checks it against the instructions, and
//     kernels.
//   - A [Frag] is a matrix in registers with its layout.
//   - A [Tile] is a matrix in shared memory with its padding or its swizzle, and a
//     [KMajor] is one that wgmma reads.
//   - A [Ring] owns the [Buffers] and the barriers of a pipeline. [Tiles] is one side of
//     it together with the tile that its slots hold.
//   - A [PingPong] schedule makes warpgroups use a unit one after the other.
//
// Everything here can also be written by hand with package build. The PTX carries the
// maths of each product as a comment, and the lines of the kernel's author.
package tile
