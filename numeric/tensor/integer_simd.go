package tensor

import "github.com/GOATnote-Inc/attest/numeric/simd"

// The loop of package simd multiplies pairs of 16-bit integers. rowPairs is the decoded first
// factor. colPairs is the second, in panels of eight columns whose words are side by side.

func (x *Integer) mulAddPairs(d []uint32, m, n, k int, a, b, c []uint32) {
	pairs := k / 2
	x.rowPairs, x.colPairs, x.sums = resize(x.rowPairs, m*pairs), resize(x.colPairs, n*pairs), resize(x.sums, m*panel)
	x.a.pairs(x.rowPairs, a, 1)
	words := x.b.Words(k)
	for j := range n {
		x.b.pairs(x.colPairs[j/panel*panel*pairs+j%panel:], b[j*words:][:words], panel)
	}
	for p := 0; p < n; p += panel {
		simd.Dots(&x.sums[0], &x.rowPairs[0], &x.colPairs[p*pairs], m, pairs)
		for i := range m {
			to, sums, at := d[i*n+p:][:panel], x.sums[i*panel:][:panel], i*n+p
			if c != nil && !x.sat {
				for l, v := range c[at:][:panel] {
					to[l] = v + sums[l]
				}
				continue
			}
			for l, v := range sums {
				to[l] = x.result(int64(int32(v)), c, at+l)
			}
		}
	}
}

// pairs decodes packed bytes or nibbles to pairs of 16-bit integers, step words apart. The
// multiplications copy the sign of an element to the upper bits of its 16 bits.
func (k Kind) pairs(dst []uint32, words []uint32, step int) {
	at := 0
	if k == S8 || k == U8 {
		extend := uint32(0)
		if k == S8 {
			extend = 0x1fe
		}
		for _, w := range words {
			lo, hi := w&0xff|w&0xff00<<8, w>>16&0xff|w>>24<<16
			dst[at] = lo | lo&0x00800080*extend
			dst[at+step] = hi | hi&0x00800080*extend
			at += 2 * step
		}
		return
	}
	extend := uint32(0)
	if k == S4 {
		extend = 0x1ffe
	}
	for _, w := range words {
		for range 4 {
			pair := w&0xf | w&0xf0<<12
			dst[at] = pair | pair&0x00080008*extend
			w >>= 8
			at += step
		}
	}
}
