package part

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// rowSum adds up weights of a lane's own columns of a row. Even and odd columns have a
// chain of additions each, because two chains are half as long as one.
type rowSum struct {
	even, odd build.F32
	begun     bool
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

func (c *rowSum) total() build.F32 { return add(c.even, c.odd) }

// Accumulator is O before it is normalised: a fragment of which the columns below Kept are
// part of the result. Other columns are not computed, which saves their registers.
type Accumulator struct {
	*tile.Frag
	Kept int
}

// Columns returns n columns, starting with column from.
func (o Accumulator) Columns(from, n int) Accumulator {
	return Accumulator{o.Frag.Columns(from, n), o.Kept - from}
}

// AddScaled computes O = O + w·T, with one factor per row slot.
func (o Accumulator) AddScaled(k *build.Kernel, T *tile.Frag, w []build.F32) {
	k.Comment("O = O + w·T")
	o.Map2(T, func(x, t build.F32, slot int, at tile.Pos) build.F32 {
		if at.Col >= o.Kept {
			return x
		}
		return t.FmaRn(w[slot], x)
	})
}

// ScaleAdd computes O = w·O + T.
func (o Accumulator) ScaleAdd(k *build.Kernel, w []build.F32, T *tile.Frag) {
	k.Comment("O = w·O + T")
	o.Map2(T, func(x, t build.F32, slot int, at tile.Pos) build.F32 {
		if at.Col >= o.Kept {
			return x
		}
		return x.FmaRn(w[slot], t)
	})
}

// scale computes O = O·by.
func (o Accumulator) scale(by []build.F32) {
	o.Map(func(x build.F32, slot int, at tile.Pos) build.F32 {
		if at.Col >= o.Kept {
			return x
		}
		return x.Mul(by[slot], build.Rn)
	})
}
