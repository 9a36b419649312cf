// Package tile writes the parts of kernels that experts draw on paper: matrices in
// the registers of a warp, matrices in shared memory, products of the two, and
// rings of buffers.
//
//	S := w.Accumulator(64)                      // 16×64 in the registers of a warp
//	w.MMA(S, "S = Q·Kᵀ", w.A(Q), w.BT(K))       // ldmatrix and mma.sync
//	m := S.RowMax()                             // shuffles among the lanes of a row
//
// Whose work a call is shows in what it is called on: a [Warp] for what 32 lanes do
// together, a side of a [Ring] for a producer or a consumer, the kernel itself for
// single threads. Nothing waits by itself: barriers, groups of copies and arrivals
// are calls of their own.
//
// A [Layout] says which element of a matrix each register of each lane is; it is
// derived once and serves both Go, which proves it against the instructions, and
// kernels. A [Frag] is a matrix in registers with its layout, a [Tile] one in
// shared memory with its padding or its swizzle.
//
// Everything here can be written by hand in package build; the PTX has the maths of
// each product as a comment, and the lines of the kernel's author.
package tile
