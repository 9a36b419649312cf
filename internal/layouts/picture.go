package layouts

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
)

// Picture is a layout with all its matrices.
type Picture struct {
	Name     string   `json:"name"`
	Notes    []string `json:"notes,omitempty"`
	Matrices []Matrix `json:"matrices"`
}

// Matrix is one matrix of a layout. Held[row][col] lists who holds the element: several
// lanes or registers where the layout keeps copies.
type Matrix struct {
	Name      string     `json:"name"` // "a", "b", "d"
	What      string     `json:"what"`
	Rows      int        `json:"rows"`
	Cols      int        `json:"cols"`
	Lanes     int        `json:"lanes,omitempty"`
	Registers int        `json:"registers,omitempty"` // per lane
	Held      [][][]Cell `json:"held"`

	at   layout.Map // nil for a swizzle
	each int        // elements per lane
	bits int
}

// Cell is where an element is: in part Part of a register of a lane. In a swizzle the cell
// is a unit of 16 bytes, and Register is the unit of the row that holds it.
type Cell struct {
	Lane     int `json:"lane"`
	Register int `json:"register"`
	Part     int `json:"part,omitempty"` // the index of the element among those in one register, from the lowest bits
}

// product is the picture of an instruction's fragments.
func product(name string, s layout.Shape, factor string) *Picture {
	bits := bitsOf[factor]
	p := &Picture{Name: fmt.Sprintf("%s.%s.%s", name, s, factor)}
	sum, sumBits := accumulatorOf(factor), 32
	if factor == "f64" {
		sumBits = 64
	}
	var a, b, d layout.Fragment
	stored := s
	base, sparse := strings.CutSuffix(name, ".sp")
	if sparse {
		stored.K /= 2
	}
	switch base {
	case "mma":
		a, _, _ = layout.MMA(stored, bits)
		_, b, d = layout.MMA(s, bits)
	case "wmma":
		a, b, d = layout.WMMA(s, bits, factor == "f16")
		p.Notes = append(p.Notes, "PTX does not define this layout; ptxas uses it for sm_80 to sm_90.")
	case "wgmma":
		a, d = layout.WGMMA(stored, bits)
		p.Notes = append(p.Notes, "Lanes are numbered through the warpgroup, 0 to 127. B is in shared memory.",
			"A is shown as it is in registers; it can be in shared memory instead.")
	}
	p.Matrices = append(p.Matrices, fragment("a", fmt.Sprintf("A, %d×%d of %s", a.Rows, a.Cols, factor), a, bits))
	if b.Elements > 0 {
		p.Matrices = append(p.Matrices, fragment("b", fmt.Sprintf("B, %d×%d of %s", b.Rows, b.Cols, factor), b, bits))
	}
	p.Matrices = append(p.Matrices, fragment("d", fmt.Sprintf("C and D, %d×%d of %s", d.Rows, d.Cols, sum), d, sumBits))
	if sparse {
		p.Matrices = append(p.Matrices, metadata(s, bits))
		p.Notes = append(p.Notes, sparseNotes(s, bits)...)
	}
	if factor == "f16" {
		p.Notes = append(p.Notes, "With f16 accumulators, elements 2i and 2i+1 of C and D share register i.")
	}
	return p
}

// metadata is the matrix of the metadata of a sparse A.
func metadata(s layout.Shape, bits int) Matrix {
	f := layout.Metadata(s, bits)
	return fragment("e", fmt.Sprintf("metadata of A, %d×%d entries of 4 bits", f.Rows, f.Cols), f, 4)
}

// sparseNotes says how A and the metadata are stored.
func sparseNotes(s layout.Shape, bits int) (notes []string) {
	unit := map[int]string{32: "half of an element", 16: "an element", 8: "an element", 4: "a pair of elements"}[bits]
	notes = append(notes, "A is shown as it is stored, with half of its elements.",
		fmt.Sprintf("An entry belongs to four units of a row of A; a unit is %s. Its low two bits are the place of the first stored unit, its high two bits the place of the second.", unit))
	if n := layout.Selectors(s, bits); n > 1 {
		notes = append(notes, fmt.Sprintf("The sparsity selector, 0 to %d, chooses which %s of each four lanes the metadata comes from.", n-1,
			map[int]string{2: "two", 4: "one"}[n]))
	}
	return notes
}

