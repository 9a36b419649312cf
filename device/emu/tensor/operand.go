package tensor

import "math"

// Rows is the first factor, decoded: m rows of k elements. Cols is the second: n
// columns of k elements. The zero value is ready for [Float.LoadA] and
// [Float.LoadB], and may be loaded again, which reuses its memory.
type (
	Rows struct{ factor }
	Cols struct{ factor }
)

// factor has lines (rows of A, columns of B) of depth elements, in the order in
// which blocks take them.
type factor struct {
	lines, depth int
	blocks       int // in a line
	minExp       int // of a subnormal element
	val          []float64
	large        []float64 // of A, see fast.go
	// exps has the exponents in lanes of a word, see lanes.go: for A each element's
	// in all lanes, for B those of as many columns as there are lanes.
	exps []uint64
	// For each line and block:
	signs []uint64 // positive elements in one half, negative ones in the other
	low   []int32  // exponent of the smallest element, or noFast
}

// noFast is the low exponent of a block with an infinity or a NaN, which no sum
// on the fast path can stand.
const noFast = -1 << 20

// LoadA decodes the first factor from its packed elements: m rows of k, each row
// k.Words(k) words, the first element in the lowest bits. k is that of one
// instruction, at most 64.
func (f *Float) LoadA(r *Rows, m, k int, words []uint32) {
	f.load(&r.factor, f.a, m, k, words)
	f.spread(&r.factor)
}

// LoadB decodes the second factor: n columns of k elements, packed as in LoadA.
func (f *Float) LoadB(c *Cols, n, k int, words []uint32) {
	f.load(&c.factor, f.b, n, k, words)
	for i, s := range c.signs {
		c.signs[i] = s<<32 | s>>32 // so that & with a row's finds the negative products
	}
	f.group(&c.factor)
}

func (f *Float) load(x *factor, kind Kind, lines, depth int, words []uint32) {
	length := min(f.rule.length, depth)
	x.lines, x.depth, x.blocks = lines, depth, depth/length
	x.minExp = f.rule.minExp(kind)
	x.val = resize(x.val, lines*depth)
	kind.unpack(x.val, words[:kind.Words(lines*depth)])
	if f.rule.twoPass && depth > length {
		for i := range lines {
			f.rule.reorder(x.val[i*depth : (i+1)*depth])
		}
	}
	x.signs = resize(x.signs, lines*x.blocks)
	x.low = resize(x.low, lines*x.blocks)
	for i := range x.signs {
		x.signs[i], x.low[i] = survey(x.val[i*length : (i+1)*length])
	}
}

// reorder brings a line into the order of its blocks.
func (r *rule) reorder(line []float64) {
	var old [64]float64
	copy(old[:], line)
	for k := range line {
		line[r.place(k, len(line))] = old[k]
	}
}

// survey looks at the elements of a block: which are positive and which negative,
// and the exponent of the smallest.
func survey(block []float64) (signs uint64, low int32) {
	const biggest = 127
	low = biggest
	for i, x := range block {
		u := math.Float64bits(x)
		e := int32(u>>52&0x7ff) - 1023
		switch {
		case u<<1 == 0:
			continue
		case e == 1024:
			e = noFast
		}
		signs |= 1 << (uint(i) + uint(u>>63)<<5)
		low = min(low, e)
	}
	return signs, low
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
