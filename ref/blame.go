package ref

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/problem"
)

// Blame is a tile of K and V that explains a wrong row of O.
type Blame struct {
	First, Last int  // keys of the tile
	Twice       bool // counted twice; otherwise left out
	// Before and After are the largest errors of the row against the reference and
	// against the reference with the tile left out or counted twice.
	Before, After float64
}

func (b *Blame) String() string {
	what := "left out"
	if b.Twice {
		what = "counted twice"
	}
	return fmt.Sprintf("keys %d to %d %s would explain it: the error falls from %.3g to %.3g", b.First, b.Last, what, b.Before, b.After)
}

// BlameKV looks for the tile of keys that explains a row of an output best. tile is the
// number of keys per tile. The result is nil if every tile leaves at least a quarter of the
// error: the row is then correct, or wrong for another reason.
func BlameKV(q, k, v Tensor, opt Options, at Row, got []float64, tile int) (*Blame, error) {
	s, err := shapeOf(q, k, v)
	if err != nil {
		return nil, err
	}
	if len(got) != s.DimV() || tile < 1 {
		return nil, fmt.Errorf("blame: a row of %d numbers and tiles of %d keys; a row has %d, a tile at least 1", len(got), tile, s.DimV())
	}
	opt.Rows = []Row{at}
	if _, err := (&Result{Shape: s, Rows: opt.Rows}).byHead(); err != nil {
		return nil, err
	}
	opt.Scale = opt.scale(s)
	if err := opt.check(s); err != nil {
		return nil, err
	}
	tiles, sink := splitRow(s, q, k, v, opt, at, tile)
	whole := partial{sink, make([]float64, s.DimV())}
	for _, t := range tiles {
		whole = whole.plus(t, 1)
	}
	best := Blame{Before: whole.distance(got), After: math.Inf(1)}
	for i, t := range tiles {
		for _, times := range []float64{-1, 1} {
			if d := whole.plus(t, times).distance(got); d < best.After {
				best.First, best.Last = i*tile, min((i+1)*tile, s.Skv)-1
				best.Twice, best.After = times > 0, d
			}
		}
	}
	if len(tiles) < 2 || !(best.After < best.Before/4) {
		return nil, nil
	}
	return &best, nil
}

// partial is a sum of weights and of weighted rows of V.
type partial struct {
	l float64
	o []float64
}

func (p partial) plus(t partial, times float64) partial {
	sum := partial{p.l + times*t.l, make([]float64, len(p.o))}
	for i := range sum.o {
		sum.o[i] = p.o[i] + times*t.o[i]
	}
	return sum
}

// distance returns the largest difference between a row and the row of a sum.
func (p partial) distance(got []float64) (most float64) {
	for i, o := range p.o {
		d := math.Abs(o/p.l - got[i])
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		most = max(most, d)
	}
	return most
}

// splitRow returns the sums of the tiles of a row and the weight of its sink, all relative to
// one maximum. A tile of which the row sees nothing is empty.
func splitRow(s problem.Shape, q, k, v Tensor, opt Options, at Row, tile int) (tiles []partial, sink float64) {
	h := s.HeadKV(at.H)
	qr, kr, vr := make([]float64, s.D), make([]float64, s.D), make([]float64, s.DimV())
	q.Row(at.B, at.H, at.S, qr)
	first, last := opt.sees(s, at)
	logits := make([]float64, last)
	m, l := opt.start(at.H)
	top := m
	for j := first; j < last; j++ {
		k.Row(at.B, h, j, kr)
		for i, x := range kr {
			logits[j] += qr[i] * x
		}
		logits[j] = opt.logit(logits[j])
		if opt.Bias != nil {
			logits[j] += opt.Bias.Of(at)[j]
		}
		if opt.Mask.hides(at.B, at.S, j) {
			logits[j] = math.Inf(-1)
		}
		top = max(top, logits[j])
	}
	if l > 0 {
		sink = math.Exp(m - top)
	}
	tiles = make([]partial, (last+tile-1)/tile)
	for i := range tiles {
		tiles[i].o = make([]float64, s.DimV())
	}
	for j := first; j < last; j++ {
		t := &tiles[j/tile]
		w := math.Exp(logits[j] - top)
		t.l += w
		v.Row(at.B, h, j, vr)
		for i, x := range vr {
			t.o[i] += w * x
		}
	}
	return tiles, sink
}
