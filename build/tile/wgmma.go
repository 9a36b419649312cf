package tile

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Warpgroup is what four warps, 128 threads, do together: products of 64 rows by
// wgmma. All of them must call, and take the same branches.
//
// A product is started by [Warpgroup.MMA] or [Warpgroup.MMAFromRegisters] and goes on
// by itself. [Warpgroup.Fence] comes before the first one, and again after registers
// of a factor or a sum were written; Commit closes a group of products, and Wait says
// how many groups may still be under way. Until then neither sums nor factors may be
// touched.
type Warpgroup struct {
	Warp
	Thread build.U32 // in the warpgroup, 0 to 127
}

// NewWarpgroup is the warpgroup of a thread whose number in it is thread.
func NewWarpgroup(k *build.Kernel, thread build.U32) Warpgroup {
	return Warpgroup{NewWarp(k, thread.And(31)), thread}
}

// Accumulator is a fragment of 64 rows of zeros.
func (g Warpgroup) Accumulator(cols int) *Frag {
	return NewFrag(g.k, WgmmaAccumulator(cols), g.k.F32(0))
}

// Fence is wgmma.fence.
func (g Warpgroup) Fence() { g.k.WgmmaFence() }

// Commit is wgmma.commit_group.
func (g Warpgroup) Commit() { g.k.WgmmaCommitGroup() }

// Wait is wgmma.wait_group: until at most n groups are under way.
func (g Warpgroup) Wait(n int) { g.k.WgmmaWaitGroup(n) }

// KMajor is a matrix of bytes in shared memory as wgmma reads it: K, the dimension
// that a product sums over, runs along its rows. Rows longer than 128 bytes are cut
// into blocks of columns, one block after the other; within a block the units of 16
// bytes lie swizzled, as the copy engine puts them for a box as wide as a block and as
// [Swizzled] has them.
type KMajor struct {
	Rows, K int
	k       *build.Kernel
	mem     build.Shared[build.B8]
	width   int // bytes of a row in a block: 32, 64 or 128
	desc    build.U64
}

// NewKMajor is the matrix at mem, which must be aligned to 1024 bytes.
func NewKMajor(k *build.Kernel, mem build.Shared[build.B8], rows, kBytes int) KMajor {
	m := KMajor{Rows: rows, K: kBytes, k: k, mem: mem, width: KMajorWidth(kBytes)}
	mode, ok := map[int]uint64{128: 1, 64: 2, 32: 3}[m.width]
	if !ok || rows%8 != 0 {
		k.Errorf("a factor of wgmma with %d rows of %d bytes: rows come in eights and are a multiple of 32 bytes long", rows, kBytes)
		return m
	}
	start := mem.Addr().Shr(4).CvtU64()
	eightRows := uint64(8 * m.width)
	m.desc = start.Or(mode<<62 | eightRows>>4<<32 | 1<<16)
	return m
}

// KMajorWidth is the width of the blocks that rows of so many bytes are cut into: the
// widest swizzle that divides them.
func KMajorWidth(kBytes int) int {
	for _, w := range []int{128, 64, 32} {
		if kBytes%w == 0 {
			return w
		}
	}
	return 0
}

// Plus is the matrix that many bytes further on, a multiple of 1024: another stage.
func (m KMajor) Plus(bytes build.U32) KMajor {
	m.desc = m.desc.Add(bytes.Shr(4).CvtU64())
	return m
}

// Block is the block of columns number i as a tile of words of two bytes, for ldmatrix
// and stmatrix.
func (m KMajor) Block(i int) Tile[build.F16] {
	return Swizzled(m.k, build.SharedAs[build.F16](m.mem, i*m.Rows*m.width), m.Rows, m.width/2)
}

// Width is how many bytes of a row lie in a block.
func (m KMajor) Width() int { return m.width }

// step describes columns 32·i to 32·i+31.
func (m KMajor) step(i int) build.U64 {
	perBlock := m.width / 32
	off := i/perBlock*m.Rows*m.width + i%perBlock*32
	return m.desc.Add(off >> 4)
}

// Bytes8 is operand A of a product of bytes in registers: a lane's four words for each
// 32 columns.
type Bytes8 [][4]build.B32

