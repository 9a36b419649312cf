package tile

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
)

// Frag is a matrix of f32 in the registers of a warp, or of a warpgroup. Its elements are
// variables: they may change in the branches of an If and from one round of a loop to
// the next.
type Frag struct {
	Layout
	k     *build.Kernel
	elems []*build.Var[build.F32]
}

// NewFrag returns a fragment whose elements are all v.
func NewFrag(k *build.Kernel, l Layout, v build.F32) *Frag {
	return &Frag{Layout: l, k: k, elems: build.Vars(v, l.Elements())}
}

// Get returns element i of the lane.
func (f *Frag) Get(i int) build.F32 {
	if !f.has(i) {
		return f.k.F32(0)
	}
	return f.elems[i].Get()
}

// Set changes element i of the lane.
func (f *Frag) Set(i int, v build.F32) {
	if f.has(i) {
		f.elems[i].Set(v)
	}
}

// has reports whether the fragment has element i. If not, the kernel gets an error.
func (f *Frag) has(i int) bool {
	ok := i >= 0 && i < len(f.elems)
	if !ok {
		f.k.Errorf("element %d of a fragment: a lane has %d elements", i, len(f.elems))
	}
	return ok
}

// Fill sets every element.
func (f *Frag) Fill(v build.F32) {
	for i := range f.elems {
		f.Set(i, v)
	}
}

// Map replaces each element x by op(x, slot, at): slot is the lane's row slot that holds
// x, and at is the place of x in lane 0.
func (f *Frag) Map(op func(x build.F32, slot int, at Pos) build.F32) {
	_, slot := f.rowSlots()
	for i := range f.elems {
		f.Set(i, op(f.Get(i), slot[i], f.Elem(i)))
	}
}

// Map2 is Map with the same element y of g, which has the same layout.
func (f *Frag) Map2(g *Frag, op func(x, y build.F32, slot int, at Pos) build.F32) {
	if len(g.elems) != len(f.elems) {
		f.k.Errorf("Map2 of a fragment of %d elements with one of %d: the layouts must be the same", len(f.elems), len(g.elems))
		return
	}
	i := 0
	f.Map(func(x build.F32, slot int, at Pos) build.F32 {
		i++
		return op(x, g.Get(i-1), slot, at)
	})
}

// Columns returns the columns [from, from+n) of an accumulator as a fragment that shares
// their registers. Both numbers are multiples of 8.
func (f *Frag) Columns(from, n int) *Frag {
	if from%8 != 0 || n%8 != 0 || from < 0 || n < 8 || from+n > f.Cols {
		f.k.Errorf("columns %d to %d of an accumulator of %d columns: both numbers must be multiples of 8", from, from+n-1, f.Cols)
		return f
	}
	perEight := 8 * len(f.elems) / f.Cols
	view := &Frag{Layout: f.Layout, k: f.k, elems: f.elems[from/8*perEight : (from+n)/8*perEight]}
	view.Cols, view.Layout.elems = n, f.Layout.elems[:n/8*perEight]
	return view
}

// Slots returns the number of rows in which a lane has elements, its row slots. Slot s is SlotRow(s)
// rows below the lane's first row.
func (f *Frag) Slots() int {
	rows, _ := f.rowSlots()
	return len(rows)
}

// SlotRow returns the row of a slot in lane 0.
func (f *Frag) SlotRow(s int) int {
	rows, _ := f.rowSlots()
	return rows[s]
}

// MulRows multiplies each row by its factor, one per row slot. The multiplication names its
// rounding, so that ptxas does not fuse it with an addition and every version gives the same
// bits.
func (f *Frag) MulRows(by []build.F32) {
	f.Map(func(x build.F32, slot int, _ Pos) build.F32 { return x.Mul(by[slot], build.Rn) })
}

// Store writes the fragment to a tile of f32 in shared memory whose element (0, 0)
// is the fragment's, two neighbours at a time.
func (f *Frag) Store(lane build.U32, t Tile[build.F32]) {
	f.pairs(lane, t, func(i int, at build.Shared[build.F32]) {
		at.StV2([2]build.F32{f.Get(i), f.Get(i + 1)})
	})
}

// Load is the inverse of Store.
func (f *Frag) Load(lane build.U32, t Tile[build.F32]) {
	f.pairs(lane, t, func(i int, at build.Shared[build.F32]) {
		v := at.LdV2()
		f.Set(i, v[0])
		f.Set(i+1, v[1])
	})
}

func (f *Frag) pairs(lane build.U32, t Tile[build.F32], do func(i int, at build.Shared[build.F32])) {
	row, col := f.Base(f.k, lane)
	at := t.Cursor(row, col)
	for i := 0; i < len(f.elems); i += 2 {
		do(i, at.At(f.Elem(i).Row, f.Elem(i).Col))
	}
}

// A returns a fragment of 16 rows as operand A of a product in f16. Accumulators have their
// columns where operand A needs them, so only the type changes.
func (f *Frag) A() A {
	var a A
	for i := 0; i < len(f.elems); i += 8 {
		var words [4]build.B32
		for w := range words {
			words[w] = f.half2(i + 2*w)
		}
		a = append(a, words)
	}
	return a
}

// half2 returns elements i and i+1 rounded to f16, element i in the lower half.
func (f *Frag) half2(i int) build.B32 {
	return build.Cast[build.B32](f.Get(i + 1).CvtRnF16x2(f.Get(i)))
}

// StoreF16 writes the fragment, rounded to f16, to a tile in shared memory.
func (f *Frag) StoreF16(lane build.U32, t Tile[build.F16]) {
	row, col := f.Base(f.k, lane)
	at := t.Cursor(row, col)
	for i := 0; i < len(f.elems); i += 2 {
		to := build.SharedAs[build.B32](at.At(f.Elem(i).Row, f.Elem(i).Col), 0)
		to.St(f.half2(i))
	}
}

// NegInf returns -∞, the maximum of an empty row.
func NegInf(k *build.Kernel) build.F32 { return k.F32(float32(math.Inf(-1))) }
