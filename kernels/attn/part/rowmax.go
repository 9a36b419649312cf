package part

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// rowLanes is how many lanes share a row of an accumulator.
const rowLanes = 4

// laneMax returns the largest of a lane's scores for each row slot, compared as floats.
func laneMax(S *tile.Frag) (most []build.F32) {
	for s := range S.Slots() {
		most = append(most, largest(S, s, func(x build.F32) build.F32 { return x }, larger))
	}
	return most
}

// rowMax calls each with the largest score of each row slot, over all lanes that share the row.
func (s *Softmax) rowMax(scores []*tile.Frag, each func(build.F32)) {
	most := func() []build.F32 {
		lane := laneMax(scores[0])
		for _, S := range scores[1:] {
			for i, x := range laneMax(S) {
				lane[i] = larger(lane[i], x)
			}
		}
		return lane
	}
	if s.IntegerMax {
		for _, m := range rowMaxInteger(s.K, scores, most) {
			each(m)
		}
		return
	}
	for _, x := range most() {
		each(acrossLanes(x))
	}
}

// rowMaxInteger returns the maxima, compared as integers where possible: Hopper takes the largest of
// three integers in one instruction, but only of two floats. The bits of floats are in the order of
// their values as long as one of them is not negative, which is mostly so. If all scores that a lane
// has of a row are negative, the warp compares floats: floats returns the maxima of each lane. The warp
// asks for that before the lanes compare their maxima and branches after it, so that it does not wait
// for the answer. A NaN is above all other values.
func rowMaxInteger(k *build.Kernel, scores []*tile.Frag, floats func() []build.F32) (most []build.F32) {
	var lane []build.S32
	for s := range scores[0].Slots() {
		x := largest(scores[0], s, build.Mov[build.S32, build.F32], largerInt)
		for _, S := range scores[1:] {
			x = largerInt(x, largest(S, s, build.Mov[build.S32, build.F32], largerInt))
		}
		lane = append(lane, x)
	}
	signs := lane[0]
	for _, x := range lane[1:] {
		signs = signs.Or(x)
	}
	negative := anyLane(k, signs.SetpLt(0))
	var vars []*build.Var[build.F32]
	for _, x := range lane {
		vars = append(vars, build.NewVar(acrossLanes(build.Mov[build.F32](x))))
	}
	k.If(negative, func() {
		for s, x := range floats() {
			vars[s].Set(acrossLanes(x))
		}
	})
	for _, v := range vars {
		most = append(most, v.Get())
	}
	return most
}

// acrossLanes returns the largest of the maxima of the lanes that share a row.
func acrossLanes(x build.F32) build.F32 { return build.LaneReduce(x, rowLanes, larger) }

func larger(a, b build.F32) build.F32    { return a.Max(b) }
func largerInt(a, b build.S32) build.S32 { return a.Max(b) }

// largest returns the largest of a lane's scores of one row slot, from two chains: one of
// even columns and one of odd columns.
func largest[T any](S *tile.Frag, slot int, as func(build.F32) T, larger func(a, b T) T) T {
	var chains [2]T
	for i := 2 * slot; i < S.Elements(); i += 2 * S.Slots() { // two neighbours, then eight columns further on
		for e := range chains {
			x := as(S.Get(i + e))
			if i == 2*slot {
				chains[e] = x
			} else {
				chains[e] = larger(chains[e], x)
			}
		}
	}
	return larger(chains[0], chains[1])
}
