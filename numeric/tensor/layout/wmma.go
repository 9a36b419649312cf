package layout

import "fmt"

// WMMA returns the fragments of wmma for factors of the given number of bits per element. c
// has the same fragment as d. It is the same for f16, f32 and s32. The fragments do not
// depend on the layout in memory.
//
// In f16, the fragments a and b always have eight registers and repeat their elements to fill
// them. copies must be set for f16, and only for f16.
func WMMA(s Shape, bits int, copies bool) (a, b, d Fragment) {
	if s.M == 8 && s.N == 8 {
		return MMA(s, bits)
	}
	switch (Shape{s.M, s.N, 0}) {
	case Shape{16, 16, 0}, Shape{32, 8, 0}, Shape{8, 32, 0}:
	default:
		panic(fmt.Sprintf("layout: wmma does not have the shape %v", s))
	}
	// A factor of 32 lines consists of two factors of 16 lines, one below the other. A factor
	// of 8 lines is half of one. For 16 rows, each eight columns of the other factor are as in
	// mma.sync.
	words := s.K * bits / 32 / 4 // words of a line per lane
	a = Fragment{s.M, s.K, 32, s.M * s.K / 32, 1, lines(bits, words, s.M > 8)}
	b = Fragment{s.K, s.N, 32, s.K * s.N / 32, 1, transposed(lines(bits, words, s.N == 32))}
	d = Fragment{s.M, s.N, 32, s.M * s.N / 32, 1, accumulator}
	switch {
	case s.M == 32:
		d.At = stacked
	case s.M == 8:
		d.At = transposed(stacked) // the product is computed with the transposed matrices
	}
	if copies {
		a, b = repeat(a), repeat(b)
	}
	return a, b, d
}

// lines returns the layout of a factor with consecutive k in a word. Consecutive registers
// hold the words of a line, then the words of the line eight below. With pairs they alternate
// between the two lines, as for the first factor of mma.sync.
func lines(bits, words int, pairs bool) Map {
	per := 32 / bits
	return func(lane, i int) Pos {
		reg := i / per
		line, word := reg/words, reg%words
		if pairs {
			line, word = reg&1+reg/(2*words)*2, reg>>1%words
		}
		return Pos{group(lane) + 8*line, (quad(lane)+4*word)*per + i%per}
	}
}

// stacked is the layout of an accumulator of 32 rows and eight columns.
func stacked(lane, i int) Pos { return Pos{group(lane) + 8*(i>>1), 2*quad(lane) + i&1} }

func transposed(m Map) Map {
	return func(lane, i int) Pos { return transpose(m(lane, i)) }
}

// repeat repeats the elements of a fragment to fill eight registers of two elements.
func repeat(f Fragment) Fragment {
	held, at := f.Elements, f.At
	f.Elements, f.Copies = 16, 16/held
	f.At = func(lane, i int) Pos { return at(lane, i%held) }
	return f
}
