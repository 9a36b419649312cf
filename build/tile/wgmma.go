package tile

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Warpgroup is what four warps, 128 threads, do together: products of 64 rows by wgmma.
// All of them must make the call and take the same branches.
//
// [Warpgroup.MMA] and [Warpgroup.MMAFromRegisters] start a product, which then runs
// asynchronously. [Warpgroup.Fence] comes before the first product, and again after
// registers of a factor or of an accumulator were written. Commit closes a group of
// products. Wait waits until few enough groups are in flight. Until then the kernel may
// touch neither the accumulators nor the factors.
type Warpgroup struct {
	Warp
	Thread build.U32 // the thread in the warpgroup, 0 to 127
}

// NewWarpgroup returns the warpgroup of the thread with number thread in it.
func NewWarpgroup(k *build.Kernel, thread build.U32) Warpgroup {
	return Warpgroup{NewWarp(k, thread.And(31)), thread}
}

// Accumulator returns a fragment of 64 rows of zeros.
func (g Warpgroup) Accumulator(cols int) *Frag {
	return NewFrag(g.k, WgmmaAccumulator(cols), g.k.F32(0))
}

// Fence is wgmma.fence.
func (g Warpgroup) Fence() { g.k.WgmmaFence() }

// Commit is wgmma.commit_group.
func (g Warpgroup) Commit() { g.k.WgmmaCommitGroup() }

// Wait is wgmma.wait_group: it waits until at most n groups are in flight.
func (g Warpgroup) Wait(n int) { g.k.WgmmaWaitGroup(n) }

// KMajor is a matrix of bytes in shared memory as wgmma reads it: K, the dimension that a
// product sums over, runs along its rows. Rows longer than 128 bytes are cut into blocks
// of columns, stored one block after the other. Within a block the units of 16 bytes are
// swizzled, as the copy engine stores a box as wide as a block, and as [Swizzled] does.
type KMajor struct {
	Rows, K int
	k       *build.Kernel
	mem     build.Shared[build.B8]
	width   int // bytes of a row in a block: 32, 64 or 128
	stride  int // bytes from one block of columns to the next
	desc    build.U64
}

// NewKMajor returns the matrix at mem, which must be aligned to 1024 bytes.
func NewKMajor(k *build.Kernel, mem build.Shared[build.B8], rows, kBytes int) KMajor {
	m := KMajor{Rows: rows, K: kBytes, k: k, mem: mem, width: KMajorWidth(kBytes)}
	mode, ok := map[int]uint64{128: 1, 64: 2, 32: 3}[m.width]
	if !ok || rows%8 != 0 {
		k.Errorf("a factor of wgmma with %d rows of %d bytes: the number of rows must be a multiple of 8, and their length one of 32 bytes", rows, kBytes)
		return m
	}
	start := mem.Addr().Shr(4).CvtU64()
	m.stride = rows * m.width
	eightRows := uint64(8 * m.width)
	m.desc = start.Or(mode<<62 | eightRows>>4<<32 | 1<<16)
	return m
}

// KMajorWidth returns the width in bytes of the blocks that rows of kBytes are cut into: the
// widest swizzle that divides a row.
func KMajorWidth(kBytes int) int {
	for _, w := range []int{128, 64, 32} {
		if kBytes%w == 0 {
			return w
		}
	}
	return 0
}

// Plus returns the matrix that is bytes bytes further on, a multiple of 1024, in another slot
// of a ring.
func (m KMajor) Plus(bytes build.U32) KMajor {
	m.desc = m.desc.Add(bytes.Shr(4).CvtU64())
	return m
}

// RowRange returns the rows [from, from+rows) of the matrix. from*width must be a multiple of
// 1024 bytes, so that the swizzle begins anew with the first of them.
func (m KMajor) RowRange(from, rows int) KMajor {
	if from*m.width%1024 != 0 || rows%8 != 0 || from+rows > m.Rows {
		m.k.Errorf("rows %d to %d of a factor of wgmma with %d rows of %d bytes: the range must begin at a multiple of 1024 bytes and have a multiple of 8 rows", from, from+rows-1, m.Rows, m.width)
		return m
	}
	m.mem = m.mem.Plus(from * m.width)
	if from > 0 {
		m.desc = m.desc.Add(from * m.width >> 4)
	}
	m.Rows = rows
	return m
}