// accumulatorOf is the type of C and D that is shown for a type of factors.
func accumulatorOf(factor string) string {
	switch factor {
	case "s8", "u8", "s4", "u4", "b1":
		return "s32"
	case "f64":
		return "f64"
	}
	return "f32"
}

// fragment is a matrix in registers.
func fragment(name, what string, f layout.Fragment, bits int) Matrix {
	m := Matrix{Name: name, What: what, Rows: f.Rows, Cols: f.Cols, Lanes: f.Lanes, at: f.At, each: f.Elements, bits: bits}
	per := max(32/bits, 1)
	m.Registers = f.Elements / per
	m.Held = make([][][]Cell, f.Rows)
	for r := range m.Held {
		m.Held[r] = make([][]Cell, f.Cols)
	}
	for lane := range f.Lanes {
		for i := range f.Elements {
			at := f.At(lane, i)
			m.Held[at.Row][at.Col] = append(m.Held[at.Row][at.Col], Cell{lane, i / per, i % per})
		}
	}
	return m
}

// findMove is the picture of ldmatrix, stmatrix or movmatrix.
func findMove(tokens []string) (*Picture, error) {
	count, trans := 1, false
	for _, t := range tokens[1:] {
		switch t {
		case "x1", "x2", "x4":
			count, _ = strconv.Atoi(t[1:])
		case "trans":
			trans = true
		case "sync", "aligned", "m8n8", "b16", "shared", "cta":
		default:
			return nil, fmt.Errorf("%s: unknown part .%s: use .x1, .x2 or .x4, and .trans", strings.Join(tokens, "."), t)
		}
	}
	name := fmt.Sprintf("%s.x%d", tokens[0], count)
	if trans {
		name += ".trans"
	}
	p := &Picture{Name: name}
	if tokens[0] != "movmatrix" {
		p.Notes = append(p.Notes, "Lane 8m+r has the address of row r of matrix m; register m of every lane belongs to matrix m.")
	}
	for m := range count {
		f := layout.Fragment{Rows: 8, Cols: 8, Lanes: 32, Elements: 2, Copies: 1, At: func(lane, i int) layout.Pos { return layout.LdMatrix(lane, i, trans) }}
		x := fragment("m"+strconv.Itoa(m), fmt.Sprintf("matrix %d, 8×8 of 16 bits", m), f, 16)
		for r := range x.Held {
			for c := range x.Held[r] {
				x.Held[r][c][0].Register = m
			}
		}
		p.Matrices = append(p.Matrices, x)
	}
	return p, nil
}

// findSwizzle is the picture of a swizzle of the copy engine and of wgmma.
func findSwizzle(tokens []string) (*Picture, error) {
	width := 0
	if len(tokens) == 2 {
		width, _ = strconv.Atoi(strings.TrimSuffix(strings.ToLower(tokens[1]), "b"))
	}
	if width != 32 && width != 64 && width != 128 {
		return nil, fmt.Errorf("no swizzle %q: use swizzle.32b, swizzle.64b or swizzle.128b", strings.Join(tokens, "."))
	}
	units := width / 16
	m := Matrix{Name: "units", What: fmt.Sprintf("rows of %d bytes in units of 16 bytes: each cell is the unit of the row that holds it", width), Rows: 8, Cols: units}
	for r := range 8 {
		row := make([][]Cell, units)
		for u := range units {
			row[u] = []Cell{{Register: layout.Swizzle(width, r*width+16*u)/16 - r*units}}
		}
		m.Held = append(m.Held, row)
	}
	return &Picture{
		Name:     fmt.Sprintf("swizzle.%db", width),
		Notes:    []string{fmt.Sprintf("The byte at offset x is at x ^ (((x >> 7) & %d) << 4). The tile must be aligned to %d bytes.", units-1, 8*width)},
		Matrices: []Matrix{m},
	}, nil
}
