package report

import (
	"fmt"
	"html/template"
	"strconv"

	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// mostMaps is the number of maps that are drawn for a kernel. A wrong kernel usually fails many
// cases in the same way.
const mostMaps = 4

// shadesOfHeat is the number of colours of a heat map.
const shadesOfHeat = 5

// Heat is a map of errors: one line per head, one column per tile of rows.
type Heat struct {
	Title, Note string
	Rows        []HeatRow
	Limit       string // the error that the shades are relative to
	Columns     string // the meaning of the columns
	Width       int    // the largest width in pixels
}

// HeatRow is the cells of one head.
type HeatRow struct {
	Label string
	Cells template.HTML
}

// Maps returns the maps of errors of the cases of a kernel, and the number of further maps. If
// no case has a map, it returns the errors of the worst case by head and by tile.
func Maps(c *record.Correctness) (maps []Heat, more int) {
	for i := range c.Cases {
		x := &c.Cases[i]
		if len(x.Map) == 0 {
			continue
		}
		if len(maps) == mostMaps {
			more++
			continue
		}
		maps = append(maps, heatOf(x, c.Tolerance))
	}
	if len(maps) > 0 {
		return maps, more
	}
	if i := worstCase(c); i >= 0 {
		maps = append(maps, margins(&c.Cases[i], c.Tolerance))
	}
	return maps, 0
}

// worstCase returns the case with the largest error relative to its limit, or -1.
func worstCase(c *record.Correctness) int {
	at, worst := -1, -1.0
	for i := range c.Cases {
		x := &c.Cases[i]
		if x.Errors == nil || len(x.Errors.ByHead) == 0 {
			continue
		}
		if share := x.Errors.Max / mostOf(x, c.Tolerance); share > worst {
			at, worst = i, share
		}
	}
	return at
}

func heatOf(c *record.Case, t record.Tolerance) Heat {
	m := mapOf(c)
	limit := limitOf(c, t)
	h := Heat{Title: fmt.Sprintf("%s, %s, seed %d", caseName(c), c.Distribution, c.Seed), Note: c.Cause, Limit: strconv.FormatFloat(limit, 'g', 3, 64), Columns: "tile of rows", Width: width(m.tiles)}
	for head := range m.heads {
		errors := make([]float64, m.tiles)
		for tile := range errors {
			errors[tile] = m.at(head, tile)
		}
		h.Rows = append(h.Rows, HeatRow{fmt.Sprintf("head %d", head), cells(errors, limit, "tile")})
	}
	return h
}

// limitOf returns the error that the shades of a map are relative to. It is less than the
// tolerance where smaller errors are already too large, so that they are visible.
func limitOf(c *record.Case, t record.Tolerance) float64 {
	var worst float64
	for i := range c.Map {
		worst = max(worst, c.Map[i].Max)
	}
	if most := mostOf(c, t); worst == 0 || worst > most {
		return most
	}
	return worst / 2.5
}

func margins(c *record.Case, t record.Tolerance) Heat {
	h := Heat{
		Title: fmt.Sprintf("worst case: %s, %s, seed %d", caseName(c), c.Distribution, c.Seed), Limit: strconv.FormatFloat(mostOf(c, t), 'g', 3, 64), Columns: "head, or tile of rows",
		Width: width(max(len(c.Errors.ByHead), len(c.Errors.ByRowTile))),
	}
	for _, p := range []struct {
		label string
		parts []ref.Part
	}{{"by head", c.Errors.ByHead}, {"by rows", c.Errors.ByRowTile}} {
		errors := make([]float64, len(p.parts))
		for i, part := range p.parts {
			errors[i] = part.Max
		}
		if len(errors) > 0 {
			h.Rows = append(h.Rows, HeatRow{p.label, cells(errors, mostOf(c, t), "part")})
		}
	}
	return h
}

// width limits the width of a map with few cells.
func width(cells int) int { return max(90, 26*cells) }

func cells(errors []float64, tolerance float64, what string) template.HTML {
	s := strip(16, "errors")
	w := 100 / float64(len(errors))
	for i, e := range errors {
		fmt.Fprintf(s, `<rect class="heat h%d" x="%s%%" y="1" width="%s%%" height="14"><title>%s %d: %s</title></rect>`,
			shade(e, tolerance, shadesOfHeat), num2(float64(i)*w+0.04*w), num2(0.92*w), what, i, figures(e))
	}
	return s.done()
}

// heatKey returns the legend of the maps.
func heatKey() (keys []Key) {
	for i, name := range []string{"≤ ½ of it", "≤ 1", "≤ 1½", "≤ 2", "more"} {
		keys = append(keys, Key{name, fmt.Sprintf("h%d", i)})
	}
	return keys
}

// heats returns the maps of a kernel for the template.
func heats(c *record.Correctness) (h struct {
	Maps []Heat
	More int
}) {
	h.Maps, h.More = Maps(c)
	return h
}
