package kerneldiff

import (
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/problem"
)

// Report says where two sides differ.
type Report struct {
	A       string `json:"a"`
	B       string `json:"b"`
	Shape   string `json:"shape"`
	Device  string `json:"device"`
	TileQ   int    `json:"tile_q"`
	TileKV  int    `json:"tile_kv"`
	Weights int    `json:"bad_weights"` // the number of weights that differ by more than rounding
	Outputs int    `json:"bad_outputs"`
	// First is the first difference, nil if there is none.
	First *Difference `json:"first"`
	// Tiles has one string per batch, head and tile of rows: "." for a tile of keys whose weights
	// agree, "x" for one that differs.
	Tiles []TileRow `json:"tiles"`
}

// TileRow is a row of the map of tiles.
type TileRow struct {
	Batch int    `json:"batch"`
	Head  int    `json:"head"`
	Row   int    `json:"row"` // the first of the tile
	Keys  string `json:"keys"`
}

// Difference is a place in which an intermediate value differs.
type Difference struct {
	Value string  `json:"value"` // "S", "m", "l", "P" or "O"
	Batch int     `json:"batch"`
	Head  int     `json:"head"`
	Row   int     `json:"row"`
	Key   int     `json:"key"` // the first key, -1 for O
	A     float64 `json:"-"`
	B     float64 `json:"-"`
	Why   string  `json:"why"`
}

// rounding is what two kernels may differ by: a share of the value, and a share of the largest
// value of the row.
type rounding struct{ relative, ofLargest float64 }

// roundingOf returns the larger rounding of two sides.
func roundingOf(a, b *Side) rounding {
	one := func(weight string) rounding {
		switch weight {
		case "f64":
			return rounding{0, 0}
		case "f32", "f16", "bf16":
			return rounding{0.01, 0.002}
		}
		return rounding{0.09, 0.006} // one byte: 3 or 2 bits behind the point
	}
	x, y := one(a.Weight), one(b.Weight)
	return rounding{x.relative + y.relative, x.ofLargest + y.ofLargest}
}

// differ reports whether two values differ beyond rounding.
func (r rounding) differ(a, b, largest float64) bool {
	return !(math.Abs(a-b) <= r.relative*max(math.Abs(a), math.Abs(b))+r.ofLargest*largest+1e-6)
}

// Compare compares two sides of a problem, by tiles.
func Compare(a, b *Side, p problem.Attention, tileQ, tileKV int) *Report {
	r := &Report{A: a.Name, B: b.Name, Shape: p.Shape.String(), TileQ: tileQ, TileKV: tileKV, Tiles: []TileRow{}}
	eps := roundingOf(a, b)
	bad := make([][]bool, len(a.P)) // by row and tile of keys
	tiles := (p.Skv + tileKV - 1) / tileKV
	for row := range a.P {
		bad[row] = make([]bool, tiles)
		largest := slices.Max(b.P[row])
		for j := range a.P[row] {
			if eps.differ(a.P[row][j], b.P[row][j], largest) {
				bad[row][j/tileKV] = true
				r.Weights++
			}
		}
	}
	r.first(a, b, p, bad, eps)
	r.outputs(a, b, p, eps)
	r.draw(p, bad)
	return r
}

// first finds the first tile of keys with a difference, and the first row in it.
func (r *Report) first(a, b *Side, p problem.Attention, bad [][]bool, eps rounding) {
	for tile := range (p.Skv + r.TileKV - 1) / r.TileKV {
		for row := range bad {
			if bad[row][tile] {
				r.First = r.explain(a.P[row], b.P[row], eps)
				r.First.Batch, r.First.Head, r.First.Row = row/p.Sq/p.Hq, row/p.Sq%p.Hq, row%p.Sq
				return
			}
		}
	}
}

// outputs compares O where the weights agree.
func (r *Report) outputs(a, b *Side, p problem.Attention, eps rounding) {
	for row := range a.O {
		largest := 0.0
		for _, x := range b.O[row] {
			largest = max(largest, math.Abs(x))
		}
		for d := range a.O[row] {
			if !eps.differ(a.O[row][d], b.O[row][d], 12*largest) {
				continue
			}
			r.Outputs++
			if r.First == nil {
				r.First = &Difference{Value: "O", Batch: row / p.Sq / p.Hq, Head: row / p.Sq % p.Hq, Row: row % p.Sq, Key: -1, A: a.O[row][d], B: b.O[row][d],
					Why: fmt.Sprintf("all weights agree, but column %d of O is %.4g and should be about %.4g: look at the load of V, the product P·V and the store of O", d, a.O[row][d], b.O[row][d])}
			}
		}
	}
}

// draw draws the map of tiles.
func (r *Report) draw(p problem.Attention, bad [][]bool) {
	for start := 0; start < len(bad); start += p.Sq {
		for q := 0; q < p.Sq; q += r.TileQ {
			line := make([]byte, len(bad[start]))
			for tile := range line {
				line[tile] = '.'
				for i := q; i < min(q+r.TileQ, p.Sq); i++ {
					if bad[start+i][tile] {
						line[tile] = 'x'
					}
				}
			}
			r.Tiles = append(r.Tiles, TileRow{start / p.Sq / p.Hq, start / p.Sq % p.Hq, q, string(line)})
		}
	}
}
