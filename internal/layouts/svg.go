package layouts

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// Sizes of the drawing, in pixels.
const (
	boxWidth  = 58
	boxHeight = 22
	margin    = 46
	titleRoom = 44
)

// WriteSVG draws the picture. Boxes of the same lane have the same colour, so that a lane's
// elements can be found by eye. Colours suit light and dark backgrounds.
func (p *Picture) WriteSVG(w io.Writer) error {
	var body strings.Builder
	width, y := 420, 8
	for i := range p.Matrices {
		v := viewOf(&p.Matrices[i])
		wide, high := v.draw(&body, p.Name, y)
		width, y = max(width, wide), y+high
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&body, "<text x=\"8\" y=\"%d\">%s</text>\n", y+14, html.EscapeString(n))
		width, y = max(width, 16+7*len(n)), y+20
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="ui-monospace, monospace" font-size="11">
<style>
text { fill: #222 }
.box { stroke: #8888 }
.title { font-weight: bold; font-size: 13px }
.index { fill: #777 }
.in { fill: #111 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .index { fill: #999 } .in { fill: #111 } }
</style>
%s</svg>
`, width, y+8, body.String())
	return err
}

// draw draws one matrix below y and returns the room that it takes.
func (v view) draw(b *strings.Builder, name string, y int) (width, height int) {
	fmt.Fprintf(b, "<text class=\"title\" x=\"8\" y=\"%d\">%s</text>\n", y+14, html.EscapeString(name+": "+v.m.What))
	fmt.Fprintf(b, "<text x=\"8\" y=\"%d\">%s</text>\n", y+30, html.EscapeString(v.m.summary()))
	top := y + titleRoom
	across := 0
	for c := 0; c < v.cols; c += v.perCol {
		fmt.Fprintf(b, "<text class=\"index\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">%s</text>\n", margin+across*boxWidth+boxWidth/2, top+10, span(c, v.perCol))
		across++
	}
	top += 16
	down := 0
	for r := 0; r < v.rows; r += v.perRow {
		fmt.Fprintf(b, "<text class=\"index\" text-anchor=\"end\" x=\"%d\" y=\"%d\">%s</text>\n", margin-6, top+down*boxHeight+15, span(r, v.perRow))
		across = 0
		for c := 0; c < v.cols; c += v.perCol {
			v.box(b, r, c, margin+across*boxWidth, top+down*boxHeight)
			across++
		}
		down++
	}
	high := titleRoom + 16 + down*boxHeight + 14
	if v.note != "" {
		fmt.Fprintf(b, "<text x=\"8\" y=\"%d\">%s</text>\n", y+high, html.EscapeString(v.note))
		high += 16
	}
	return max(margin+across*boxWidth+10, 16+7*max(len(v.note), len(v.m.summary()))), high
}

func (v view) box(b *strings.Builder, r, c, x, y int) {
	who := v.m.Held[r][c][0]
	colour := who.Lane
	if v.m.at == nil {
		colour = 4 * who.Register
	}
	// 137° between neighbours keeps the colours of nearby lanes apart.
	fmt.Fprintf(b, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"hsl(%d 70%% 82%%)\"/>", x, y, boxWidth, boxHeight, colour*137%360)
	fmt.Fprintf(b, "<text class=\"in\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">%s</text>\n", x+boxWidth/2, y+15, html.EscapeString(v.label(r, c)))
}
