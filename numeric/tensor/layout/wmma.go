package layout

import "fmt"

// WMMA gives the fragments of wmma for factors of the given bits an element; d is
// also c, and the same for f16, f32 and s32. Layouts in memory do not matter: load
// and store put elements in the same places from rows and from columns.
//
// The f16 fragments a and b have eight registers in any shape and repeat their
// elements to fill them; copies says so, and is true for f16 alone.
func WMMA(s Shape, bits int, copies bool) (a, b, d Fragment) {
	if s.M == 8 && s.N == 8 {
		return MMA(s, bits)
	}
	switch (Shape{s.M, s.N, 0}) {
	case Shape{16, 16, 0}, Shape{32, 8, 0}, Shape{8, 32, 0}:
	default:
		panic(fmt.Sprintf("layout: wmma has no shape %v", s))
	}
	// A factor of 32 lines is two of 16 one below the other; one of 8 lines is half
	// of one. Eight columns of the other factor beside 16 rows are as in mma.sync.
	words := s.K * bits / 32 / 4 // of a line in a lane
	a = Fragment{s.M, s.K, 32, s.M * s.K / 32, 1, lines(bits, words, s.M > 8)}
	b = Fragment{s.K, s.N, 32, s.K * s.N / 32, 1, turned(lines(bits, words, s.N == 32))}
	d = Fragment{s.M, s.N, 32, s.M * s.N / 32, 1, accumulator}
	switch {
	case s.M == 32:
		d.At = stacked
	case s.M == 8:
		d.At = turned(stacked) // the product is that of the transposed matrices
	}
	if copies {
		a, b = repeat(a), repeat(b)
	}
	return a, b, d
}

// lines is the layout of a factor with consecutive k in a word. Registers go
// through the words of a line and then down by eight lines; with pairs they first
// go to the line eight below, as the first factor of mma.sync.
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

// stacked is the accumulator of 32 rows and eight columns.
func stacked(lane, i int) Pos { return Pos{group(lane) + 8*(i>>1), 2*quad(lane) + i&1} }

func turned(m Map) Map {
	return func(lane, i int) Pos { return transpose(m(lane, i)) }
}

// repeat fills eight registers of two elements.
func repeat(f Fragment) Fragment {
	held, at := f.Elements, f.At
	f.Elements, f.Copies = 16, 16/held
	f.At = func(lane, i int) Pos { return at(lane, i%held) }
	return f
}
