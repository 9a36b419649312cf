package tensor

import "math"

// Rows is the first factor, decoded: m rows of k elements. The zero value is ready
// for [Float.LoadA], and may be loaded again, which reuses its memory.
type Rows struct {
	factor
	large []float64 // val as the fast path wants it, see fast.go
}

// Cols is the second factor, decoded: n columns of k elements, for [Float.LoadB].
// Columns are kept in panels of eight, the last one filled up with zeros.
type Cols struct{ factor }

// panel is the number of elements of a row that are computed together.
const panel = 8

// factor has lines (rows of A, columns of B) of k elements, in the order in which
// blocks take them. A tile is a block of a row, or of all columns of a panel.
type factor struct {
	lines  int
	blocks int // in a line
	length int // of a block
	minExp int // of a subnormal element
	val    []float64
	exps   []uint64 // exponents, in lanes of words, see lanes.go
	// For each block of each line:
	signs []uint64 // positive elements in one half, negative ones in the other
	low   []int32  // exponent of the smallest element, or noFast
}

const (
	noFast   = -1 << 20 // low of a block with an infinity or a NaN
	noneLow  = 127      // low of a block of zeros
	maxDepth = 64       // elements of a line
)

// LoadA decodes the first factor from its packed elements: m rows of k, each row
// [Kind.Words](k) words, the first element in the lowest bits. k is that of one
// instruction, and at most 64.
func (f *Float) LoadA(r *Rows, m, k int, words []uint32) {
	f.size(&r.factor, f.a, m, k)
	r.val = resize(r.val, m*k)
	r.large = resize(r.large, m*k)
	r.exps = resize(r.exps, m*k)
	r.signs, r.low = resize(r.signs, m*r.blocks), resize(r.low, m*r.blocks)
	every, top := uint64(every8), uint64(top8)
	if f.a.wide() {
		every, top = every16, top16
	}
	var s scan
	for i := range m {
		s.line(f, f.a, words[f.a.Words(i*k):], k)
		copy(r.val[i*k:], s.val[:k])
		large, exps := r.large[i*k:][:k], r.exps[i*k:][:k]
		for e := range large {
			large[e] = s.val[e] * larger
			exps[e] = uint64(s.lane[e])*every | top
		}
		for t := range r.blocks {
			r.signs[i*r.blocks+t], r.low[i*r.blocks+t] = s.block(t, r.length)
		}
	}
}

// LoadB decodes the second factor: n columns of k elements, packed as in LoadA.
func (f *Float) LoadB(c *Cols, n, k int, words []uint32) {
	f.size(&c.factor, f.b, n, k)
	panels := (n + panel - 1) / panel
	c.val = resize(c.val, panels*panel*k)
	c.signs, c.low = resize(c.signs, panels*panel*c.blocks), resize(c.low, panels*panel*c.blocks)
	perWord, bits := 8, 8
	if f.b.wide() {
		perWord, bits = 4, 16
	}
	c.exps = resize(c.exps, panels*panel/perWord*k)
	clear(c.exps)
	var s scan
	for j := range panels * panel {
		if j < n {
			s.line(f, f.b, words[f.b.Words(j*k):], k)
		} else {
			s = scan{}
		}
		for t := range c.blocks {
			tile := (j/panel*c.blocks + t) * panel
			line := tile + j%panel
			copy(c.val[line*c.length:][:c.length], s.val[t*c.length:])
			exps := c.exps[(tile+j%panel)/perWord*c.length:][:c.length]
			shift := j % perWord * bits
			for e := range exps {
				exps[e] |= uint64(s.lane[t*c.length+e]) << shift
			}
			signs, low := s.block(t, c.length)
			// Turned round, so that & with a row's signs finds the negative products.
			c.signs[line], c.low[line] = signs<<32|signs>>32, low
		}
	}
}

func (f *Float) size(x *factor, kind Kind, lines, k int) {
	x.lines, x.length = lines, min(f.rule.length, k)
	x.blocks = k / x.length
	x.minExp = f.rule.minExp(kind)
}

// scan is a line on its way into a factor.
type scan struct {
	val  [maxDepth]float64
	lane [maxDepth]uint16 // exponents with their bias
}

// line decodes k elements and brings them into the order of their blocks.
func (s *scan) line(f *Float, kind Kind, words []uint32, k int) {
	kind.unpack(s.val[:k], words[:kind.Words(k)])
	if f.rule.twoPass && k > f.rule.length {
		old := s.val
		for e := range k {
			s.val[f.rule.place(e, k)] = old[e]
		}
	}
	minExp, bias := f.rule.minExp(kind), bias8
	if kind.wide() {
		bias = bias16
	}
	lane := s.lane[:k]
	for e, v := range s.val[:k] {
		u := math.Float64bits(v)
		lane[e] = uint16(max(int(u>>52&0x7ff)-1023, minExp) + bias)
		if u<<1 == 0 {
			lane[e] = 0
		}
	}
}

// block looks at a block's elements: which are positive and which negative, and the
// exponent of the smallest.
func (s *scan) block(t, length int) (signs uint64, low int32) {
	low = noneLow
	for i, v := range s.val[t*length:][:length] {
		u := math.Float64bits(v)
		if u<<1 == 0 {
			continue
		}
		e := int32(u>>52&0x7ff) - 1023
		if e == 1024 {
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
