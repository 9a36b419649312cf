package layout

import "fmt"

// Shape holds M, N and K of an instruction.
type Shape struct{ M, N, K int }

// String returns the shape in the form of PTX.
func (s Shape) String() string { return fmt.Sprintf("m%dn%dk%d", s.M, s.N, s.K) }

// The 32 lanes form eight groups of four lanes. group is the number of a lane's group, quad
// is its position in the group.
func group(lane int) int { return lane >> 2 }
func quad(lane int) int  { return lane & 3 }

// MMA returns the fragments of mma.sync with factors of the given number of bits per element,
// including f64. c has the same fragment as d. m8n8k4 of f16 has different fragments: see
// [Quarter].
//
// A lane holds words of elements with consecutive k. For A these are word quad of row group,
// then the same word of the row eight below, then the words four further to the right of both
// rows. For B they are the same words of column group.
func MMA(s Shape, bits int) (a, b, d Fragment) {
	per := max(32/bits, 1) // elements per word
	rowsOf8 := s.M / 8
	at := func(lane, line, word, i int) Pos {
		return Pos{group(lane) + 8*line, (quad(lane)+4*word)*per + i%per}
	}
	a = Fragment{s.M, s.K, 32, s.M * s.K / 32, 1, func(lane, i int) Pos {
		return at(lane, i/per%rowsOf8, i/per/rowsOf8, i)
	}}
	b = Fragment{s.K, s.N, 32, s.K * s.N / 32, 1, func(lane, i int) Pos {
		return transpose(at(lane, 0, i/per, i))
	}}
	d = Fragment{s.M, s.N, 32, s.M * s.N / 32, 1, accumulator}
	return a, b, d
}

func transpose(p Pos) Pos { return Pos{p.Col, p.Row} }

// accumulator returns the place of an element in tiles of 16×8 that are side by side: two
// neighbours in row group, two in the row eight below, then the next tile. A matrix of eight
// rows has only the first two.
func accumulator(lane, i int) Pos {
	return Pos{group(lane) + 8*(i>>1&1), 8*(i>>2) + 2*quad(lane) + i&1}
}

// Quarter returns the fragments of mma.sync.m8n8k4 with f16 factors. The instruction
// multiplies four pairs of matrices: pair q belongs to the lanes 4q…4q+3 and 16+4q…16+4q+3,
// and [QuarterOf] returns q for a lane. A Pos is a place in the matrices of one pair. aCol
// and bCol are set if a factor has the layout .col. d is the fragment of f32 results, dHalf
// the fragment of f16 results.
func Quarter(aCol, bCol bool) (a, b, d, dHalf Fragment) {
	upper := func(lane int) int { return lane >> 4 * 4 }
	line := func(lane, i int) Pos { return Pos{lane&3 + upper(lane), i} }
	rows := func(lane, i int) Pos { return Pos{i + upper(lane), lane & 3} }
	a, b = Fragment{8, 4, 32, 4, 1, line}, Fragment{4, 8, 32, 4, 1, nil}
	if aCol {
		a.At = rows
	}
	b.At = func(lane, i int) Pos { return transpose(rows(lane, i)) }
	if bCol {
		b.At = func(lane, i int) Pos { return transpose(line(lane, i)) }
	}
	d = Fragment{8, 8, 32, 8, 1, func(lane, i int) Pos {
		return Pos{lane&1 + i&2 + upper(lane), i&4 + lane&2 + i&1}
	}}
	dHalf = Fragment{8, 8, 32, 8, 1, line}
	return a, b, d, dHalf
}

// QuarterOf returns the number of the pair of matrices that a lane belongs to.
func QuarterOf(lane int) int { return lane >> 2 & 3 }
