package emu

import (
	"math"
	"math/bits"

	"attest/device/emu/num"
	"attest/device/emu/tensor"
)

// intProduct is a product of whole numbers, or of bits: those that both factors
// have, or in which they differ.
type intProduct struct {
	a, b     tensor.Kind
	saturate bool
	and      bool
}

func (p intProduct) multiply(s *matrixScratch, m, n, k int, keep bool) {
	words := p.a.Words(k)
	dot := p.dot
	if p.a == tensor.B1 {
		dot = p.dotBits
	}
	for i := range m {
		row := s.a[i*words:][:words]
		for j := range n {
			sum := dot(row, s.b[j*words:][:words])
			if keep {
				sum += int64(int32(s.c[i*n+j]))
			}
			if p.saturate {
				sum = min(max(sum, math.MinInt32), math.MaxInt32)
			}
			s.c[i*n+j] = uint32(sum)
		}
	}
}

// dot sums the products of two lists of packed elements.
func (p intProduct) dot(a, b []uint32) (sum int64) {
	size := p.a.Bits()
	for i := range a {
		for at := 0; at < 32; at += size {
			sum += element(p.a, a[i], at) * element(p.b, b[i], at)
		}
	}
	return sum
}

// element is the element of a kind at a bit of a word.
func element(k tensor.Kind, word uint32, at int) int64 {
	free := 32 - k.Bits()
	top := word << (free - at)
	if k == tensor.S8 || k == tensor.S4 {
		return int64(int32(top) >> free)
	}
	return int64(top >> free)
}

func (p intProduct) dotBits(a, b []uint32) (sum int64) {
	for i := range a {
		w := a[i] ^ b[i]
		if p.and {
			w = a[i] & b[i]
		}
		sum += int64(bits.OnesCount32(w))
	}
	return sum
}

// multiplyF64 is c += a·b in f64, one fma after the other: rows of a and columns of
// b, c by rows.
func multiplyF64(r num.Round, c, a, b []uint64, m, n, k int) {
	for i := range m {
		for j := range n {
			sum := c[i*n+j]
			for e := range k {
				sum = num.FmaF64R(r, a[i*k+e], b[j*k+e], sum)
			}
			c[i*n+j] = sum
		}
	}
}
