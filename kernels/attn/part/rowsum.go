package part

import (
	"slices"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// rowSum adds up weights of a lane's own columns of a row. Even and odd columns have a
// chain of additions each, because two chains are half as long as one.
type rowSum struct {
	even, odd build.F32
	begun     bool
	codes     build.F16x2 // the sum of weights that are computed as codes: even and odd columns
	coded     bool
}

// include continues the chains with the elements of one row slot.
func (c *rowSum) include(P []build.F32, slot, slots int) {
	for i := 2 * slot; i < len(P); i += 2 * slots {
		if !c.begun {
			c.even, c.odd, c.begun = P[i], P[i+1], true
			continue
		}
		c.even, c.odd = add(c.even, P[i]), add(c.odd, P[i+1])
	}
}

// add returns a + b. It names its rounding, as every operation of the parts does.
func add(a, b build.F32) build.F32 { return a.Add(b, build.Rn) }

// includeCodes adds four weights in e4m3, two of even columns and two of odd ones. A sum of them in f16 is
// right to a few units of 2^-11, and rounds up as often as down.
func (c *rowSum) includeCodes(word build.B32) {
	for _, pair := range both(build.Unpack2[build.E4M3x2](word)) {
		x := pair.CvtRnF16x2()
		if c.coded {
			x = c.codes.Add(x, build.Rn)
		}
		c.codes, c.coded = x, true
	}
}

func both[T any](a, b T) [2]T { return [2]T{a, b} }

func (c *rowSum) total() build.F32 {
	sum := add(c.even, c.odd)
	if c.coded {
		even, odd := build.Unpack2[build.F16](c.codes)
		sum = add(sum, add(even.CvtF32(), odd.CvtF32()))
	}
	return sum
}

// Accumulator is O before it is normalised: a fragment of which the columns below Kept are
// part of the result. Other columns are not computed, which saves their registers.
type Accumulator struct {
	*tile.Frag
	Kept int
	// SlotBySlot updates the elements of one row slot after those of the other. They have a factor in common,
	// which is then read from the registers less often. That saves 1 % of the time with wide heads.
	SlotBySlot bool
}

// Columns returns n columns, starting with column from.
func (o Accumulator) Columns(from, n int) Accumulator {
	return Accumulator{o.Frag.Columns(from, n), o.Kept - from, o.SlotBySlot}
}

// AddScaled computes O = O + w·T, with one factor per row slot.
func (o Accumulator) AddScaled(k *build.Kernel, T *tile.Frag, w []build.F32) {
	k.Comment("O = O + w·T")
	o.update(func(x build.F32, i, slot int) build.F32 { return T.Get(i).FmaRn(w[slot], x) })
}

// ScaleAdd computes O = w·O + T.
func (o Accumulator) ScaleAdd(k *build.Kernel, w []build.F32, T *tile.Frag) {
	k.Comment("O = w·O + T")
	o.update(func(x build.F32, i, slot int) build.F32 { return x.FmaRn(w[slot], T.Get(i)) })
}

// scale computes O = O·by.
func (o Accumulator) scale(by []build.F32) {
	o.update(func(x build.F32, _, slot int) build.F32 { return x.Mul(by[slot], build.Rn) })
}

// update replaces each element i of a kept column, which is x. Other columns stay as they are.
func (o Accumulator) update(to func(x build.F32, i, slot int) build.F32) {
	slot := func(i int) int { return i / 2 % o.Slots() }
	order := make([]int, o.Elements())
	for i := range order {
		order[i] = i
	}
	if o.SlotBySlot {
		slices.SortStableFunc(order, func(a, b int) int { return slot(a) - slot(b) })
	}
	for _, i := range order {
		x := o.Get(i)
		if o.Elem(i).Col < o.Kept {
			x = to(x, i, slot(i))
		}
		o.Set(i, x)
	}
}
