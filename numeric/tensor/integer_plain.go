package tensor

// The loops in Go multiply one element of a row with the elements of two columns at a time.
// rows is the decoded first factor. cols is the second, in panels of eight columns: for each
// element of a column four words, each with the sum of one column and 2^32 times the next.

func (x *Integer) mulAddPlain(d []uint32, m, n, k int, a, b, c []uint32) {
	x.load(m, n, k, a, b)
	for p := 0; p < n; p += panel {
		cols := x.cols[p*k/2:][:k*panel/2]
		for i := range m {
			at := i*n + p
			x.dot(d[at:at+min(panel, n-p)], x.rows[i*k:][:k], cols, c, at)
		}
	}
}

// load decodes the factors.
func (x *Integer) load(m, n, k int, a, b []uint32) {
	x.rows = resize(x.rows, m*k)
	x.a.integers(x.rows, a)
	panels := (n + panel - 1) / panel
	x.cols = resize(x.cols, panels*panel/2*k)
	if n%panel != 0 {
		clear(x.cols)
	}
	var column [maxDepth]int64
	words := x.b.Words(k)
	for j := range n {
		v := column[:k]
		x.b.integers(v, b[j*words:][:words])
		to := x.cols[j/panel*panel/2*k+j%panel/2:]
		for e, v := range v {
			if j%2 == 0 {
				to[e*panel/2] = v
			} else {
				to[e*panel/2] += v << 32
			}
		}
	}
}

// maxDepth is the largest number of elements of a row of bytes or nibbles in one instruction.
const maxDepth = 64

// dot multiplies a row with eight columns. A sum of at most 64 products of bytes has less
// than 32 bits, so that one multiplication computes the products with two columns.
func (x *Integer) dot(d []uint32, row, cols []int64, c []uint32, at int) {
	var s0, s1, s2, s3 int64
	for e, v := range row {
		y := (*[panel / 2]int64)(cols[e*panel/2:])
		s0 += v * y[0]
		s1 += v * y[1]
		s2 += v * y[2]
		s3 += v * y[3]
	}
	sums := [panel / 2]int64{s0, s1, s2, s3}
	for l := range d {
		sum := sums[l/2%len(sums)]
		low := int64(int32(sum))
		if l%2 != 0 {
			low = (sum - low) >> 32
		}
		d[l] = x.result(low, c, at+l)
	}
}

// integers decodes packed bytes or nibbles.
func (k Kind) integers(dst []int64, words []uint32) {
	switch k {
	case S8:
		for i, w := range words {
			to := (*[4]int64)(dst[4*i:])
			to[0], to[1], to[2], to[3] = int64(int8(w)), int64(int8(w>>8)), int64(int8(w>>16)), int64(int8(w>>24))
		}
	case U8:
		for i, w := range words {
			to := (*[4]int64)(dst[4*i:])
			to[0], to[1], to[2], to[3] = int64(uint8(w)), int64(uint8(w>>8)), int64(uint8(w>>16)), int64(w>>24)
		}
	case S4:
		for i, w := range words {
			for e := range 8 {
				dst[8*i+e] = int64(int32(w<<(28-4*e)) >> 28)
			}
		}
	default: // U4
		for i, w := range words {
			for e := range 8 {
				dst[8*i+e] = int64(w >> (4 * e) & 15)
			}
		}
	}
}
