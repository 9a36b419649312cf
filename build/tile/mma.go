package tile

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Warp is what the 32 lanes of a warp do together. All of them must make the call and
// take the same branches.
type Warp struct {
	k    *build.Kernel
	Lane build.U32
}

// NewWarp returns the warp of the thread with number lane in it.
func NewWarp(k *build.Kernel, lane build.U32) Warp { return Warp{k, lane} }

// Sync is bar.warp.sync of all lanes: from here on every lane sees what the others wrote
// to shared memory.
func (w Warp) Sync() { w.k.BarWarpSync(w.k.FullMask()) }

// One returns a predicate that is true in exactly one lane. All lanes must make the call. On sm_90a the hardware elects
// the lane, so that no register has to hold its number.
func (w Warp) One() build.Pred {
	if w.k.Target().Runs(ptx.SM90a) {
		_, one := w.k.ElectSync(w.k.FullMask())
		return one
	}
	return w.Lane.SetpEq(0)
}

// Accumulator returns a fragment of 16 rows of zeros.
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

// ATile is operand A in shared memory. Each product reads it again.
type ATile struct {
	k    *build.Kernel
	at   Cursor[build.F16]
	cols int
}

func (a ATile) steps() int { return a.cols / 16 }

func (a ATile) step(i int) [4]build.B32 { return a.Words(i) }

// Words returns the registers of 16 columns, from column 16·i on.
func (a ATile) Words(i int) [4]build.B32 { return a.k.LdmatrixM8n8X4(a.at.At(0, 16*i)) }

// A returns the first 16 rows of a tile as operand A.
func (w Warp) A(t Tile[build.F16]) ATile {
	return ATile{w.k, w.ByRows(t), t.Cols}
}

// ByRows returns the place whose address a lane gives to ldmatrix for a matrix of 16×16: lanes 0 to 15 give the left halves of the rows, the others the right halves.
func (w Warp) ByRows(t Tile[build.F16]) Cursor[build.F16] {
	return t.Cursor(w.Lane.And(15), w.Lane.Shr(4).Shl(3))
}

// byColumns returns that place if the tile holds the transpose: eight lanes give the left
// half of eight rows, eight lanes their right half, and the rest the rows below.
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
	trans bool // the tile is B itself, so ldmatrix has to transpose it
	n0    int  // the first column
	K, N  int

	columns map[int]build.Shared[build.F16] // addresses that Hoist has computed, by column
}

// B returns a tile as operand B: in A·B its rows are summed over.
func (w Warp) B(t Tile[build.F16]) B {
	return B{k: w.k, at: w.ByRows(t), trans: true, K: t.Rows, N: t.Cols}
}

// BT returns the transpose of a tile as operand B: in A·Bᵀ its columns are summed over.
func (w Warp) BT(t Tile[build.F16]) B {
	return B{k: w.k, at: w.byColumns(t), K: t.Cols, N: t.Rows}
}

// Plus returns the operand that is bytes bytes further on, in another slot of a ring.
func (b B) Plus(bytes build.U32) B {
	b.at = b.at.Plus(bytes)
	return b
}

// Columns returns n columns of the operand from column first on. Both are multiples of 16.
func (b B) Columns(first, n int) B {
	b.n0, b.N = b.n0+first, n
	return b
}

// Hoist returns the operand with one address for each 16 columns of its tile, computed here.
// Without it, each ldmatrix of a swizzled tile computes its own address.
func (b B) Hoist() B {
	cols := b.K
	if b.trans {
		cols = b.N
	}
	b.columns = map[int]build.Shared[build.F16]{}
	for c := b.n0; c < b.n0+cols; c += 16 {
		b.columns[c] = b.at.At(0, c)
	}
	return b
}

// Words returns the registers for 16 of K and 16 of N, from element (k, n) on: two operands
// of mma.sync.
func (b B) Words(k, n int) [4]build.B32 {
	n += b.n0
	if b.trans {
		return b.k.LdmatrixM8n8X4(b.address(k, n), build.Trans)
	}
	return b.k.LdmatrixM8n8X4(b.address(n, k))
}

// address returns the lane's address for ldmatrix at an element of the tile.
func (b B) address(row, col int) build.Shared[build.F16] {
	if at, ok := b.columns[col]; ok {
		return build.SharedAs[build.F16](at, row*b.at.t.pitch)
	}
	return b.at.At(row, col)
}

// MMA computes d += a·b with mma.sync.m16n8k16 in f16 with f32 sums, in steps of 16 along K.
// maths is the product in the kernel's own names; it becomes a comment in the PTX.
func (w Warp) MMA(d *Frag, maths string, a Left, b B) {
	k := w.k
	switch {
	case d.Rows != 16 || d.Cols != b.N:
		k.Errorf("%s: a product of 16 rows and %d columns does not fit a fragment of %d×%d", maths, b.N, d.Rows, d.Cols)
		return
	case 16*a.steps() != b.K:
		k.Errorf("%s: A has %d columns and B has %d rows", maths, 16*a.steps(), b.K)
		return
	}
	k.Comment(maths + ", mma.sync m16n8k16 f16 f32")
	for i := range a.steps() {
		left := a.step(i)
		for n := 0; n < b.N; n += 16 {
			right := b.Words(16*i, n)
			w.Step(d, n/8, halfProduct, left, [2]build.B32{right[0], right[1]}, false)
			w.Step(d, n/8+1, halfProduct, left, [2]build.B32{right[2], right[3]}, false)
		}
	}
}

// halfProduct is the instruction that [Warp.MMA] uses.
var halfProduct = build.MmaForm{Shape: build.M16n8k16, D: ptx.F32, A: ptx.F16, B: ptx.F16}

// Step emits one mma.sync for the n-th eight columns of a fragment of 16 rows: d += a·b, or
// d = a·b when fresh is true.
func (w Warp) Step(d *Frag, n int, f build.MmaForm, a [4]build.B32, b [2]build.B32, fresh bool) {
	var c [4]build.F32
	for e := range c {
		if c[e] = w.k.F32(0); !fresh {
			c[e] = d.Get(4*n + e)
		}
	}
	for e, sum := range w.k.Mma(f, a, b, c).F32() {
		d.Set(4*n+e, sum)
	}
}
