package tensor

// Rows is the decoded first factor: m rows of k elements. [Float.LoadA] fills it. Loading it
// again reuses its memory.
type Rows struct {
	factor
	large  []float64 // val multiplied by 1+ε for the fast path: see fast.go
	narrow narrowFactor
}

// Cols is the decoded second factor: n columns of k elements. [Float.LoadB] fills it. Columns
// are stored in panels of eight, and the last panel is filled up with zeros. In val, the
// elements of the eight columns are side by side.
type Cols struct {
	factor
	narrow narrowFactor
	buffer sweepBuffer // working memory of products
}

// panel is the number of elements of a row that are computed together.
const panel = 8

// factor holds lines (rows of A, columns of B) of k elements, in the order of the blocks. A
// tile is a block of a row, or of all columns of a panel.
type factor struct {
	lines  int
	blocks int // blocks per line
	length int // elements per block
	minExp int // exponent of a subnormal element
	val    []float64
	exps   []uint64 // exponents in lanes of words: see lanes.go
	// For each block of each line:
	signs []uint64 // bits of positive elements in one half, of negative elements in the other
	low   []int32  // exponent of the smallest element, or noFast
}

const (
	noFast    = -1 << 20 // low of a block with an infinity or a NaN
	noneLow   = 127      // low of a block of zeros
	maxLength = 32       // the max length of a block
)

// LoadA decodes the first factor: m rows of k packed elements. A row has [Kind.Words](k)
// words, and the first element is in the lowest bits. k is the depth of one instruction.
func (f *Float) LoadA(r *Rows, m, k int, words []uint32) {
	f.size(&r.factor, f.a, m, k)
	if r.narrow.loaded = f.narrow(m, 2, k); r.narrow.loaded {
		r.narrow.loadRows(f.a, m, words)
		return
	}
	f.decodeA(r, m, k, words)
}

// decodeA decodes the first factor to f64.
func (f *Float) decodeA(r *Rows, m, k int, words []uint32) {
	r.val, r.large, r.exps = resize(r.val, m*k), resize(r.large, m*k), resize(r.exps, m*k)
	r.signs, r.low = resize(r.signs, m*r.blocks), resize(r.low, m*r.blocks)
	perLine := f.a.Words(k)
	for b := range r.signs {
		f.fill(r.val[b*r.length:][:r.length], f.a, words[b/r.blocks*perLine:][:perLine], b%r.blocks, r.blocks)
	}
	r.survey(f.a)
}

// LoadB decodes the second factor: n columns of k elements, packed as in LoadA.
func (f *Float) LoadB(c *Cols, n, k int, words []uint32) {
	f.size(&c.factor, f.b, n, k)
	if c.narrow.loaded = f.narrow(n, 2*panel, k); c.narrow.loaded {
		c.narrow.loadCols(f.b, n, words)
		return
	}
	f.decodeB(c, n, k, words)
}

// decodeB decodes the second factor to f64.
func (f *Float) decodeB(c *Cols, n, k int, words []uint32) {
	panels := (n + panel - 1) / panel
	c.val = resize(c.val, panels*panel*k)
	c.signs, c.low = resize(c.signs, panels*panel*c.blocks), resize(c.low, panels*panel*c.blocks)
	perWord := 8
	if f.b.wide() {
		perWord = 4
	}
	c.exps = resize(c.exps, panels*panel/perWord*k)
	if n%panel != 0 {
		clear(c.val)
	}
	perLine := f.b.Words(k)
	var block [maxLength]float64
	for j := range n {
		for t := range c.blocks {
			f.fill(block[:c.length], f.b, words[j*perLine:][:perLine], t, c.blocks)
			to := c.val[(j/panel*c.blocks+t)*c.length*panel+j%panel:]
			for e, v := range block[:c.length] {
				to[e*panel] = v
			}
		}
	}
	c.survey(f.b)
}

func (f *Float) size(x *factor, kind Kind, lines, k int) {
	x.lines, x.length = lines, min(f.rule.length, k)
	if f.rule.twoPass {
		x.length, kind = k/2, F16
	}
	x.blocks = k / x.length
	x.minExp = kindInfo[kind].minExp
}

// fill decodes block t of a line.
func (f *Float) fill(val []float64, kind Kind, line []uint32, t, blocks int) {
	if !f.rule.twoPass {
		n := len(line) / blocks
		kind.unpack(val, line[t*n:][:n])
		return
	}
	var all [2 * maxLength]float64
	kind.unpack(all[:blocks*len(val)], line)
	for e := range val {
		val[e] = all[e>>1<<2+2*t+e&1] // every other pair
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
