package lab

import (
	"slices"

	"github.com/GOATnote-Inc/attest/problem"
)

// dimensions are the head dimensions that the lab tries, usual ones first.
var dimensions = func() []int {
	list := []int{64, 128, 32, 96, 256, 16, 48, 80, 112, 192, 512, 576}
	for d := 8; d <= 1024; d += 8 {
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}()

// headDim returns a head dimension that the subject supports, or the zero value. If V may have another
// head dimension than K, it does: a kernel that confuses them is then wrong.
func headDim(s *Subject) problem.HeadDim {
	square := func(n int, h problem.HeadDim) problem.Shape { return length(1, 1, n).WithHeadDim(h) }
	for _, h := range headDims(s) {
		for _, n := range powers(1) {
			if s.ServesShape(square(n, h)) == nil {
				return h
			}
		}
	}
	for _, h := range headDims(s) { // it demands unusual sizes
		if _, ok := nearest(s, square(1, h)); ok {
			return h
		}
	}
	return problem.HeadDim{}
}

// headDims returns the head dimensions that the lab tries.
func headDims(s *Subject) (list []problem.HeadDim) {
	for _, dv := range valueDims(s) {
		for _, d := range dimensions {
			if d != dv {
				list = append(list, problem.HeadDim{D: d, DV: dv})
			}
		}
	}
	return list
}

// valueDims returns the head dimensions of V that the lab tries. 0 is that of K.
func valueDims(s *Subject) []int {
	switch {
	case s.Problem.DV != 0:
		return []int{s.Problem.DV}
	case !slices.Contains(s.Supports, problem.ValueHeadDim):
		return []int{0}
	}
	const usual = 6 // a search over unusual sizes takes seconds for each
	return append(slices.Clone(dimensions[:usual]), 0)
}

// powers returns a length and its multiples of tiles whose sizes are powers of 2, for kernels that
// accept only whole tiles.
func powers(n int) []int {
	list := []int{n}
	for tile := 16; tile <= 512; tile *= 2 {
		list = append(list, (n+tile-1)/tile*tile)
	}
	return list
}

// multiples returns the same for tiles of any size, smaller tiles first.
func multiples(n int) []int {
	list := []int{n}
	for tile := 8; tile <= 512; tile += 8 {
		if m := (n + tile - 1) / tile * tile; !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// nearest returns a shape that the subject supports, near another one with the same head dimension. It tries other
// numbers of keys first, then fewer queries, then equal lengths, each with other numbers of heads and
// sequences.
func nearest(s *Subject, p problem.Shape) (problem.Shape, bool) {
	heads := headsNear(p)
	for _, sq := range []func(skv int) int{
		func(int) int { return p.Sq }, func(int) int { return 1 }, func(skv int) int { return skv },
	} {
		for _, h := range heads {
			for _, skv := range multiples(p.Skv) {
				one := problem.Shape{B: h[0], Hq: h[1], Hkv: h[2], Sq: sq(skv), Skv: skv, D: p.D, DV: p.DV}
				if (!s.fewerQueries() || one.Sq <= one.Skv) && s.ServesShape(one) == nil {
					return one, true
				}
			}
		}
	}
	return p, false
}

// headsNear returns the numbers of sequences, of heads of Q and of heads of K that nearest tries, each
// once: a search that finds nothing tries all of them with each length.
func headsNear(p problem.Shape) (list [][3]int) {
	add := func(b, hq, hkv int) {
		if h := [3]int{b, hq, hkv}; !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	add(p.B, p.Hq, p.Hkv)
	add(1, 1, 1)
	for _, group := range []int{1, 2, 4, 8, 3, 5, 6, 7, 16} {
		for _, b := range []int{p.B, 1, 2, 4} {
			add(b, group*p.Hkv, p.Hkv)
			add(b, group, 1)
			add(b, group*4, group*4)
		}
	}
	return list
}

// served returns the nearest shape that the subject supports, the reason why the requested one
// is not supported, and whether any shape is.
func (m *measurement) served(s problem.Shape) (shape problem.Shape, refused error, ok bool) {
	if s.D == 0 {
		s = s.WithHeadDim(m.heads)
	}
	first := m.s.ServesShape(s)
	if first == nil {
		return s, nil, true
	}
	own := s.WithHeadDim(m.heads)
	for _, one := range []problem.Shape{s, own, {B: 1, Hq: 1, Hkv: 1, Sq: s.Sq, Skv: s.Skv, D: own.D, DV: own.DV}} {
		for _, n := range powers(one.Sq) {
			one.Sq, one.Skv = n, n
			if n > 2*max(s.Sq, s.Skv) && n > mostSquare {
				continue // nearest finds one with fewer queries, or this one
			}
			if m.s.ServesShape(one) == nil {
				return one, first, true
			}
		}
	}
	shape, ok = nearest(m.s, own)
	return shape, first, ok
}

// mostSquare is the number of queries that a shape may get in addition to those of the plan.
const mostSquare = 64
