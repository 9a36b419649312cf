package layout

import "fmt"

// Shape is M, N and K of an instruction.
type Shape struct{ M, N, K int }

// String is the shape as PTX writes it.
func (s Shape) String() string { return fmt.Sprintf("m%dn%dk%d", s.M, s.N, s.K) }

// A lane's group is its row of eight, its quad the place of four within one.
func group(lane int) int { return lane >> 2 }
func quad(lane int) int  { return lane & 3 }

// MMA gives the fragments of mma.sync with factors of the given bits an element, f64
// included; d is also c. The m8n8k4 of f16 has its own, see [Quarter].
//
// A lane holds words of consecutive k: of A the word quad of row group, then of the
// row eight below, then both of four words further right. B has the same words of
// column group.
func MMA(s Shape, bits int) (a, b, d Fragment) {
	per := max(32/bits, 1) // elements of a word
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

// accumulator is the place in tiles of 16×8 one beside the other: two neighbours of
// row group, two of the row eight below, then the next tile. A matrix of eight rows
// has only the first two.
func accumulator(lane, i int) Pos {
	return Pos{group(lane) + 8*(i>>1&1), 8*(i>>2) + 2*quad(lane) + i&1}
}

// Quarter gives the fragments of mma.sync.m8n8k4 with f16 factors, which multiplies
// four pairs of matrices: number q belongs to the lanes 4q…4q+3 and 16+4q…16+4q+3.
// Pos is a place in the quarter's own matrices; [QuarterOf] gives the number.
// aCol and bCol say that a factor is in the layout .col. d is for f32 results;
// dHalf for f16 ones.
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

// QuarterOf is the number of the product that a lane takes part in.
func QuarterOf(lane int) int { return lane >> 2 & 3 }
