package lab

import (
	"cmp"
	"math"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// tileRows and tileKeys are the sizes of the tiles of error maps.
const (
	tileRows = 32
	tileKeys = 32
)

// mostBlamed is the number of tiles of rows that are searched for the tile of keys that
// explains the error. mostTiles is the number of tiles that a map keeps.
const (
	mostBlamed = 8
	mostTiles  = 4096
)

// faults are the errors of an output, element by element, on the quantised inputs.
type faults struct {
	a     *Subject
	in    *inputs
	r     *reference
	got   ref.Tensor
	limit float64 // an element with a larger error is bad
	bad   []element
	total int
	// unwritten is the number of elements that were never written; they are NaN in got.
	unwritten int
	// The sums of got·want and want², whose ratio is the factor by which O is off.
	gotWant, wantWant float64
}

type element struct {
	ref.Row
	col       int
	want, got float64
	missing   bool // NaN, infinite or never written
}

func (e element) size() float64 {
	if e.missing {
		return math.MaxFloat64
	}
	return math.Abs(e.got - e.want)
}

// blame fills in the map of the errors of a case and their likely cause.
func blame(a *Subject, c *record.Case, r *reference, in *inputs, got ref.Tensor) error {
	f := &faults{a: a, in: in, r: r, got: got, limit: 4*c.PlainDequantised.Max + 1e-4, unwritten: c.Unwritten}
	f.collect()
	c.Map = f.tiles()
	blamed, tried, err := f.blameKeys(c.Map)
	if err != nil {
		return err
	}
	c.Cause, err = f.cause(blamed, tried)
	return err
}

func (f *faults) collect() {
	d := f.in.shape.DimV()
	row := make([]float64, d)
	for i, at := range f.r.quantised.Rows {
		f.got.Row(at.B, at.H, at.S, row)
		for col, g := range row {
			want := f.r.quantised.O[i*d+col]
			f.total++
			e := element{at, col, want, g, math.IsNaN(g) || math.IsInf(g, 0)}
			if !e.missing {
				f.gotWant += g * want
				f.wantWant += want * want
			}
			if e.size() > f.limit {
				f.bad = append(f.bad, e)
			}
		}
	}
}

// tiles sums up the errors by head and tile of rows. If there are too many tiles, it keeps the
// worst.
func (f *faults) tiles() []record.Tile {
	type key struct{ b, h, t int }
	at := map[key]int{}
	var list []record.Tile
	tile := func(r ref.Row) *record.Tile {
		k := key{r.B, r.H, r.S / tileRows}
		i, ok := at[k]
		if !ok {
			i = len(list)
			at[k] = i
			list = append(list, record.Tile{Batch: k.b, Head: k.h, RowTile: k.t, KVTile: -1})
		}
		return &list[i]
	}
	for _, r := range f.r.quantised.Rows {
		tile(r)
	}
	for _, e := range f.bad {
		t := tile(e.Row)
		t.Bad++
		t.Max = max(t.Max, e.size())
	}
	if len(list) > mostTiles {
		sorted.By(list, func(a, b record.Tile) int { return cmp.Compare(b.Bad, a.Bad) })
		list = list[:mostTiles]
	}
	return list
}

// blameKeys searches the worst row of some bad tiles for the keys that explain its error. tried
// is the number of rows that it searched.
func (f *faults) blameKeys(tiles []record.Tile) (found []*ref.Blame, tried int, err error) {
	order := make([]*record.Tile, 0, len(tiles))
	for i := range tiles {
		if tiles[i].Bad > 0 {
			order = append(order, &tiles[i])
		}
	}
	sorted.By(order, func(a, b *record.Tile) int { return cmp.Compare(b.Max, a.Max) })
	for _, t := range order[:min(len(order), mostBlamed)] {
		worst := f.worst(t)
		if worst.missing {
			continue
		}
		tried++
		row := make([]float64, f.in.shape.DimV())
		f.got.Row(worst.B, worst.H, worst.S, row)
		b, err := ref.BlameKV(f.in.q, f.in.k, f.in.v, f.in.options(f.a), worst.Row, row, tileKeys)
		if err != nil {
			return nil, 0, err
		}
		if b != nil {
			t.KVTile = b.First / tileKeys
			found = append(found, b)
		}
	}
	return found, tried, nil
}

// worst returns the worst element of a tile.
func (f *faults) worst(t *record.Tile) (worst element) {
	for _, e := range f.bad {
		if e.B == t.Batch && e.H == t.Head && e.S/tileRows == t.RowTile && e.size() >= worst.size() {
			worst = e
		}
	}
	return worst
}
