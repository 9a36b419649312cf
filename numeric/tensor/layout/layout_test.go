package layout

import "testing"

// TestEveryElementIsHeld checks that the lanes together hold each element of a matrix as often
// as Copies says, and no element outside the matrix.
func TestEveryElementIsHeld(t *testing.T) {
	check := func(name string, f Fragment) {
		t.Helper()
		seen := map[Pos]int{}
		for lane := range f.Lanes {
			for i := range f.Elements {
				seen[f.At(lane, i)]++
			}
		}
		if len(seen) != f.Rows*f.Cols || f.Lanes*f.Elements != f.Rows*f.Cols*f.Copies {
			t.Errorf("%s: %d places of %d×%d in %d×%d elements", name, len(seen), f.Rows, f.Cols, f.Lanes, f.Elements)
		}
		for p, n := range seen {
			if n != f.Copies || p.Row < 0 || p.Row >= f.Rows || p.Col < 0 || p.Col >= f.Cols {
				t.Fatalf("%s: %v is held %d times", name, p, n)
			}
		}
	}
	for _, c := range []struct {
		bits   int
		shapes []Shape
	}{
		{64, []Shape{{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
		{32, []Shape{{16, 8, 4}, {16, 8, 8}}},
		{16, []Shape{{16, 8, 8}, {16, 8, 16}}},
		{8, []Shape{{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}},
		{4, []Shape{{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}},
		{1, []Shape{{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}},
	} {
		for _, s := range c.shapes {
			a, b, d := MMA(s, c.bits)
			check("mma a "+s.String(), a)
			check("mma b "+s.String(), b)
			check("mma d "+s.String(), d)
		}
	}
	for _, c := range sparseShapes {
		f := Metadata(c.s, c.bits)
		check("metadata "+c.s.String(), f)
		a, b, _ := MMA(c.s, c.bits)
		if c.s.M == 16 {
			check("mma.sp b "+c.s.String(), b)
		}
		if entries := f.Lanes * f.Elements / f.Copies; entries*chunkLength(c.bits) != a.Rows*a.Cols {
			t.Errorf("%s of %d bits: %d entries", c.s, c.bits, entries)
		}
	}
	for _, bits := range []int{32, 16, 8, 1} {
		for n := 8; n <= 256; n += 8 {
			a, d := WGMMA(Shape{64, n, 256 / bits}, bits)
			check("wgmma a", a)
			check("wgmma d", d)
		}
	}
	for _, c := range []struct {
		s      Shape
		bits   int
		copies bool
	}{
		{Shape{16, 16, 16}, 16, true}, {Shape{32, 8, 16}, 16, true}, {Shape{8, 32, 16}, 16, true},
		{Shape{16, 16, 16}, 16, false}, {Shape{32, 8, 16}, 16, false}, {Shape{8, 32, 16}, 16, false},
		{Shape{16, 16, 16}, 8, false}, {Shape{32, 8, 16}, 8, false}, {Shape{8, 32, 16}, 8, false},
		{Shape{16, 16, 8}, 32, false}, {Shape{8, 8, 4}, 64, false}, {Shape{8, 8, 32}, 4, false}, {Shape{8, 8, 128}, 1, false},
	} {
		a, b, d := WMMA(c.s, c.bits, c.copies)
		check("wmma a "+c.s.String(), a)
		check("wmma b "+c.s.String(), b)
		check("wmma d "+c.s.String(), d)
	}
}

// sparseShapes are the shapes of sparse products, by the size of their elements.
var sparseShapes = []struct {
	bits int
	s    Shape
}{
	{32, Shape{16, 8, 8}}, {32, Shape{16, 8, 16}}, {16, Shape{16, 8, 16}}, {16, Shape{16, 8, 32}},
	{8, Shape{16, 8, 32}}, {8, Shape{16, 8, 64}}, {4, Shape{16, 8, 64}}, {4, Shape{16, 8, 128}},
	{32, Shape{64, 8, 16}}, {16, Shape{64, 8, 32}}, {8, Shape{64, 8, 64}},
}

// TestSelected checks that each selector chooses lanes that hold all metadata once.
func TestSelected(t *testing.T) {
	for _, c := range sparseShapes {
		f := Metadata(c.s, c.bits)
		for selector := range Selectors(c.s, c.bits) {
			seen := map[Pos]bool{}
			for lane := range f.Lanes {
				for i := range f.Elements {
					if Selected(c.s, c.bits, lane, selector) {
						seen[f.At(lane, i)] = true
					}
				}
			}
			if len(seen) != f.Rows*f.Cols {
				t.Errorf("%s of %d bits, selector %d: %d of %d entries", c.s, c.bits, selector, len(seen), f.Rows*f.Cols)
			}
		}
	}
}

// TestQuarters checks the same for the four products of m8n8k4.
func TestQuarters(t *testing.T) {
	for _, col := range []bool{false, true} {
		a, b, d, dHalf := Quarter(col, col)
		for k, f := range []Fragment{a, b, d, dHalf} {
			var seen [4]map[Pos]bool
			for lane := range 32 {
				q := QuarterOf(lane)
				for i := range f.Elements {
					if seen[q] == nil {
						seen[q] = map[Pos]bool{}
					}
					p := f.At(lane, i)
					if seen[q][p] || p.Row >= f.Rows || p.Col >= f.Cols {
						t.Fatalf("matrix %d, col %v, lane %d, element %d: %v", k, col, lane, i, p)
					}
					seen[q][p] = true
				}
			}
			for q := range seen {
				if len(seen[q]) != f.Rows*f.Cols {
					t.Errorf("matrix %d of quarter %d holds %d elements", k, q, len(seen[q]))
				}
			}
		}
	}
}

// TestPlaces compares places with the PTX manual and, for wmma, with the places from which
// code of ptxas loads.
func TestPlaces(t *testing.T) {
	aHalf, bHalf, dHalf := MMA(Shape{16, 8, 16}, 16)
	aByte, bByte, _ := MMA(Shape{16, 8, 32}, 8)
	aTF32, bTF32, _ := MMA(Shape{16, 8, 8}, 32)
	aF64, bF64, _ := MMA(Shape{16, 8, 16}, 64)
	aBit, _, _ := MMA(Shape{16, 8, 256}, 1)
	aWG, dWG := WGMMA(Shape{64, 256, 32}, 8)
	a16, b16, d16 := WMMA(Shape{16, 16, 16}, 16, true)
	a32, b8, d32 := WMMA(Shape{32, 8, 16}, 16, true)
	a8, b32, d8 := WMMA(Shape{8, 32, 16}, 16, true)
	_, bS8, _ := WMMA(Shape{16, 16, 16}, 8, false)
	aW, bW, _ := WMMA(Shape{16, 16, 8}, 32, false)
	qa, qb, qd, qh := Quarter(false, true)
	metaHalf, metaByte := Metadata(Shape{16, 8, 32}, 16), Metadata(Shape{16, 8, 64}, 8)
	metaWG := Metadata(Shape{64, 8, 16}, 32)
	for _, c := range []struct {
		name    string
		f       Fragment
		lane, i int
		want    Pos
	}{
		{"mma a f16", aHalf, 13, 3, Pos{11, 3}},
		{"mma a f16", aHalf, 13, 4, Pos{3, 10}},
		{"mma b f16", bHalf, 13, 3, Pos{11, 3}},
		{"mma d", dHalf, 13, 2, Pos{11, 2}},
		{"mma a s8", aByte, 13, 6, Pos{11, 6}},
		{"mma a s8", aByte, 13, 9, Pos{3, 21}},
		{"mma b s8", bByte, 13, 5, Pos{21, 3}},
		{"mma a tf32", aTF32, 13, 2, Pos{3, 5}},
		{"mma b tf32", bTF32, 13, 1, Pos{5, 3}},
		{"mma a f64", aF64, 13, 5, Pos{11, 9}},
		{"mma b f64", bF64, 13, 3, Pos{13, 3}},
		{"mma a b1", aBit, 13, 64, Pos{3, 160}},
		{"wgmma a e4m3", aWG, 32 + 13, 9, Pos{19, 21}},
		{"wgmma d", dWG, 32 + 13, 127, Pos{27, 251}},
		{"wmma a f16", a16, 13, 2, Pos{11, 2}},
		{"wmma a f16 copy", a16, 13, 10, Pos{11, 2}},
		{"wmma b f16", b16, 13, 2, Pos{10, 3}},
		{"wmma b f16", b16, 13, 4, Pos{2, 11}},
		{"wmma d", d16, 13, 5, Pos{3, 11}},
		{"wmma a m32", a32, 13, 8, Pos{19, 2}},
		{"wmma b n8", b8, 13, 6, Pos{10, 3}},
		{"wmma d m32", d32, 13, 4, Pos{19, 2}},
		{"wmma a m8", a8, 13, 2, Pos{3, 10}},
		{"wmma b n32", b32, 13, 2, Pos{2, 11}},
		{"wmma b n32", b32, 13, 12, Pos{10, 19}},
		{"wmma d m8", d8, 13, 3, Pos{3, 11}},
		{"wmma b s8", bS8, 13, 5, Pos{5, 11}},
		{"wmma a tf32", aW, 13, 1, Pos{11, 1}},
		{"wmma b tf32", bW, 13, 1, Pos{5, 3}},
		{"mma.sp metadata f16", metaHalf, 13, 2, Pos{3, 6}},
		{"mma.sp metadata f16", metaHalf, 13, 5, Pos{11, 5}},
		{"mma.sp metadata s8", metaByte, 13, 5, Pos{11, 5}},
		{"mma.sp metadata s8", metaByte, 14, 5, Pos{3, 13}},
		{"wgmma.sp metadata tf32", metaWG, 32 + 13, 4, Pos{27, 4}},
		{"m8n8k4 a row", qa, 22, 3, Pos{6, 3}},
		{"m8n8k4 b col", qb, 22, 3, Pos{3, 6}},
		{"m8n8k4 d f32", qd, 22, 7, Pos{6, 7}},
		{"m8n8k4 d f16", qh, 22, 7, Pos{6, 7}},
	} {
		if got := c.f.At(c.lane, c.i); got != c.want {
			t.Errorf("%s, lane %d, element %d: %v, want %v", c.name, c.lane, c.i, got, c.want)
		}
	}
}

// TestLdMatrix checks that ldmatrix.trans loads the transpose of ldmatrix, and that each row
// has its own lane.
func TestLdMatrix(t *testing.T) {
	plain, trans := map[Pos]bool{}, map[Pos]bool{}
	for lane := range 32 {
		for h := range 2 {
			p, q := LdMatrix(lane, h, false), LdMatrix(lane, h, true)
			plain[p], trans[q] = true, true
			if p.Row != q.Col || p.Col != q.Row {
				t.Errorf("lane %d, half %d: %v and %v", lane, h, p, q)
			}
		}
	}
	if len(plain) != 64 || len(trans) != 64 {
		t.Errorf("%d and %d of 64 elements", len(plain), len(trans))
	}
	if got := LdMatrix(13, 1, false); got != (Pos{3, 3}) {
		t.Errorf("lane 13 has %v", got)
	}
	lanes := map[int]bool{}
	for m := range 4 {
		for r := range 8 {
			lanes[LdMatrixRow(m, r)] = true
		}
	}
	if len(lanes) != 32 {
		t.Errorf("%d lanes have addresses", len(lanes))
	}
}
