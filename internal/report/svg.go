package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// svg is an SVG drawing that is being written. Colours are CSS classes, so that they follow the
// light or dark preference of the reader.
type svg struct{ strings.Builder }

// drawing starts a drawing of w by h units that scales with the page.
func drawing(w, h float64, label string) *svg {
	s := &svg{}
	fmt.Fprintf(s, `<svg class="chart" viewBox="0 0 %s %s" role="img" aria-label="%s">`, num(w), num(h), html.EscapeString(label))
	return s
}

// strip starts a drawing that is as wide as its container and h pixels high. Horizontal
// positions are in per cent, so text and marks keep their size on any screen.
func strip(h float64, label string) *svg {
	s := &svg{}
	fmt.Fprintf(s, `<svg class="strip" width="100%%" height="%s" role="img" aria-label="%s">`, num(h), html.EscapeString(label))
	return s
}

func (s *svg) done() template.HTML { return template.HTML(s.String() + "</svg>") }

// num returns a coordinate, rounded to 0.1.
func num(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(s, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

// text writes words at a point; anchor is "start", "middle" or "end".
func (s *svg) text(class, anchor string, x, y float64, words string) {
	fmt.Fprintf(s, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, num(x), num(y), html.EscapeString(words))
}

func (s *svg) circle(class string, x, y, r float64, title string) {
	fmt.Fprintf(s, `<circle class="%s" cx="%s" cy="%s" r="%s"><title>%s</title></circle>`, class, num(x), num(y), num(r), html.EscapeString(title))
}

func (s *svg) rect(class string, x, y, w, h float64) {
	fmt.Fprintf(s, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, num(x), num(y), num(w), num(h))
}

// polyline draws a line through points.
func (s *svg) polyline(class string, points [][2]float64) {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%s,%s ", num(p[0]), num(p[1]))
	}
	fmt.Fprintf(s, `<polyline class="%s" points="%s"/>`, class, strings.TrimSpace(b.String()))
}

// scale maps values to positions.
type scale struct {
	low, high float64 // values
	from, to  float64 // positions
	log       bool
}

func (c scale) at(x float64) float64 {
	low, high := c.low, c.high
	if c.log {
		x = max(x, low) // a logarithmic scale has no 0
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	if high == low {
		return (c.from + c.to) / 2
	}
	return c.from + (x-low)/(high-low)*(c.to-c.from)
}

// logScale returns a logarithmic scale between round numbers that holds all values above 0.
func logScale(values []float64, from, to float64) scale {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if high == 0 {
		low, high = 1, 10
	}
	return scale{low: roundDown(low * 0.97), high: roundUp(high * 1.03), from: from, to: to, log: true}
}

// steps are the round numbers of each decade.
var steps = []float64{1, 2, 5, 10}

func roundDown(x float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(x)))
	best := decade
	for _, s := range steps {
		if s*decade <= x {
			best = s * decade
		}
	}
	return best
}

func roundUp(x float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(x)))
	for _, s := range steps {
		if s*decade >= x {
			return s * decade
		}
	}
	return 10 * decade
}

// ticks returns at most most round numbers of a logarithmic scale.
func (c scale) ticks(most int) (ts []float64) {
	for _, in := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		ts = ts[:0]
		for d := math.Pow(10, math.Floor(math.Log10(c.low))); d <= c.high*1.001; d *= 10 {
			for _, s := range in {
				if v := s * d; v >= c.low*0.999 && v <= c.high*1.001 {
					ts = append(ts, v)
				}
			}
		}
		if len(ts) <= most {
			return ts
		}
	}
	for len(ts) > most { // there are too many decades: keep every other one
		var half []float64
		for i := 0; i < len(ts); i += 2 {
			half = append(half, ts[i])
		}
		ts = half
	}
	return ts
}

// tick returns a number of an axis.
func tick(x float64) string {
	switch {
	case x >= 10000:
		return strconv.FormatFloat(x/1000, 'g', 3, 64) + "k"
	case x < 0.001:
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// apart returns the positions of labels, moved so that no label covers another.
func apart(at []float64, gap, most float64) []float64 {
	out := append([]float64(nil), at...)
	for i := 1; i < len(out); i++ {
		out[i] = max(out[i], out[i-1]+gap)
	}
	if n := len(out); n > 0 && out[n-1] > most {
		out[n-1] = most
		for i := n - 2; i >= 0; i-- {
			out[i] = min(out[i], out[i+1]-gap)
		}
	}
	return out
}
