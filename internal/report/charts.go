package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
)

// Figure is a chart with its title and the records that it shows.
type Figure struct {
	Title string
	Chart template.HTML
	Note  string
	Items []*evidence.Item // the records that it shows
}

// Links returns one cell per record of the figure.
func (f *Figure) Links() (cells []Cell) {
	for _, item := range f.Items {
		cells = append(cells, source(item))
	}
	return cells
}

// A chart is chartWidth units wide, and its text is up to 15 units high: style.css makes the text
// larger in a narrow figure, so that it stays readable on a phone. lineGap is the least distance
// between two lines of text, and letter is about the width of a letter at that size.
const (
	chartWidth = 400
	lineGap    = 14.5
	letter     = 8
	mostDots   = 600 // the number of samples that are drawn
)

// Latencies draws the samples of a kernel in their order and as a histogram, one figure per
// shape.
func (v *View) Latencies(k *Kernel) (out []Figure) {
	for _, s := range v.Shapes {
		for _, r := range s.Rows {
			if r.Kernel == k && len(r.Main().Samples()) > 0 {
				out = append(out, latency(s, r))
			}
		}
	}
	return out
}

func latency(s *Shape, r *Row) Figure {
	m := r.Main()
	all := m.Samples()
	d := drawing(chartWidth, 154, fmt.Sprintf("%d samples of %s on %s", len(all), r.Label, s.Title()))
	y, above := latencyScale(all, m.Summary)
	x := scale{high: float64(len(all)), from: plotLeft, to: plotSplit - 8}
	d.line("p90", plotLeft, y.at(m.Summary.P90), plotRight, y.at(m.Summary.P90))
	d.line("median", plotLeft, y.at(m.Summary.P50), plotRight, y.at(m.Summary.P50))
	labels := apart([]float64{y.at(m.Summary.P90), y.at(m.Summary.P50), y.at(m.Summary.Min)}, lineGap, plotBottom)
	for i, value := range []float64{m.Summary.P90, m.Summary.P50, m.Summary.Min} {
		d.text("tick", "end", plotLeft-5, labels[i]+3.5, figures(value))
	}
	taken := 0
	for i := range m.Times.Runs[:len(m.Times.Runs)-1] {
		taken += len(m.Times.Runs[i].Times(m.index))
		d.line("process", x.at(float64(taken)), plotTop, x.at(float64(taken)), plotBottom)
	}
	step := (len(all) + mostDots - 1) / mostDots
	var dots strings.Builder
	for i := 0; i < len(all); i += step {
		fmt.Fprintf(&dots, "M%s %sh0", num(x.at(float64(i)+0.5)), num(y.at(min(all[i], y.high))))
	}
	fmt.Fprintf(d, `<path class="samples" d="%s"/>`, dots.String())
	histogram(d, all, y, plotSplit, plotRight)
	d.text("tick", "start", plotLeft, 148, english.Count(len(all), "sample")+", in order")
	d.text("tick", "end", plotRight, 148, "count")
	if above > 0 {
		d.text("over", "end", plotRight, plotTop+11, fmt.Sprintf("%d above, up to %s", above, figures(m.Summary.Max)))
	}
	note := fmt.Sprintf("p90, p50 and minimum in µs, %s; CV %s, drift %s", how(m.Method), percent(m.Summary.CV), percent(m.Summary.Drift))
	if step > 1 {
		note += fmt.Sprintf("; every %dth sample is drawn", step)
	}
	if low, high := m.Times.Runs[0].Clocks(); high > 0 {
		note += fmt.Sprintf("; SM clock %d–%d MHz, throttled by: %v", low, high, m.Times.Runs[0].Throttle())
	}
	return Figure{Title: s.Title() + " on " + s.Device, Chart: d.done(), Note: note, Items: []*evidence.Item{r.Item}}
}

// The positions of the samples and the histogram in the drawing.
const plotTop, plotBottom, plotLeft, plotSplit, plotRight = 8.0, 132.0, 54.0, 300.0, 392.0

// latencyScale returns a scale for most of the samples, and the number of samples above it.
// Those are drawn at the edge: one launch that was interrupted would compress all others.
func latencyScale(all []float64, s stats.Summary) (y scale, above int) {
	high := min(s.Max, s.P90+3*(s.P90-s.Min))
	pad := max((high-s.Min)*0.08, high*1e-4)
	y = scale{low: s.Min - pad, high: high + pad, from: plotBottom, to: plotTop}
	for _, v := range all {
		if v > y.high {
			above++
		}
	}
	return y, above
}

// histogram draws the number of samples for each range of times, as bars to the right.
func histogram(d *svg, all []float64, y scale, left, right float64) {
	const bins = 31
	var counts [bins]int
	for _, v := range all {
		if v <= y.high { // the others are counted in the text
			at := int(float64(bins) * (v - y.low) / (y.high - y.low))
			counts[min(max(at, 0), bins-1)]++
		}
	}
	most := slices.Max(counts[:])
	h := (y.from - y.to) / bins
	for i, n := range counts {
		if n > 0 {
			d.rect("bar", left, y.from-float64(i+1)*h+0.5, max(1, float64(n)/float64(most)*(right-left)), h-1)
		}
	}
}