// Block returns block number i of columns, as a tile of two-byte words for ldmatrix and
// stmatrix.
func (m KMajor) Block(i int) Tile[build.F16] {
	return Swizzled(m.k, build.SharedAs[build.F16](m.mem, i*m.stride), m.Rows, m.width/2)
}

// Width returns the bytes of a row in a block.
func (m KMajor) Width() int { return m.width }

// step returns the descriptor of columns 32·i to 32·i+31.
func (m KMajor) step(i int) build.U64 {
	perBlock := m.width / 32
	off := i/perBlock*m.stride + i%perBlock*32
	return m.desc.Add(off >> 4)
}

// Bytes8 is operand A of a product of bytes in registers: a lane's four words for each
// 32 columns.
type Bytes8 [][4]build.B32

// MMA starts d = a·bᵀ, or d += a·bᵀ when add is true, with both factors in shared memory,
// in steps of 32 along K. ta and tb are E4M3 or E5M2.
func (g Warpgroup) MMA(d *Frag, maths string, ta ptx.Type, a KMajor, tb ptx.Type, b KMajor, add bool) {
	k := g.k
	if !g.fits(d, maths, a.K, b) {
		return
	}
	k.Comment(maths + ", wgmma " + ta.String() + " " + tb.String())
	for i := range a.K / 32 {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ta, B: tb}, d.elems, a.step(i), b.step(i), k.Pred(add || i > 0))
	}
}

// MMAFromRegisters is MMA with A in registers.
func (g Warpgroup) MMAFromRegisters(d *Frag, maths string, ta ptx.Type, a Bytes8, tb ptx.Type, b KMajor, add bool) {
	k := g.k
	if !g.fits(d, maths, 32*len(a), b) {
		return
	}
	k.Comment(maths + ", wgmma " + ta.String() + " " + tb.String() + ", A in registers")
	for i := range a {
		k.WgmmaMmaAsync(build.WgmmaForm{A: ta, B: tb}, d.elems, a[i], b.step(i), k.Pred(add || i > 0))
	}
}

// fits refuses factors whose extents do not match.
func (g Warpgroup) fits(d *Frag, maths string, aK int, b KMajor) bool {
	switch {
	case d.Rows != 64 || d.Cols != b.Rows:
		g.k.Errorf("%s: a product of 64 rows and %d columns does not fit a fragment of %d×%d", maths, b.Rows, d.Rows, d.Cols)
	case aK != b.K:
		g.k.Errorf("%s: A has %d columns and B has %d", maths, aK, b.K)
	default:
		return true
	}
	return false
}

// FP8Order is the order in which [PackE4M3] puts 16 neighbouring columns of a fragment
// into the columns of A: column i of A is column FP8Order[i] of the fragment. A sum may
// be taken in any order, so it is enough that the rows of B lie in the same order.
var FP8Order = [16]int{0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15}

// PackE4M3 rounds the elements of an accumulator, xs, to e4m3 and returns them as operand
// A of a product, with its columns in [FP8Order]. A lane's elements stay in the lane: two
// conversions make a word of four elements.
func PackE4M3(xs []build.F32) Bytes8 {
	a := make(Bytes8, len(xs)/16)
	for i := range a {
		for w := range a[i] { // two rows of 16 columns, then of the next 16
			at := 16*i + w/2*8 + w%2*2
			a[i][w] = PackE4M3x4([4]build.F32{xs[at], xs[at+1], xs[at+4], xs[at+5]})
		}
	}
	return a
}

// PackE4M3x4 rounds four numbers to e4m3, the first in the lowest byte of the word.
func PackE4M3x4(x [4]build.F32) build.B32 {
	lo := x[1].CvtRnSatfiniteE4M3x2(x[0])
	hi := x[3].CvtRnSatfiniteE4M3x2(x[2])
	return build.Pack2[build.B32](lo, hi)
}
