package machine

import (
	"slices"

	"github.com/GOATnote-Inc/attest/numeric/tensor"
)

// Scratch is working memory for one matrix product: the factors as packed words and
// decoded, and the accumulator.
type Scratch struct {
	A, B, C []uint32
	Meta    []uint8 // the entries of the metadata of a sparse product, by rows
	Rows    decoded[tensor.Rows]
	Cols    decoded[tensor.Cols]

	Integer, IntegerOf *tensor.Integer

	row *Scratch
}

// RowProduct returns working memory for the product of one row, of which a sparse product
// consists.
func (s *Scratch) RowProduct() *Scratch {
	if s.row == nil {
		s.row = new(Scratch)
	}
	return s.row
}

// Resize makes room for a and b words in the factors and c words in the accumulator.
func (s *Scratch) Resize(a, b, c int) {
	s.A, s.B, s.C = resize(s.A, a), resize(s.B, b), resize(s.C, c)
}

func resize(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	return s[:n]
}

// decoded caches the factors that were decoded last, because the same factor is needed
// several times: programs multiply one fragment with several others in a row, and the four
// warps of a warpgroup share their second factors. Each warp computes a whole group of
// products before the next warp's turn, so the cache holds several factors.
type decoded[T any] struct {
	entries [16]struct {
		by    *tensor.Float
		words []uint32
		value T
	}
	next int
}

// Find returns the decoded form of the factor that is packed in words. If found is false,
// value is where the caller must decode it.
func (d *decoded[T]) Find(by *tensor.Float, words []uint32) (value *T, found bool) {
	for i := range d.entries {
		if e := &d.entries[i]; e.by == by && equal(e.words, words) {
			return &e.value, true
		}
	}
	e := &d.entries[d.next]
	d.next = (d.next + 1) % len(d.entries)
	e.by, e.words = by, append(e.words[:0], words...)
	return &e.value, false
}

// equal reports whether two slices hold the same words. The compiler compares arrays with vector
// instructions, and slices word by word.
func equal(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	const chunk = 32
	for ; len(a) >= chunk; a, b = a[chunk:], b[chunk:] {
		if *(*[chunk]uint32)(a) != *(*[chunk]uint32)(b) {
			return false
		}
	}
	return slices.Equal(a, b)
}
