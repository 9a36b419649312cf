package errmap

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// shades are the letters for errors, from within the tolerance to the largest.
const shades = "·░▒▓█"

// Write draws the errors of a case. Errors of up to twice tol get the lightest shade. If all
// errors are smaller than that, the shades start lower.
func Write(w io.Writer, s term.Style, c *record.Case, tol float64) {
	if len(c.Map) > 0 {
		newGrid(c.Map).write(w, s, tol)
	}
	if text := blamed(c.Map); text != "" {
		fmt.Fprintf(w, "  keys to blame  %s\n", text)
	}
	if e := c.Errors; e != nil {
		fmt.Fprintf(w, "  worst element  %s\n", worst(e))
	}
	if c.Cause != "" {
		fmt.Fprintf(w, "  likely cause   %s\n", s.Bold(term.Clean(c.Cause)))
	}
}

// worst is the element with the largest error.
func worst(e *ref.Errors) string {
	x := e.Worst
	return fmt.Sprintf("batch %d, head %d, row %d, column %d: %.4g, want %.4g", x.B, x.H, x.S, x.D, float64(x.Got), float64(x.Want))
}

// mostRows and mostColumns limit the map to a terminal's size. In a larger map neighbouring
// cells are joined, and each shows its largest error.
const (
	mostRows    = 32
	mostColumns = 64
)

// grid holds the largest error of each head and tile of rows.
type grid struct {
	heads   [][2]int // batch and head
	columns int
	max     map[[3]int]float64
	bad     int
}

func newGrid(tiles []record.Tile) *grid {
	g := &grid{max: map[[3]int]float64{}}
	for _, t := range tiles {
		head := [2]int{t.Batch, t.Head}
		if !slices.Contains(g.heads, head) {
			g.heads = append(g.heads, head)
		}
		at := [3]int{t.Batch, t.Head, t.RowTile}
		g.max[at] = max(g.max[at], t.Max)
		g.columns = max(g.columns, t.RowTile+1)
		g.bad += t.Bad
	}
	sorted.By(g.heads, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return g
}

// unit returns the error from which on a cell is shaded: tol, or less where even smaller
// errors are too large.
func (g *grid) unit(tol float64) float64 {
	most := 0.0
	for _, err := range g.max {
		if err < math.MaxFloat64 { // NaN is larger than anything
			most = max(most, err)
		}
	}
	if most == 0 {
		return tol
	}
	return min(tol, most/8)
}

func (g *grid) write(w io.Writer, s term.Style, tol float64) {
	tol = g.unit(tol)
	perRow, perColumn := groups(len(g.heads), mostRows), groups(g.columns, mostColumns)
	fmt.Fprintf(w, "  %s\n", s.Dim(g.legend(perRow, perColumn, tol)))
	for first := 0; first < len(g.heads); first += perRow {
		var row strings.Builder
		for column := 0; column < g.columns; column += perColumn {
			worst := 0.0
			for _, h := range g.heads[first:min(first+perRow, len(g.heads))] {
				for tile := column; tile < min(column+perColumn, g.columns); tile++ {
					worst = max(worst, g.max[[3]int{h[0], h[1], tile}])
				}
			}
			row.WriteString(cell(s, worst, tol))
		}
		fmt.Fprintf(w, "  %9s  %s\n", fmt.Sprintf("%d, %d", g.heads[first][0], g.heads[first][1]), row.String())
	}
}

func (g *grid) legend(perRow, perColumn int, tol float64) string {
	text := fmt.Sprintf("errors by batch, head (down) and tile of rows (across); · none too large, █ %.2g and more", 8*tol)
	if perRow > 1 {
		text += fmt.Sprintf("; %d heads per line", perRow)
	}
	if perColumn > 1 {
		text += fmt.Sprintf("; %d tiles per letter", perColumn)
	}
	return text
}

// groups returns how many neighbours are joined so that n cells become at most so many.
func groups(n, most int) int { return max((n+most-1)/most, 1) }

// cell returns the letter for an error. Each letter stands for twice the error of the one before it.
func cell(s term.Style, err, tol float64) string {
	letters := []rune(shades)
	at := 0
	if err > 0 {
		at = 1 + int(min(max(math.Log2(err/tol), 0), float64(len(letters)-2)))
	}
	switch text := string(letters[at]); {
	case at == 0:
		return s.Dim(text)
	case at < 3:
		return s.Yellow(text)
	default:
		return s.Red(text)
	}
}

// blamed names the tiles of keys that explain errors, and says in how many places each does.
func blamed(tiles []record.Tile) string {
	n := map[int]int{}
	var order []int
	for _, t := range tiles {
		if t.Bad == 0 || t.KVTile < 0 {
			continue
		}
		if n[t.KVTile] == 0 {
			order = append(order, t.KVTile)
		}
		n[t.KVTile]++
	}
	sort.Ints(order)
	var parts []string
	for _, kv := range order[:min(len(order), 6)] {
		parts = append(parts, fmt.Sprintf("tile %d (in %d of %d tiles of rows)", kv, n[kv], len(tiles)))
	}
	if len(order) > 6 {
		parts = append(parts, fmt.Sprintf("and %d more", len(order)-6))
	}
	return strings.Join(parts, ", ")
}
