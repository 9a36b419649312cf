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

// laneMaxInteger returns the same, compared as integers where possible: Hopper takes the
// largest of three integers in one instruction, but only of two floats. The bits of floats
// are in the order of their values as long as one of them is not negative, which is mostly
// so. Otherwise a branch compares floats. A NaN is above all other values.
func laneMaxInteger(k *build.Kernel, S *tile.Frag) (most []build.F32) {
	var vars []*build.Var[build.F32]
	var signs build.S32
	for s := range S.Slots() {
		x := largest(S, s, build.Mov[build.S32, build.F32], largerInt)
		vars = append(vars, build.NewVar(build.Mov[build.F32](x)))
		if s == 0 {
			signs = x
		} else {
			signs = signs.Or(x)
		}
	}
	k.If(signs.SetpLt(0), func() {
		for s, x := range laneMax(S) {
			vars[s].Set(x)
		}
	})
	for _, v := range vars {
		most = append(most, v.Get())
	}
	return most
}

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
