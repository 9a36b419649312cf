package layouts

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
)

// WriteHeader writes a C header with one function for the row and one for the column of
// each matrix, for C, C++ and CUDA. Every function was compared with the layout for all
// lanes and elements before it is written.
func (p *Picture) WriteHeader(w io.Writer) error {
	prefix := strings.NewReplacer(".", "_").Replace(p.Name)
	var b strings.Builder
	fmt.Fprintf(&b, "/* Written by attest ptx layout %s --as header. */\n", p.Name)
	fmt.Fprintf(&b, "#pragma once\n\n#ifdef __CUDACC__\n#define ATTEST_LAYOUT static __host__ __device__ inline\n#else\n#define ATTEST_LAYOUT static inline\n#endif\n")
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "\n/* %s */\n", n)
	}
	for i := range p.Matrices {
		m := &p.Matrices[i]
		if m.at == nil {
			fmt.Fprintf(&b, "\n/* Where the byte at an offset of the tile is. */\nATTEST_LAYOUT int %s(int offset) { return offset ^ (((offset >> 7) & %d) << 4); }\n", prefix, m.Cols-1)
			continue
		}
		s, err := sumsOf(m)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		fmt.Fprintf(&b, "\n/* %s. %s i is 0 to %d. */\n", m.What, m.summary(), m.each-1)
		name := prefix + "_" + m.Name
		fmt.Fprintf(&b, "ATTEST_LAYOUT int %s_row(int lane, int i) { return %s; }\n", name, s.formula(func(p layout.Pos) int { return p.Row }))
		fmt.Fprintf(&b, "ATTEST_LAYOUT int %s_col(int lane, int i) { return %s; }\n", name, s.formula(func(p layout.Pos) int { return p.Col }))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sums is a layout as a sum: each bit that is set in the lane's number, and each that is set
// in the element's index, adds a distance.
type sums struct{ lane, elem []layout.Pos }

// sumsOf derives the distances from the places of single bits and compares the sum with
// every place.
func sumsOf(m *Matrix) (s sums, err error) {
	for b := 1; b < m.Lanes; b *= 2 {
		s.lane = append(s.lane, m.at(b, 0))
	}
	for b := 1; b < m.each; b *= 2 {
		s.elem = append(s.elem, m.at(0, b))
	}
	for lane := range m.Lanes {
		for i := range m.each {
			if s.at(lane, i) != m.at(lane, i) {
				return s, fmt.Errorf("the layout of %s is not a sum over bits, so it has no short formula: use --json", m.Name)
			}
		}
	}
	return s, nil
}

func (s sums) at(lane, i int) (p layout.Pos) {
	add := func(bits []layout.Pos, n int) {
		for b, d := range bits {
			if n>>b&1 == 1 {
				p.Row, p.Col = p.Row+d.Row, p.Col+d.Col
			}
		}
	}
	add(s.lane, lane)
	add(s.elem, i)
	return p
}

// formula is the C expression of the row or of the column.
func (s sums) formula(of func(layout.Pos) int) string {
	terms := append(fields("lane", s.lane, of), fields("i", s.elem, of)...)
	if terms == nil {
		return "0"
	}
	return strings.Join(terms, " + ")
}

// fields are the terms of a variable. Bits whose distances double from one to the next are
// one field.
func fields(name string, bits []layout.Pos, of func(layout.Pos) int) (terms []string) {
	for b := 0; b < len(bits); {
		weight, n := of(bits[b]), 1
		for weight != 0 && b+n < len(bits) && of(bits[b+n]) == weight<<n {
			n++
		}
		if weight != 0 {
			terms = append(terms, fmt.Sprintf("(%s >> %d & %d) * %d", name, b, 1<<n-1, weight))
		}
		b += n
	}
	return terms
}
