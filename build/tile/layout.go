package tile

import (
	"fmt"
	"math/bits"

	"github.com/GOATnote-Inc/attest/build"
)

// Pos is the place of an element in a matrix.
type Pos struct{ Row, Col int }

// Layout says where the elements of a matrix are in the registers of a warp, or of
// a warpgroup. An element's index counts in the order of the instruction's
// registers, and within a register from the lowest bits. A is M×K, B is K×N, and
// accumulators are M×N.
//
// Every layout of the tensor cores is a sum: each bit that is set in the lane's number
// adds a fixed distance, and so does the element's index. A Layout holds only these
// distances, so the place in Go ([Layout.At]) and the place in a kernel ([Layout.Base]
// plus [Layout.Elem]) cannot disagree.
type Layout struct {
	Name       string
	Rows, Cols int
	Lanes      int   // 32, or 128 in a warpgroup
	bits       []Pos // distance that each bit of the lane's number adds
	elems      []Pos // distance that each element adds
}

// Elements returns the number of elements of a lane.
func (l Layout) Elements() int { return len(l.elems) }

// At returns the place of element i of a lane.
func (l Layout) At(lane, i int) Pos {
	p := l.elems[i]
	for b, d := range l.bits {
		if lane>>b&1 == 1 {
			p.Row += d.Row
			p.Col += d.Col
		}
	}
	return p
}

// Elem returns the place of element i in lane 0. Add it to [Layout.Base] to get the place of
// element i in another lane.
func (l Layout) Elem(i int) Pos { return l.elems[i] }

// Base returns the place of a lane's element 0 as the kernel computes it. lane is the
// thread's number in its warp, or in its warpgroup.
func (l Layout) Base(k *build.Kernel, lane build.U32) (row, col build.U32) {
	rows, cols := make([]int, len(l.bits)), make([]int, len(l.bits))
	for b, d := range l.bits {
		rows[b], cols[b] = d.Row, d.Col
	}
	return weigh(k, lane, rows), weigh(k, lane, cols)
}

// weigh returns the sum of the weights of the bits that are set in lane. Bits whose weights
// double from one to the next are one field, which is shifted down, masked and multiplied
// by the first weight.
func weigh(k *build.Kernel, lane build.U32, weight []int) build.U32 {
	var sum *build.U32
	for b := 0; b < len(weight); {
		n := 1
		for weight[b] != 0 && b+n < len(weight) && weight[b+n] == weight[b]<<n {
			n++
		}
		if weight[b] != 0 {
			f := lane
			if b > 0 {
				f = f.Shr(b)
			}
			if b+n < len(weight) {
				f = f.And(1<<n - 1)
			}
			if s := bits.TrailingZeros(uint(weight[b])); s > 0 {
				f = f.Shl(s)
			}
			if sum != nil {
				f = sum.Add(f)
			}
			sum = &f
		}
		b += n
	}
	if sum == nil {
		return k.U32(0)
	}
	return *sum
}

// The five bits of a lane are two of its quad, the four lanes that share a row, and
// three of its group, the eight rows.
func lanes(quad, group Pos) []Pos {
	times := func(p Pos, n int) Pos { return Pos{p.Row * n, p.Col * n} }
	return []Pos{quad, times(quad, 2), group, times(group, 2), times(group, 4)}
}

// warpgroup adds the two bits of the warp in its group: 16 rows each.
func warpgroup(bits []Pos) []Pos { return append(bits, Pos{Row: 16}, Pos{Row: 32}) }

// Accumulator returns the layout of C and D of mma.sync.m16n8 and of wmma.m16n16k16, and any number of those
// side by side: two neighbours in a row, two in the row eight below, then the same eight
// columns further on. With rows = 8 there is only the first pair.
func Accumulator(rows, cols int) Layout {
	l := Layout{
		Name: fmt.Sprintf("accumulator %d×%d", rows, cols), Rows: rows, Cols: cols, Lanes: 32,
		bits: lanes(Pos{Col: 2}, Pos{Row: 1}),
	}
	for c := 0; c < cols; c += 8 {
		for r := 0; r < rows; r += 8 {
			l.elems = append(l.elems, Pos{r, c}, Pos{r, c + 1})
		}
	}
	return l
}

// WgmmaAccumulator returns the layout of D of wgmma.m64nN: the accumulators of four warps, one below
// the other.
func WgmmaAccumulator(cols int) Layout {
	l := Accumulator(16, cols)
	l.Name, l.Rows, l.Lanes = fmt.Sprintf("wgmma accumulator 64×%d", cols), 64, 128
	l.bits = warpgroup(l.bits)
	return l
}

// OperandA returns the layout of A of mma.sync.m16n8 with elements of elemBits bits: a lane's word in a row of
// its group, the word in the row eight below, then the same two four words to the right.
func OperandA(k, elemBits int) Layout {
	per := 32 / elemBits
	l := Layout{
		Name: fmt.Sprintf("A 16×%d of %d bits", k, elemBits), Rows: 16, Cols: k, Lanes: 32,
		bits: lanes(Pos{Col: per}, Pos{Row: 1}),
	}
	for c := 0; c < k; c += 4 * per {
		for r := 0; r < 16; r += 8 {
			for e := range per {
				l.elems = append(l.elems, Pos{r, c + e})
			}
		}
	}
	return l
}

// OperandB returns the layout of B of mma.sync.m16n8. The lanes of a group hold one column.
func OperandB(k, elemBits int) Layout {
	per := 32 / elemBits
	l := Layout{
		Name: fmt.Sprintf("B %d×8 of %d bits", k, elemBits), Rows: k, Cols: 8, Lanes: 32,
		bits: lanes(Pos{Row: per}, Pos{Col: 1}),
	}
	for r := 0; r < k; r += 4 * per {
		for e := range per {
			l.elems = append(l.elems, Pos{r + e, 0})
		}
	}
	return l
}

// WgmmaA returns the layout of A of wgmma in registers: A of mma.sync in each of the four
// warps.
func WgmmaA(k, elemBits int) Layout {
	l := OperandA(k, elemBits)
	l.Name, l.Rows, l.Lanes = fmt.Sprintf("wgmma A 64×%d of %d bits", k, elemBits), 64, 128
	l.bits = warpgroup(l.bits)
	return l
}

// WmmaA returns the layout of A of wmma.m16n16k16 in f16: A of mma.sync, held twice. ptxas uses this layout
// for sm_80 to sm_90; PTX does not promise it.
func WmmaA() Layout { return twice(OperandA(16, 16), "wmma A 16×16") }

// WmmaB returns the layout of B of wmma.m16n16k16 in f16: two of mma.sync side by side, held twice.
func WmmaB() Layout {
	l := OperandB(16, 16)
	for _, e := range l.elems {
		l.elems = append(l.elems, Pos{e.Row, e.Col + 8})
	}
	l.Cols = 16
	return twice(l, "wmma B 16×16")
}

func twice(l Layout, name string) Layout {
	l.Name, l.elems = name, append(l.elems[:len(l.elems):len(l.elems)], l.elems...)
	return l
}

// rowSlots returns the different rows of a lane, and for each element the index of its row.
func (l Layout) rowSlots() (rows []int, slot []int) {
	index := map[int]int{}
	for _, e := range l.elems {
		s, ok := index[e.Row]
		if !ok {
			s = len(rows)
			index[e.Row] = s
			rows = append(rows, e.Row)
		}
		slot = append(slot, s)
	}
	return rows, slot
}
