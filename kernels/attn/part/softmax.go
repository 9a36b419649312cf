package part

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// Numerics says how a softmax is computed.
type Numerics struct {
	// Lift is the power of two that P is multiplied by. With 8, P reaches from 0 to 256;
	// e4m3 ends at 448.
	Lift float32
	Exp2 Exp2
	// Codes computes some weights directly in e4m3. It needs a Lift of 8. The row sums are of the codes.
	Codes Codes
	// TileMaxima makes the weights of a KV tile relative to the tile's own maxima instead
	// of the largest scores so far. The largest weight of each row and tile is then a
	// power of two, which every format holds exactly, and a weight rounds to 0 only if it
	// is small beside others of its tile. It costs a branch per tile; see Tile.Weight.
	TileMaxima bool
	// SumsInV leaves the row sums to the product with V, which has extra columns of ones.
	SumsInV bool
	// IntegerMax compares scores as integers, for chips that take the largest of three
	// integers in one instruction.
	IntegerMax bool
}

// Softmax is the online softmax of the rows that a lane shares with three others. For each
// row slot it holds
//
//	reference  the shift lift - c·m₀ of the score m₀ that the row's sums are relative to
//	l          the sum of the weights in the lane's own columns
//
// All lanes of a row have the same reference. Their l are added up once, at the end. C is
// the factor that turns scores into logits to base 2; it must be above zero.
type Softmax struct {
	Numerics
	K         *build.Kernel
	C         *build.Var[build.F32]
	reference []*build.Var[build.F32]
	l         []*build.Var[build.F32]
}

const (
	// Unseen is the reference of a row that has seen no key: above the shift of any score.
	Unseen = 3e38
	// maxAbove is by how many powers of two the largest weight of a tile may be above the
	// weights that the sums are relative to. It leaves as much of the range of f32 to the
	// sums, and is so large that in most rows only the first tile sets the reference.
	maxAbove = 32
)

// NewSoftmax returns the softmax of fragments with the given number of row slots.
func NewSoftmax(k *build.Kernel, n Numerics, c *build.Var[build.F32], slots int) *Softmax {
	return &Softmax{Numerics: n, K: k, C: c, reference: build.Vars(k.F32(Unseen), slots), l: build.Vars(k.F32(0), slots)}
}

// Restart forgets all keys, for the next item.
func (s *Softmax) Restart() {
	for i := range s.l {
		s.reference[i].Set(Unseen)
		s.l[i].Set(0)
	}
}

// Tile is the softmax of one KV tile of scores.
type Tile struct {
	*Softmax
	S     *tile.Frag
	c     build.F32
	own   []build.F32 // the shifts of the rows' largest scores
	shift []build.F32 // the shifts of the tile's weights
	coded []build.F32 // the same for weights that are computed as codes
	sums  []rowSum
}

// Tile finds the maxima of the rows in a tile of scores: m = rowmax S. A row whose scores so far
// are all -∞ gets a finite shift, so that its weights are 0. The maxima include the scores of more
// tiles: see [Tile.Next].
func (s *Softmax) Tile(S *tile.Frag, more ...*tile.Frag) *Tile {
	k := s.K
	k.Comment("m = rowmax S")
	t := &Tile{Softmax: s, S: S, c: s.C.Get(), sums: make([]rowSum, S.Slots())}
	c := s.C.Get() // t.c lives until the last exponential, this copy ends here
	s.rowMax(append([]*tile.Frag{S}, more...), func(m build.F32) {
		t.own = append(t.own, m.FmaRn(c.Neg(), s.Lift))
	})
	for i, own := range t.own {
		bound := k.F32(Unseen)
		if !s.TileMaxima {
			bound = s.reference[i].Get()
		}
		t.shift = append(t.shift, own.Min(bound))
	}
	return t
}

// Next returns the tile of scores that were included in the maxima of t. The sums stay relative to the same
// scores, so it needs no Raise.
func (t *Tile) Next(S *tile.Frag) *Tile {
	return &Tile{Softmax: t.Softmax, S: S, c: t.c, own: t.own, shift: t.shift, sums: make([]rowSum, S.Slots())}
}

// Raise makes the sums relative to the largest scores so far, this tile's included, and
// returns the factor w of the sums before it. It is for softmaxes without TileMaxima.
func (t *Tile) Raise() (w []build.F32) {
	t.K.Comment("w = 2^(c·m0-c·m), m0 = m = max(m0, m)")
	for i, x := range t.shift {
		w = append(w, t.Exp2.Factor(t.K, x.Sub(t.reference[i].Get(), build.Rn)))
		t.reference[i].Set(x)
	}
	return w
}

