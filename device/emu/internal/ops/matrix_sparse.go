package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
)

// sparseProduct is a product whose first factor is stored without half of its elements. For each
// row of A, the metadata chooses the elements of B that the stored elements of A are multiplied
// with. The product of the row with these elements is an ordinary product of half the depth.
type sparseProduct struct {
	product
	bits int // the bits of an element of a factor
}

// multiply computes c += a·b. A row of s.A has k/2 elements, a column of s.B has k, and s.Meta has
// the entries of the rows one after the other.
func (p sparseProduct) multiply(s *machine.Scratch, m, n, k int, keep bool) {
	words := k * p.bits / 32 // the words of a column of b
	entries := len(s.Meta) / m
	row := s.RowProduct()
	row.Resize(words/2, n*words/2, n)
	for i := range m {
		meta := s.Meta[i*entries:][:entries]
		copy(row.A, s.A[i*words/2:])
		for j := range n {
			p.choose(row.B[j*words/2:][:words/2], s.B[j*words:][:words], meta)
		}
		copy(row.C, s.C[i*n:][:n])
		p.product.multiply(row, 1, n, k/2, keep)
		copy(s.C[i*n:], row.C)
	}
}

// choose copies the units of a column that the metadata of a row chooses.
func (p sparseProduct) choose(to, from []uint32, meta []uint8) {
	if p.bits < 16 {
		chooseBytes(to, from, meta)
		return
	}
	for i, e := range meta { // an entry chooses two halves of two words
		lo, hi := e&3, e>>2
		to[i] = from[2*i+int(lo>>1)]>>(lo&1*16)&0xffff | from[2*i+int(hi>>1)]>>(hi&1*16)<<16
	}
}

// chooseBytes is choose for units of one byte: an entry chooses two bytes of one word.
func chooseBytes(to, from []uint32, meta []uint8) {
	pair := func(i int) uint32 {
		e := meta[i]
		return from[i]>>(e&3*8)&0xff | from[i]>>(e>>2*8)&0xff<<8
	}
	for i := range to {
		to[i] = pair(2*i) | pair(2*i+1)<<16
	}
}

// metadata is the operand of a sparse product with the metadata of its first factor.
type metadata struct {
	slot   slot
	places [32][]uint16 // by lane: the places of its entries in Scratch.Meta, nil if the lane's word is not used
	count  int
}

// metadataOf decodes the metadata and the sparsity selector of a warp's product.
func metadataOf(d *decoder, x *inst, s layout.Shape, bits int, word, selector string) *metadata {
	s.M = warpRows
	f := layout.Metadata(s, bits)
	m := &metadata{slot: d.Sources(x.Arg(word))[0], count: f.Rows * f.Cols}
	for l := range m.places {
		if !layout.Selected(s, bits, l, int(x.Arg(selector).Val)) {
			continue
		}
		for i := range f.Elements {
			at := f.At(l, i)
			m.places[l] = append(m.places[l], uint16(at.Row*f.Cols+at.Col))
		}
	}
	return m
}

// load returns the entries of all rows in to, which it may replace.
func (m *metadata) load(words *[32]uint32, to []uint8) []uint8 {
	if cap(to) < m.count {
		to = make([]uint8, m.count)
	}
	to = to[:m.count]
	for l, places := range m.places {
		for i, at := range places {
			to[at] = uint8(words[l] >> (4 * i) & 15)
		}
	}
	return to
}
