package lab

import "github.com/GOATnote-Inc/attest/problem"

// The limits of the head dimensions that are tried besides the one of the plan's shapes.
const (
	usualDims   = 12 // of the first of dimensions, all that the kernel supports
	otherDims   = 8  // of the rest, drawn at random
	watchedDims = 3  // of all these, those that the checkers see
)

// otherHeadDims returns small shapes with the other head dimensions that a kernel supports, each once. Most kernels
// are written for one head dimension. One that takes it as an argument can be wrong for any of them.
func (d *deriver) otherHeadDims() (list []problem.Shape) {
	add := func(dim int) bool {
		for _, n := range [][2]int{{7, 40}, {40, 40}, {64, 128}, {128, 128}} {
			s := problem.Shape{B: 2, Hq: 2, Hkv: 2, Sq: n[0], Skv: n[1]}.WithHeadDim(problem.HeadDim{D: dim})
			if dim != d.m.heads.D && d.m.s.ServesShape(s) == nil {
				list = append(list, s)
				return true
			}
		}
		return false
	}
	for _, dim := range dimensions[:usualDims] {
		add(dim)
	}
	rest := dimensions[usualDims:]
	left := otherDims
	for _, i := range d.random.Perm(len(rest)) {
		if left > 0 && add(rest[i]) {
			left--
		}
	}
	return list
}

// watchedHeadDims returns some of these shapes for the checkers.
func (d *deriver) watchedHeadDims() (list []problem.Shape) {
	all := d.otherHeadDims()
	for _, i := range d.random.Perm(len(all)) {
		if len(list) < watchedDims {
			list = append(list, all[i])
		}
	}
	return list
}
