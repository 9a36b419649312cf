package tile

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Warp is what the 32 lanes of a warp do together. All of them must call, and take
// the same branches.
type Warp struct {
	k    *build.Kernel
	Lane build.U32
}

// NewWarp is the warp of a thread whose number in it is lane.
func NewWarp(k *build.Kernel, lane build.U32) Warp { return Warp{k, lane} }

// Sync is bar.warp.sync of all lanes: what any of them wrote to shared memory the
// others see from here on.
func (w Warp) Sync() { w.k.BarWarpSync(w.k.FullMask()) }

// One is true for one of the lanes, which all have met. On sm_90a the hardware elects it,
// so that nobody needs to keep, or to read again, which lane it is.
func (w Warp) One() build.Pred {
	if w.k.Target().Runs(ptx.SM90a) {
		_, one := w.k.ElectSync(w.k.FullMask())
		return one
	}
	return w.Lane.SetpEq(0)
}

// Accumulator is a fragment of 16 rows of zeros.
func (w Warp) Accumulator(cols int) *Frag {
	return NewFrag(w.k, Accumulator(16, cols), w.k.F32(0))
}

// Left is operand A of a product: 16 rows, 16 columns at a time.
type Left interface {
	steps() int
	step(i int) [4]build.B32
}

// A is operand A in registers: the four words of a lane for each 16 columns.
type A [][4]build.B32

func (a A) steps() int              { return len(a) }
func (a A) step(i int) [4]build.B32 { return a[i] }

// ATile is operand A in shared memory, read anew in each product.
type ATile struct {
	k    *build.Kernel
	at   Cursor[build.F16]
	cols int
}

func (a ATile) steps() int { return a.cols / 16 }

func (a ATile) step(i int) [4]build.B32 { return a.k.LdmatrixM8n8X4(a.at.At(0, 16*i)) }

// A is the first 16 rows of a tile as operand A.
func (w Warp) A(t Tile[build.F16]) ATile {
	return ATile{w.k, w.ByRows(t), t.Cols}
}

// ByRows is the place of the row whose address a lane gives to ldmatrix for a matrix
// of 16×16: lanes 0 to 15 the left halves of the rows, the others the right ones.
func (w Warp) ByRows(t Tile[build.F16]) Cursor[build.F16] {
	return t.Cursor(w.Lane.And(15), w.Lane.Shr(4).Shl(3))
}

// byColumns is that place when the tile holds the transpose: eight lanes go down the
// left half of eight rows, eight down their right half, then the rows below.
func (w Warp) byColumns(t Tile[build.F16]) Cursor[build.F16] {
	row := w.Lane.Shr(4).Shl(3).Or(w.Lane.And(7))
	return t.Cursor(row, w.Lane.And(8))
}

// Load reads all of an operand into registers, to be used in many products.
func (a ATile) Load() A {
	var regs A
	for i := range a.steps() {
		regs = append(regs, a.step(i))
	}
	return regs
}

// B is operand B of a product, in shared memory.
type B struct {
	k     *build.Kernel
	at    Cursor[build.F16]
	trans bool // the tile is B itself, and ldmatrix has to transpose it
	n0    int  // its first column
	K, N  int
}

// B is a tile as operand B: in A·B its rows are summed over.
func (w Warp) B(t Tile[build.F16]) B {
	return B{k: w.k, at: w.ByRows(t), trans: true, K: t.Rows, N: t.Cols}
}

// BT is the transpose of a tile as operand B: in A·Bᵀ its columns are summed over.
func (w Warp) BT(t Tile[build.F16]) B {
	return B{k: w.k, at: w.byColumns(t), K: t.Cols, N: t.Rows}
}

// Plus is the operand that many bytes further on: the same in another stage.
func (b B) Plus(bytes build.U32) B {
	b.at = b.at.Plus(bytes)
	return b
}

// Columns is n columns of the operand from first on, in steps of 16.
func (b B) Columns(first, n int) B {
	b.n0, b.N = b.n0+first, n
	return b
}

// words are the registers for 16 of K and 16 of N: two operands of mma.sync.
func (b B) words(k, n int) [4]build.B32 {
	n += b.n0
	if b.trans {
		return b.k.LdmatrixM8n8X4(b.at.At(k, n), build.Trans)
	}
	return b.k.LdmatrixM8n8X4(b.at.At(n, k))
}

// MMA is d += a·b by mma.sync.m16n8k16 in f16 with f32 sums, 16 of K after 16. maths
// is what the product is in the kernel's own names; it goes into the PTX.
func (w Warp) MMA(d *Frag, maths string, a Left, b B) {
	k := w.k
	switch {
	case d.Rows != 16 || d.Cols != b.N:
		k.Errorf("%s: a product of 16 rows and %d columns does not fit a fragment of %d×%d", maths, b.N, d.Rows, d.Cols)
		return
	case 16*a.steps() != b.K:
		k.Errorf("%s: A has %d columns and B %d rows", maths, 16*a.steps(), b.K)
		return
	}
	k.Comment(maths + ", mma.sync m16n8k16 f16 f32")
	for i := range a.steps() {
		left := a.step(i)
		for n := 0; n < b.N; n += 16 {
			right := b.words(16*i, n)
			w.mma(d, n/8, left, [2]build.B32{right[0], right[1]})
			w.mma(d, n/8+1, left, [2]build.B32{right[2], right[3]})
		}
	}
}

// mma is one instruction, on the accumulators of the n-th eight columns.
func (w Warp) mma(d *Frag, n int, a [4]build.B32, b [2]build.B32) {
	var c [4]build.F32
	for e := range c {
		c[e] = d.Get(4*n + e)
	}
	for e, sum := range w.k.MmaM16n8k16RowColF32F16F16F32(a, b, c) {
		d.Set(4*n+e, sum)
	}
}