// Rooflines draws one figure per device: rates against arithmetic intensity, below the probed
// ceilings.
func (v *View) Rooflines() (out []Figure) {
	var devices []string
	for _, s := range v.Shapes {
		if !slices.Contains(devices, s.Device) {
			devices = append(devices, s.Device)
		}
	}
	for _, device := range devices {
		if f, ok := v.roofline(device); ok {
			out = append(out, f)
		}
	}
	return out
}

// spot is a point of a roofline.
type spot struct {
	intensity, rate float64
	row             *Row
	shape           *Shape
	best            bool
}

func (v *View) roofline(device string) (Figure, bool) {
	var spots []spot
	var newest *evidence.Item
	for _, s := range v.Shapes {
		if s.Device != device {
			continue
		}
		best := s.Best()
		for _, r := range s.Rows {
			c := r.Item.Performance.Ceiling
			if newest == nil || r.Item.Seq > newest.Seq && c.FLOPs > 0 {
				newest = r.Item
			}
			if x := intensity(r.Item.Record, s.Shape); r.Kernel != nil && x > 0 && r.Main().TFLOPs > 0 {
				spots = append(spots, spot{x, r.Main().TFLOPs, r, s, r == best})
			}
		}
	}
	if newest == nil || len(spots) == 0 || newest.Performance.Ceiling.FLOPs <= 0 || newest.Performance.Ceiling.Bandwidth <= 0 {
		return Figure{}, false
	}
	return drawRoofline(device, spots, newest), true
}

func drawRoofline(device string, spots []spot, from *evidence.Item) Figure {
	const top, bottom, left, right = 16.0, 220.0, 44.0, 380.0
	c := from.Performance.Ceiling
	ridge := 1e3 * c.FLOPs / c.Bandwidth // FLOP per byte
	xs, ys := []float64{ridge / 3, ridge * 3}, []float64{c.FLOPs * 1.2}
	for _, p := range spots {
		xs, ys = append(xs, p.intensity/1.5, p.intensity*1.5), append(ys, p.rate/1.2)
	}
	x, y := logScale(xs, left, right), logScale(ys, bottom, top)
	d := drawing(chartWidth, 312, "roofline of "+device)
	for _, t := range x.ticks(6) {
		d.line("grid", x.at(t), top, x.at(t), bottom)
		d.text("tick", "middle", x.at(t), bottom+14, tick(t))
	}
	for _, t := range y.ticks(6) {
		d.line("grid", left, y.at(t), right, y.at(t))
		d.text("tick", "end", left-5, y.at(t)+3.5, tick(t))
	}
	roof := func(i float64) float64 { return min(c.FLOPs, i*c.Bandwidth/1e3) }
	start := max(x.low, 1e3*y.low/c.Bandwidth)
	d.polyline("roof", [][2]float64{{x.at(start), y.at(roof(start))}, {x.at(ridge), y.at(c.FLOPs)}, {right, y.at(c.FLOPs)}})
	d.text("label", "end", right-2, y.at(c.FLOPs)-4, fmt.Sprintf("%s TFLOP/s, tensor cores", figures(c.FLOPs)))
	d.text("label", "start", x.at(start)+18, y.at(roof(start))+14, fmt.Sprintf("%s GB/s", figures(c.Bandwidth)))
	columns(d, spots, x, y)
	d.text("tick", "middle", (left+right)/2, 307, "FLOP per byte of Q, K, V and O")
	d.text("tick", "start", left+4, top+11, "TFLOP/s")
	return Figure{
		Title: "Roofline of " + device, Chart: d.done(), Items: []*evidence.Item{from},
		Note: "Each column is a shape and each dot a kernel; the filled dot is the fastest that was not rejected. Names that would cover others are left out. The ceilings were probed in the run of the record",
	}
}

// columns draws the dots of each shape in one column, with the name of the shape below if there is
// room for it. The title of each dot has the name, too.
func columns(d *svg, spots []spot, x, y scale) {
	sorted.By(spots, func(a, b spot) int { return cmp.Compare(a.intensity, b.intensity) })
	named := map[*Shape]bool{}
	ends := [4]float64{} // where the last name ends in each line of names
	for _, p := range spots {
		at := x.at(p.intensity)
		if !named[p.shape] {
			named[p.shape] = true
			name := masked(orElse(p.shape.Name, p.shape.Shape.String()), p.shape.Causal)
			half := letter / 2 * float64(len(name))
			middle := min(max(at, half), chartWidth-half)
			line := slices.IndexFunc(ends[:], func(end float64) bool { return middle-half >= end })
			if line >= 0 { // otherwise the name would cover another one
				ends[line] = middle + half + 4
				d.text("label", "middle", middle, y.from+29+lineGap*float64(line), name)
			}
		}
		class := "dot ring kernel"
		if p.best {
			class = "dot main best"
		}
		d.circle(class, at, y.at(p.rate), 3.5, fmt.Sprintf("%s, %s: %s TFLOP/s at %s FLOP per byte", p.row.Label, p.shape.Title(), figures(p.rate), figures(p.intensity)))
	}
}

// intensity returns the operations of the two products divided by the bytes of Q, K, V and O,
// each read or written once.
func intensity(r *record.Record, s problem.Shape) float64 {
	p := r.Kernel.Problem.Attention
	p.Shape = s
	return s.FLOP() / float64(p.InputBytes()+p.OutputBytes())
}
