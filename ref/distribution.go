package ref

import (
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// The tensors, each with a stream of its own, and what they share.
const (
	tensorQ = iota
	tensorK
	tensorV
	sharedByAll
	outlierPlaces // and one for each tensor
)

// maker is what the rows of a tensor are made from.
type maker struct {
	shape  problem.Shape
	dims   fp8.Dims
	seed   uint64
	tensor int
	own    stream // of this tensor
	shared stream // of all three
}

func newMaker(seed uint64, s problem.Shape, tensor int) *maker {
	m := &maker{shape: s, dims: s.KV(), seed: seed, tensor: tensor, own: newStream(seed, tensor), shared: newStream(seed, sharedByAll)}
	if tensor == tensorQ {
		m.dims = s.Q()
	}
	return m
}

// headKV is the head of K and V that a row belongs to.
func (m *maker) headKV(p place) int {
	if m.tensor == tensorQ {
		return m.shape.HeadKV(p.h)
	}
	return p.h
}

// place is where a row stands.
type place struct{ b, h, s int }

// rowFunc makes a row. It depends on nothing but its arguments, so rows may be made
// in any order.
type rowFunc func(m *maker, p place, row []float32)

// first is the number of a row's first element.
func (m *maker) first(p place) uint64 {
	return uint64(m.dims.Row(p.b, p.h, p.s)) * uint64(m.dims.D)
}

func normal(m *maker, p place, row []float32) { m.own.normals(m.first(p), row) }

func uniform(m *maker, p place, row []float32) {
	for i := range row {
		row[i] = float32(m.own.uniform(m.first(p) + uint64(i)))
	}
}

func zeros(*maker, place, []float32) {}

// times scales normal rows.
func times(factor float32) rowFunc {
	return func(m *maker, p place, row []float32) {
		normal(m, p, row)
		for i := range row {
			row[i] *= factor
		}
	}
}

var (
	times8 = times(8)
	tiny   = times(1e-7)
)

func outliers(m *maker, p place, row []float32) {
	normal(m, p, row)
	which := newStream(m.seed, outlierPlaces+m.tensor)
	for i := range row {
		if which.at(m.first(p)+uint64(i))%512 == 0 {
			row[i] *= 16
		}
	}
}

// few makes rows of -1, 0 and 1, whose products are exact.
func few(m *maker, p place, row []float32) {
	for i := range row {
		row[i] = float32(int(m.own.at(m.first(p)+uint64(i))%3) - 1)
	}
}

// period4 repeats the first four such rows of a head.
func period4(m *maker, p place, row []float32) {
	p.s %= 4
	few(m, p, row)
}

// signs makes rows of 1 and -1.
func signs(m *maker, p place, row []float32) {
	for i := range row {
		row[i] = float32(m.own.sign(m.first(p) + uint64(i)))
	}
}

// chosen makes a row of Q eight times the row of K that it is to find. That row's
// logit is 8·√D and those of others have a standard deviation of 8: with D = 64 the
// best of them is far behind, by a factor of e^-20 or less.
func chosen(m *maker, p place, row []float32) {
	signs(newMaker(m.seed, m.shape, tensorK), place{p.b, m.headKV(p), m.choice(p)}, row)
	for i := range row {
		row[i] *= 8
	}
}

// choice is the row of K that a row of Q finds, if no mask hides it.
func (m *maker) choice(p place) int {
	return int(m.shared.at(uint64(m.dims.Row(p.b, p.h, p.s))) % uint64(m.shape.Skv))
}

func constant(m *maker, p place, row []float32) {
	p.s = 0
	normal(m, p, row)
}

// lean makes rows that point along the direction of their head.
func lean(m *maker, p place, row []float32) { m.along(p, row, 1) }

// rising makes rows whose share of the direction grows from 0 to 4 along K.
func rising(m *maker, p place, row []float32) {
	m.along(p, row, 4*float64(p.s)/float64(m.dims.S))
}

// falling is rising backwards.
func falling(m *maker, p place, row []float32) {
	m.along(p, row, 4*float64(m.dims.S-1-p.s)/float64(m.dims.S))
}

// along adds a quarter of a normal row and a multiple of the direction that the
// heads of Q share with their head of K.
func (m *maker) along(p place, row []float32, share float64) {
	normal(m, p, row)
	for i := range row {
		dir := m.shared.sign(uint64(m.headKV(p)*len(row) + i))
		row[i] = float32(row[i]*0.25) + float32(share*dir)
	}
}
