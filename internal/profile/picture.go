package profile

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/timeline"
)

// picture is a part of a timeline as the page draws it: one strip per track, which is as wide as the
// screen allows.
type picture struct {
	Title string
	Ticks []tick
	Rows  []row
	Keys  []key // the colours that occur
}

// row is one track.
type row struct {
	Name  string
	Block int
	First bool // of its block
	Async bool // copies or products
	Busy  string
	Marks []mark
}

// mark is all times of a row with one colour, as an SVG path.
type mark struct {
	Class, Name string
	Path        string
}

// tick is a time on the axis, at a distance from the left in per cent.
type tick struct {
	At   template.CSS
	Name string
}

// key is a colour of the legend.
type key struct{ Class, Name string }

const (
	columns    = 480 // a column shows what a warp did for most of its time
	mostBlocks = 2   // blocks that are drawn: one cluster, or two blocks of one SM
	// zoomed is the part of the timeline that the second picture shows.
	zoomed = 0.1
	// leastZoom is the time in microseconds from which a second picture is drawn: the first one
	// shows everything of a short kernel.
	leastZoom = 3
)

// pictures draws a timeline as a whole and, if it is long, a part in its middle.
func pictures(tracks []timeline.Track) (list []picture) {
	tracks = slices.DeleteFunc(slices.Clone(tracks), func(t timeline.Track) bool { return t.Block >= mostBlocks })
	end := 0.0
	for i := range tracks {
		for _, s := range tracks[i].Spans {
			end = max(end, s.To)
		}
	}
	if end == 0 {
		return nil
	}
	list = append(list, draw("the whole replay", tracks, 0, end))
	if end >= leastZoom {
		from := end * (1 - zoomed) / 2
		list = append(list, draw("a tenth of it, in the middle", tracks, from, from+end*zoomed))
	}
	return list
}

// draw returns the picture of the time between two moments in microseconds.
func draw(title string, tracks []timeline.Track, from, to float64) picture {
	p := picture{Title: title}
	used := map[machine.Reason]bool{}
	for i := range tracks {
		t := &tracks[i]
		r := row{Name: label(t), Block: t.Block, First: i == 0 || tracks[i-1].Block != t.Block, Async: t.Warp < 0}
		cells := cellsOf(t.Spans, from, to)
		ran := 0.0
		for _, c := range cells {
			ran += c[machine.Issue]
		}
		r.Busy = fmt.Sprintf("%.0f %%", 100*ran/columns)
		for _, why := range machine.Reasons() {
			if path := pathOf(cells, why); path != "" {
				r.Marks = append(r.Marks, mark{classOf(why, r.Async), nameOf(why, r.Async), path})
				used[why] = used[why] || !r.Async
			}
		}
		p.Rows = append(p.Rows, r)
	}
	for _, why := range machine.Reasons() {
		if used[why] {
			p.Keys = append(p.Keys, key{classOf(why, false), nameOf(why, false)})
		}
	}
	p.Ticks = ticks(from, to)
	return p
}

// label returns the name of a track, short enough for a phone.
func label(t *timeline.Track) string {
	if t.Role == "" {
		return t.Name()
	}
	return fmt.Sprintf("%d %s", t.Warp, t.Role)
}

// cell holds, per reason, the share of a column that a warp spent on it.
type cell [machine.ReasonCount]float64

// cellsOf divides the time between two moments into columns.
func cellsOf(spans []timeline.Span, from, to float64) []cell {
	cells := make([]cell, columns)
	width := (to - from) / columns
	for _, s := range spans {
		a, b := (max(s.From, from)-from)/width, (min(s.To, to)-from)/width
		for i := max(0, int(a)); i < columns && float64(i) < b; i++ {
			cells[i][s.Why] = min(1, cells[i][s.Why]+max(0, min(b, float64(i+1))-max(a, float64(i))))
		}
	}
	return cells
}

// pathOf returns the columns in which a reason takes the most time, as an SVG path with one
// rectangle per run of columns.
func pathOf(cells []cell, why machine.Reason) string {
	var b strings.Builder
	for i := 0; i < len(cells); i++ {
		first := i
		for i < len(cells) && cells[i].main() == why {
			i++
		}
		if i > first {
			fmt.Fprintf(&b, "M%d 0h%dv1h-%dz", first, i-first, i-first)
		}
	}
	return b.String()
}

// main returns the reason with the most time, or Idle if the warp did nothing.
func (c *cell) main() machine.Reason {
	best := machine.Idle
	for why, x := range c {
		if x > c[best] {
			best = machine.Reason(why)
		}
	}
	return best
}

// classOf returns the CSS class of a reason.
func classOf(why machine.Reason, async bool) string {
	if why == machine.Issue && async {
		return "flight"
	}
	return className(why.String())
}

// className returns the CSS class of a reason by its name.
func className(reason string) string { return "r-" + strings.ReplaceAll(reason, " ", "-") }

// nameOf returns what a colour means.
func nameOf(why machine.Reason, async bool) string {
	switch {
	case why == machine.Issue && async:
		return "in flight"
	case why == machine.Issue:
		return "runs"
	case why == machine.Idle:
		return "not started or ended"
	}
	return "waits: " + why.String()
}

// ticks returns about five round times between two moments in microseconds.
func ticks(from, to float64) (list []tick) {
	step := math.Pow(10, math.Floor(math.Log10(to-from)))
	for _, f := range []float64{5, 2} {
		if (to-from)/step < f {
			step /= 10 / f
			break
		}
	}
	for n := math.Ceil(from / step); n*step <= to; n++ {
		at := 100 * (n*step - from) / (to - from)
		list = append(list, tick{template.CSS(fmt.Sprintf("left:%.2f%%", at)), fmt.Sprintf("%.4g", n*step)})
	}
	return list
}
