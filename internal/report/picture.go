package report

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// ErrNoPicture says that no kernel was timed beside a rival.
var ErrNoPicture = errors.New("there is nothing to draw: no kernel that passed its gates was timed beside a rival")

// The measures of the picture, in pixels.
const (
	pictureWidth  = 880
	pictureMargin = 20
	groupWidth    = 420
	groupTitle    = 22
	barHeight     = 15
	barLeft       = 122 // the left end of the bars; the names are to the left of it
	barMost       = 200 // the longest bar
	pictureHead   = 74
	footLine      = 15
	footLetters   = 138 // the letters of a line of the footer
)

// mostShown is the longest bar, in times of our kernel. Longer bars are cut off.
const mostShown = 3.25

// pictureStyle has the colours for light and dark. The picture has a background of its own,
// since the page around it need not follow the same preference.
const pictureStyle = `
.back { fill: #ffffff; } text { fill: #1b1f24; font: 11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
text.title { font-size: 16px; font-weight: 600; } text.group { font-size: 12px; font-weight: 600; } text.ours { font-weight: 600; } text.note { fill: #57606a; }
.bar-ours { fill: #1f6f8b; } .bar-eight { fill: #9db2bd; } .bar-sixteen { fill: #cdd4d9; } .one { stroke: #1f6f8b; stroke-dasharray: 2 3; }
@media (prefers-color-scheme: dark) {
.back { fill: #161b20; } text { fill: #e6e9ec; } text.note { fill: #98a2ad; }
.bar-ours { fill: #5bb5d1; } .bar-eight { fill: #5f7480; } .bar-sixteen { fill: #3d474f; } .one { stroke: #5bb5d1; }
}
`

// WriteSVG writes one picture of the times of our fastest kernels beside those of the
// rivals, one group of bars per shape. The device is the one with most shapes. The same
// evidence gives the same bytes.
func (v *View) WriteSVG(w io.Writer) error {
	shapes := v.pictured()
	if len(shapes) == 0 {
		return ErrNoPicture
	}
	foot := term.Wrap(footnote(shapes), footLetters)
	s := &svg{}
	y := float64(pictureHead)
	for i := 0; i < len(shapes); i += 2 {
		high := 0.0
		for column, shape := range shapes[i:min(i+2, len(shapes))] {
			high = max(high, shape.drawGroup(s, pictureMargin+float64(column*groupWidth), y))
		}
		y += high
	}
	y += 8
	for _, line := range foot {
		y += footLine
		s.text("note", "start", pictureMargin, y, line)
	}
	height := num(y + pictureMargin)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%s" viewBox="0 0 %d %s" role="img" aria-label="%s"><style>%s</style><rect class="back" width="%d" height="%s" rx="8"/>%s%s</svg>`+"\n",
		pictureWidth, height, pictureWidth, height, html.EscapeString(pictureTitle), pictureStyle, pictureWidth, height, heading(shapes), s.String())
	return err
}

const pictureTitle = "Time of one launch: attest beside other libraries (shorter is faster)"

// pictured returns the shapes of one device whose fastest kernel was timed beside rivals. Once there
// are times of enough processes for a README, the picture has only those.
func (v *View) pictured() (shapes []*Shape) {
	if shapes = v.besideRivals((*Row).published); len(shapes) > 0 {
		return shapes
	}
	return v.besideRivals(func(*Row) bool { return true })
}

func (v *View) besideRivals(wanted func(*Row) bool) (shapes []*Shape) {
	byDevice := map[string][]*Shape{}
	for _, s := range v.Shapes {
		if best := s.Shown(); best != nil && wanted(best) && len(best.Main().Times.Rivals) > 0 && primary(best.Main().Method) {
			byDevice[s.Device] = append(byDevice[s.Device], s)
			if len(byDevice[s.Device]) > len(shapes) {
				shapes = byDevice[s.Device]
			}
		}
	}
	return shapes
}

// heading draws the title, the machine and the legend.
func heading(shapes []*Shape) string {
	s := &svg{}
	best := shapes[0].Shown()
	s.text("title", "start", pictureMargin, 28, pictureTitle)
	s.text("note", "start", pictureMargin, 46, fmt.Sprintf("%s, %s, %s; attest computes in FP8 (%s); median of a replayed graph with a warm cache, %s",
		shapes[0].Device, orElse(best.Item.Build.Driver, "driver not known"), pictureDates(shapes), best.Item.Kernel.Format, pictureProcesses(shapes)))
	x := float64(pictureMargin)
	for _, key := range []struct{ class, name string }{{"bar-ours", "attest"}, {"bar-eight", "rival in FP8"}, {"bar-sixteen", "rival in 16 bits"}} {
		s.rect(key.class, x, 55, 11, 11)
		s.text("note", "start", x+16, 64.5, key.name)
		x += 40 + 6*float64(len(key.name))
	}
	return s.String()
}