// fp8Product starts one wgmma of the given types of A and B.
type fp8Product[A any] func(d []*build.Var[build.F32], a A, b build.U64, add build.Pred, scaleA, scaleB int)

// MMA starts d = a·bᵀ, or d += a·bᵀ when add is true, with both factors in shared memory:
// 32 of K after 32. ta and tb are E4M3 or E5M2.
func (g Warpgroup) MMA(d *Frag, maths string, ta ptx.Type, a KMajor, tb ptx.Type, b KMajor, add bool) {
	k := g.k
	start, ok := map[[2]ptx.Type]fp8Product[build.U64]{
		{ptx.E4M3, ptx.E4M3}: k.WgmmaMmaAsyncF32E4M3E4M3,
		{ptx.E4M3, ptx.E5M2}: k.WgmmaMmaAsyncF32E4M3E5M2,
		{ptx.E5M2, ptx.E4M3}: k.WgmmaMmaAsyncF32E5M2E4M3,
		{ptx.E5M2, ptx.E5M2}: k.WgmmaMmaAsyncF32E5M2E5M2,
	}[[2]ptx.Type{ta, tb}]
	if !ok || !g.fits(d, maths, a.K, b) {
		return
	}
	k.Comment(maths + ", wgmma " + ta.String() + " " + tb.String())
	for i := range a.K / 32 {
		start(d.elems, a.step(i), b.step(i), k.Pred(add || i > 0), 1, 1)
	}
}

// MMAFromRegisters is MMA with A in registers.
func (g Warpgroup) MMAFromRegisters(d *Frag, maths string, ta ptx.Type, a Bytes8, tb ptx.Type, b KMajor, add bool) {
	k := g.k
	start, ok := map[[2]ptx.Type]fp8Product[[4]build.B32]{
		{ptx.E4M3, ptx.E4M3}: k.WgmmaMmaAsyncF32E4M3E4M3A,
		{ptx.E4M3, ptx.E5M2}: k.WgmmaMmaAsyncF32E4M3E5M2A,
		{ptx.E5M2, ptx.E4M3}: k.WgmmaMmaAsyncF32E5M2E4M3A,
		{ptx.E5M2, ptx.E5M2}: k.WgmmaMmaAsyncF32E5M2E5M2A,
	}[[2]ptx.Type{ta, tb}]
	if !ok || !g.fits(d, maths, 32*len(a), b) {
		return
	}
	k.Comment(maths + ", wgmma " + ta.String() + " " + tb.String() + ", A in registers")
	for i := range a {
		start(d.elems, a[i], b.step(i), k.Pred(add || i > 0), 1, 1)
	}
}

// fits refuses factors whose extents do not match.
func (g Warpgroup) fits(d *Frag, maths string, aK int, b KMajor) bool {
	switch {
	case d.Rows != 64 || d.Cols != b.Rows:
		g.k.Errorf("%s: a product of 64 rows and %d columns does not fit a fragment of %d×%d", maths, b.Rows, d.Rows, d.Cols)
	case aK != b.K:
		g.k.Errorf("%s: A has %d columns and B %d", maths, aK, b.K)
	default:
		return true
	}
	return false
}

// FP8Order is the order in which [PackE4M3] puts 16 neighbouring columns of a fragment
// into the columns of A: column i of A is column FP8Order[i] of the fragment. The
// order of a sum is free, so B's rows may simply lie in the same order.
var FP8Order = [16]int{0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15}

// PackE4M3 rounds the elements of an accumulator to e4m3 and makes them the operand A
// of a product, its columns in [FP8Order]: a lane's elements stay in the lane, two
// conversions for four of them and nothing else. xs are the elements in the fragment's
// order.
func PackE4M3(xs []build.F32) Bytes8 {
	a := make(Bytes8, len(xs)/16)
	for i := range a {
		for w := range a[i] { // two rows of 16 columns, then of the next 16
			at := 16*i + w/2*8 + w%2*2
			lo := xs[at+1].CvtRnSatfiniteE4M3x2(xs[at])
			hi := xs[at+5].CvtRnSatfiniteE4M3x2(xs[at+4])
			a[i][w] = build.Pack2[build.B32](lo, hi)
		}
	}
	return a
}