// Exp returns the weights of the tile's columns [from, to), in the fragment's order. The
// weights are 2^(c·S - c·m + lift).
func (t *Tile) Exp(from, to int) (P []build.F32) {
	t.comment(from, to)
	for i := t.elements(from); i < t.elements(to); i++ {
		P = append(P, t.weight(i))
	}
	return P
}

// comment states what follows: the weights of the columns [from, to).
func (t *Tile) comment(from, to int) {
	lift := ""
	if t.Lift != 0 {
		lift = fmt.Sprintf("%+g", t.Lift)
	}
	t.K.Comment(fmt.Sprintf("P = 2^(c·S-c·m%s), keys %d to %d", lift, from, to-1))
}

// elements returns how many elements a lane has in the columns before col.
func (t *Tile) elements(col int) int { return col * t.S.Elements() / t.S.Cols }

// weight returns the weight of element i.
func (t *Tile) weight(i int) build.F32 {
	return t.Exp2.Element(t.K, i, t.S.Get(i).FmaRn(t.c, t.shift[i/2%t.S.Slots()]))
}

// Sum adds weights that Exp returned to the tile's row sums.
func (t *Tile) Sum(P []build.F32) {
	if t.SumsInV {
		return
	}
	for s := range t.sums {
		t.sums[s].include(P, s, len(t.sums))
	}
}

// sumFour adds four weights of one row slot to its sum.
func (t *Tile) sumFour(x [4]build.F32, slot int) {
	if !t.SumsInV {
		t.sums[slot].include(x[:], 0, 1)
	}
}

// sumCodes adds four weights of one row slot, which are computed as codes, to its sum.
func (t *Tile) sumCodes(word build.B32, slot int) {
	if !t.SumsInV {
		t.sums[slot].includeCodes(word)
	}
}

// Weight returns the factor w of the tile's sums, with TileMaxima. If a factor would be
// above 2^32, as a row's first is, the sums become relative to this tile: l and O are
// scaled. That is a branch, which few tiles take.
func (t *Tile) Weight(O Accumulator) (w []build.F32) {
	k := t.K
	k.Comment("w = 2^(c·m-c·m0), m0 = m where w > 2^32")
	var above []*build.Var[build.F32] // log₂ w
	for s := range t.own {
		above = append(above, build.NewVar(t.reference[s].Get().Sub(t.own[s], build.Rn)))
	}
	far := func(x build.F32) build.Pred { return x.SetpGt(maxAbove) }
	most := above[0].Get()
	for _, x := range above[1:] {
		most = larger(most, x.Get())
	}
	k.If(anyLane(k, far(most)), func() {
		var by []build.F32
		var begun []build.Pred
		for s := range t.own {
			x, reference := above[s].Get(), t.reference[s].Get()
			far := far(x)
			by = append(by, x.Neg().Ex2Approx(build.Ftz).Selp(1, far))
			begun = append(begun, reference.SetpLt(Unseen).And(far))
			t.reference[s].Set(t.own[s].Selp(reference, far))
			above[s].Set(k.F32(0).Selp(x, far))
		}
		any := begun[0]
		for _, p := range begun[1:] {
			any = any.Or(p)
		}
		k.If(anyLane(k, any), func() {
			for s := range by {
				t.l[s].Set(t.l[s].Get().Mul(by[s], build.Rn))
			}
			O.scale(by)
		})
	})
	for _, x := range above {
		w = append(w, x.Get().Ex2Approx(build.Ftz))
	}
	return w
}

// anyLane reports whether p holds in at least one lane of the warp.
func anyLane(k *build.Kernel, p build.Pred) build.Pred {
	return p.VoteSyncAny(math.MaxUint32)
}

// AddSums adds the tile's row sums to l, given the factor of the tile. A nil factor is 1.
func (t *Tile) AddSums(w []build.F32) {
	switch {
	case t.SumsInV:
		return
	case w == nil:
		t.K.Comment("l = l + ΣP")
	case t.TileMaxima:
		t.K.Comment("l = l + w·ΣP")
	default:
		t.K.Comment("l = w·l + ΣP")
	}
	for s := range t.sums {
		l, sum := t.l[s].Get(), t.sums[s].total()
		switch {
		case w == nil:
			t.l[s].Set(add(l, sum))
		case t.TileMaxima:
			t.l[s].Set(sum.FmaRn(w[s], l))
		default:
			t.l[s].Set(l.FmaRn(w[s], sum))
		}
	}
}