// pictureDates returns the days on which the kernels were timed.
func pictureDates(shapes []*Shape) string {
	var days []string
	for _, s := range shapes {
		days = append(days, s.Shown().Item.Build.Time.UTC().Format("2006-01-02"))
	}
	sort.Strings(days)
	if days = slices.Compact(days); len(days) == 1 {
		return days[0]
	}
	return days[0] + " to " + days[len(days)-1]
}

// pictureProcesses returns in how many processes the kernels were timed.
func pictureProcesses(shapes []*Shape) string {
	least, most := math.MaxInt, 0
	for _, s := range shapes {
		n := len(s.Shown().Main().Times.Runs)
		least, most = min(least, n), max(most, n)
	}
	if least == most {
		return english.Count(most, "process")
	}
	return fmt.Sprintf("%d to %s", least, english.Count(most, "process"))
}

// contender is one bar.
type contender struct {
	name, class string
	micros      float64
	ratio       float64 // the rival's time over ours; 0 for ours
	unsure      bool    // the interval of the ratio contains 1
}

// contenders returns our kernel and the rivals of its run, the fastest first.
func (s *Shape) contenders() []contender {
	m := s.Shown().Main()
	list := []contender{{"attest " + s.Shown().Item.Kernel.Name, "ours", m.Summary.P50, 0, false}}
	for _, r := range m.Times.Rivals {
		i := slices.Index(m.Times.Names, r.Name)
		if i < 0 || i >= len(m.Times.Summaries) || r.Comparison.Ratio <= 0 {
			continue
		}
		class := "sixteen"
		if strings.HasSuffix(r.Name, "e4m3") || strings.HasSuffix(r.Name, "e5m2") {
			class = "eight"
		}
		interval := r.Comparison.Interval
		name := r.Name
		if m.Times.ByHost(name) {
			name += " *"
		}
		list = append(list, contender{name, class, m.Times.Summaries[i].P50, 1 / r.Comparison.Ratio, interval.Low <= 1 && interval.High >= 1})
	}
	sorted.By(list, func(a, b contender) int { return cmp.Compare(a.micros, b.micros) })
	return list
}

// drawGroup draws the bars of a shape and returns their height.
func (s *Shape) drawGroup(d *svg, x, y float64) float64 {
	title := fmt.Sprintf("(%s)", s.Shape)
	if s.Name != "" {
		title = s.Name + " " + title
	}
	d.text("group", "start", x, y+14, masked(title, s.Causal))
	list := s.contenders()
	one := barMost / mostShown // pixels of our own time
	top := y + groupTitle
	for i, c := range list {
		at := top + float64(i)*barHeight
		label, class := figures(c.micros)+" µs", "ours"
		share := 1.0
		if c.class != "ours" {
			share, class = c.ratio, ""
			label += fmt.Sprintf(", %s%.2f×", map[bool]string{true: "≈"}[c.unsure], c.ratio)
		}
		length := one * min(share, mostShown)
		d.text(class, "end", x+barLeft-6, at+10.5, c.name)
		d.rect("bar-"+c.class, x+barLeft, at+1, length, barHeight-3)
		if share > mostShown {
			label = "▸ " + label
		}
		d.text(class, "start", x+barLeft+length+5, at+10.5, label)
	}
	bottom := top + float64(len(list))*barHeight
	d.line("one", x+barLeft+one, top-2, x+barLeft+one, bottom)
	return bottom - y + 10
}

// footnote explains the picture and names the versions of the rivals.
func footnote(shapes []*Shape) string {
	var versions []string
	host := false
	for _, s := range shapes {
		m := s.Shown().Main()
		for _, r := range m.Times.Rivals {
			library, _, _ := strings.Cut(r.Name, " ")
			if text := library + " " + orElse(r.Version, "of unknown version"); !slices.Contains(versions, text) {
				versions = append(versions, text)
			}
			host = host || m.Times.ByHost(r.Name)
		}
	}
	text := fmt.Sprintf("1.85× means that the rival takes 1.85 times as long as attest, in the same run; ≈ marks a tie, a ratio whose 95 %% interval contains 1. Bars of more than %g× are cut off (▸). Shapes are (B,H,S,D), or (B,Hq/Hkv,S,D) where query heads share keys. Rivals: %s.",
		mostShown, strings.Join(versions, "; "))
	if host {
		text += " * is timed by the clock of the host: jax has no graphs, and its launches run in a compiled loop."
	}
	return text + " Drawn by attest report --svg from the records of the evidence."
}
