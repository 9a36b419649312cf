package repo

import (
	"fmt"
	"html"
	"strings"
	"testing"
)

// picture is the path of the drawing of the packages.
const picture = "docs/packages.svg"

// TestPackagesPicture checks that the picture shows the current packages and imports.
func TestPackagesPicture(t *testing.T) {
	groups, _ := rooms(t)
	want := draw(groups, list(t))
	switch {
	case *update:
		writeFile(t, picture, want)
	case readFile(t, picture) != want:
		t.Errorf("%s does not show the current imports: run go test ./internal/repo -run Picture -update", picture)
	}
}

// draw returns the SVG of the groups: one box per group with its packages, and an arrow
// from a group to each group that imports it. It leaves out arrows that a path of other
// arrows implies.
func draw(groups []room, pkgs []pkg) string {
	g := &graph{}
	group := map[string]int{}
	for i, r := range groups {
		for _, p := range r.packages {
			group[p] = i
		}
		g.boxes = append(g.boxes, boxOf(r))
	}
	arrows := map[[2]int]bool{}
	for i := range pkgs {
		for _, imp := range pkgs[i].Imports {
			if to, ours := strings.CutPrefix(imp, module+"/"); ours && group[to] != group[pkgs[i].rel()] {
				arrows[[2]int{group[to], group[pkgs[i].rel()]}] = true
			}
		}
	}
	g.arrows = reduce(len(groups), arrows)
	g.layout()
	return g.svg()
}

// Sizes of text in pixels.
const (
	lineHeight  = 16
	letterWidth = 6.7
	titleHeight = 24
	tallest     = 6 // the most lines in one column of a box
)

// boxOf returns the box of a group: the title and the packages, in several columns if there
// are many.
func boxOf(r room) *box {
	b := &box{title: r.title, lines: r.packages}
	longest := 0.0
	for _, p := range r.packages {
		longest = max(longest, letterWidth*float64(len(p)))
	}
	columns, rows := shape(len(r.packages))
	b.w = max(longest*float64(columns)+float64(columns-1)*14+24, 8.5*float64(len(r.title))+24)
	b.h = titleHeight + lineHeight*float64(rows) + 10
	return b
}

// shape returns the number of columns and rows for n lines.
func shape(n int) (columns, rows int) {
	columns = (n + tallest - 1) / tallest
	return columns, (n + columns - 1) / columns
}

const style = `<style>
rect { fill: #f6f8fa; stroke: #d1d9e0; }
path { fill: none; stroke: #818b98; stroke-width: 1.3; }
#tip path { fill: #818b98; stroke: none; }
text { font-family: ui-sans-serif, -apple-system, "Segoe UI", sans-serif; font-size: 13px; font-weight: 600; fill: #1f2328; }
text.package { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 11px; font-weight: 400; fill: #59636e; }
@media (prefers-color-scheme: dark) {
  rect { fill: #151b23; stroke: #3d444d; }
  path { stroke: #656c76; }
  #tip path { fill: #656c76; stroke: none; }
  text { fill: #f0f6fc; }
  text.package { fill: #9198a1; }
}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>
`

func (g *graph) svg() string {
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="The packages of attest in layers, with arrows from each group to the groups that import it">`+"\n", g.w, g.h, g.w, g.h)
	s.WriteString("<!-- written by: go test ./internal/repo -run Picture -update -->\n" + style)
	for _, layer := range g.layers {
		for _, b := range layer {
			for _, to := range b.down {
				if !b.bend {
					s.WriteString(curve(b, to))
				}
			}
		}
	}
	for _, b := range g.boxes {
		left, top := b.x-b.w/2, b.top
		fmt.Fprintf(&s, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6"/>`+"\n", left, top, b.w, b.h)
		fmt.Fprintf(&s, `<text x="%.1f" y="%.1f">%s</text>`+"\n", left+12, top+19, html.EscapeString(b.title))
		columns, rows := shape(len(b.lines))
		for i, line := range b.lines {
			x := left + 12 + float64(i/rows)*(b.w-24+14)/float64(columns)
			y := top + titleHeight + lineHeight*(float64(i%rows)+0.75)
			fmt.Fprintf(&s, `<text class="package" x="%.1f" y="%.1f">%s</text>`+"\n", x, y, html.EscapeString(line))
		}
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// curve draws an arrow from the lower edge of a box, through bends, to the upper edge of
// the next box.
func curve(from, next *box) string {
	x := port(from, next)
	path := fmt.Sprintf("M%.1f %.1f", x, from.top+from.h)
	for last := from; ; last, next = next, next.down[0] {
		path += fmt.Sprintf(" V%.1f", last.bottom) // pass the taller boxes of the layer
		toX := next.x
		if !next.bend {
			toX = port(next, last)
		}
		middle := (last.bottom + next.top) / 2
		path += fmt.Sprintf(" C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, toX, middle, toX, next.top)
		if !next.bend {
			return fmt.Sprintf(`<path d="%s" marker-end="url(#tip)"/>`+"\n", path)
		}
		x = toX
	}
}

// port returns the x at which an arrow between b and other meets the edge of b: as near to
// other as the edge allows.
func port(b, other *box) float64 {
	reach := b.w/2 - 14
	return min(max(other.x, b.x-reach), b.x+reach)
}
