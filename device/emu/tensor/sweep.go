package tensor

import (
	"math"

	"attest/device/emu/simd"
)

// vector says whether products take the loops of package simd. Tests turn it off.
var vector = simd.Has

// sweep multiplies the rows from i with panel p in assembly and returns how many it
// did: none where that cannot be done, and fewer than all before a row that add must
// look at.
func (f *Float) sweep(d []uint32, a *Rows, b *Cols, c []uint32, p, i int) int {
	n, at := b.lines, i*b.lines+p*panel
	if !vector || f.rule.half || i >= a.lines || at+panel > i*n+n {
		return 0
	}
	var zero [panel]uint32
	var sums [twoPassRows * panel]uint32
	row, col := i*a.blocks, p*b.blocks
	s := simd.Sweep{
		Rows: int64(a.lines - i), Blocks: int64(a.blocks), Length: int64(a.length),
		AExps: &a.exps[row*a.length], X: &a.large[row*a.length], ASigns: &a.signs[row], ALow: &a.low[row],
		Y: &b.val[col*panel*b.length], BSigns: &b.signs[col*panel], BLow: &b.low[col*panel],
		C: &zero[0], D: &d[at], DStep: int64(4 * n),
		Keep: int64(f.rule.keep), Cut: math.MaxUint64 << (52 - f.rule.frac),
	}
	addLater := c != nil && f.rule.twoPass
	switch {
	case addLater:
		s.Rows = min(s.Rows, twoPassRows)
		s.D, s.DStep = &sums[0], 4*panel
	case c != nil:
		s.C, s.CStep = &c[at], s.DStep
	}
	if f.a.wide() {
		s.BExps = &b.exps[2*col*b.length]
		s.Run16()
	} else {
		s.BExps = &b.exps[col*b.length]
		s.Run8()
	}
	if addLater {
		for r := range int(s.Done) {
			addF32((*[panel]uint32)(d[at+r*n:]), (*[panel]uint32)(sums[r*panel:]), (*[panel]uint32)(c[at+r*n:]))
		}
	}
	return int(s.Done)
}

// twoPassRows is how many rows are multiplied before c is added, which may be where
// the result goes.
const twoPassRows = 16

// addF32 is the ordinary addition d = a + b.
func addF32(d, a, b *[panel]uint32) {
	for l := range d {
		d[l] = bitsF32(float64(math.Float32frombits(a[l]) + math.Float32frombits(b[l])))
	}
}
