package tensor

// MulAddF64 computes d = c + a·b in f64: a has m rows and b has n columns of k elements, d
// and c have rows of n elements, all as bits. Products are added in the order of k, each with
// one rounding. fma is the multiply-add with the instruction's rounding mode. d and c may be
// the same slice.
func MulAddF64(d []uint64, m, n, k int, a, b, c []uint64, fma func(a, b, c uint64) uint64) {
	for i := range m {
		row := a[i*k:][:k]
		for j := range n {
			col := b[j*k:][:len(row)]
			sum := c[i*n+j]
			for e, v := range row {
				sum = fma(v, col[e], sum)
			}
			d[i*n+j] = sum
		}
	}
}
