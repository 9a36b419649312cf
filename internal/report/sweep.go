package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// ErrNoSweep says that too few shapes were timed beside rivals for a heat map.
var ErrNoSweep = fmt.Errorf("there is nothing to draw: a heat map needs at least %d shapes that were timed beside a rival; attest bench hopper --sweep 60 --against fa3,torch times them", leastSwept)

// leastSwept is the number of shapes from which on a heat map says more than a table.
const leastSwept = 12

// Swept is the fastest kernel of one shape beside its fastest rival.
type Swept struct {
	*Shape
	Row     *Row
	Rival   string
	Speedup float64 // the rival's time over ours: above 1 we are faster
}

// Sweep returns all shapes of one device that were timed beside rivals, the lowest speedup first. The
// device is the one with most such shapes. Of a kernel that was swept several times, only the latest sweep
// counts: earlier ones timed what the kernel was then. A sweep measures and does not judge, so a kernel needs
// no verdict here; its outputs must be right.
func (v *View) Sweep() (all []Swept) {
	byDevice, latest := map[string][]Swept{}, v.latestSweeps()
	for _, s := range v.Shapes {
		if x, ok := s.swept(latest); ok {
			byDevice[s.Device] = append(byDevice[s.Device], x)
			if len(byDevice[s.Device]) > len(all) {
				all = byDevice[s.Device]
			}
		}
	}
	sorted.By(all, func(a, b Swept) int { return cmp.Compare(a.Speedup, b.Speedup) })
	return all
}

// decode reports whether the shape has fewer queries than keys, as when tokens are generated.
func (x *Swept) decode() bool { return x.Shape.Shape.Sq < x.Shape.Shape.Skv }

// latestSweeps returns the commit of the sources of the latest sweep, by the name of the kernel. A kernel
// that was never timed on enough shapes for a sweep is not there.
func (v *View) latestSweeps() map[string]string {
	type sources struct{ kernel, commit string }
	shapes, newest, latest := map[sources]int{}, map[string]int{}, map[string]string{}
	for _, s := range v.Shapes {
		for _, r := range s.Rows {
			if r.sweepable() {
				shapes[sources{r.Item.Kernel.Name, r.Item.Build.Git.Commit}]++
			}
		}
	}
	for _, item := range v.Items {
		name, commit := item.Kernel.Name, item.Build.Git.Commit
		if shapes[sources{name, commit}] >= leastSwept && (latest[name] == "" || item.Seq > newest[name]) {
			latest[name], newest[name] = commit, item.Seq
		}
	}
	return latest
}

// sweepable reports whether the row's kernel was timed beside a rival and was right.
func (r *Row) sweepable() bool {
	if r.Kernel == nil || !primary(r.Main().Method) {
		return false
	}
	verdict, times := r.Item.Verdict(), r.Main().Times
	rejected := verdict != nil && verdict.Outcome == record.Reject
	return !rejected && r.Main().FastestRival() != nil && times.OutputsOK && !times.Predicted && !r.Older()
}

// swept returns the fastest kernel of the shape that was timed beside a rival, in its latest sweep if it has one.
func (s *Shape) swept(latest map[string]string) (x Swept, ok bool) {
	for _, r := range s.Rows {
		if !r.sweepable() {
			continue
		}
		if commit, ok := latest[r.Item.Kernel.Name]; ok && commit != r.Item.Build.Git.Commit {
			continue
		}
		rival := r.Main().FastestRival()
		if !ok || r.Main().Summary.P50 < x.Row.Main().Summary.P50 {
			x, ok = Swept{s, r, rival.Name, 1 / rival.Comparison.Ratio}, true
		}
	}
	return x, ok
}

// sweepSection shows the speedups of a sweep as a heat map, and the shapes with the lowest ones.
var sweepSection = section{
	id: "sweep", title: "All shapes",
	show: func(p *Page) bool { return len(p.Sweep()) >= leastSwept },
	body: `<p>{{.SweepSummary}}</p>
<div class="scroll">{{.SweepMap}}</div>
{{template "table" .SweepTable}}
<p class="note">Speedup over the fastest rival in the same run: above 1 attest is faster. A cell of the map shows the lowest speedup of its shapes. The table has the lowest of all.</p>`,
}

// SweepSummary counts the shapes and gives the mean and the lowest speedup, of decode by itself.
func (v *View) SweepSummary() string { return strings.Join(v.sweepSummaries(), "; ") }

// sweepSummaries returns the summary of self-attention and that of decode, if there are such shapes.
func (v *View) sweepSummaries() (parts []string) {
	for _, decode := range []bool{false, true} {
		all := slices.DeleteFunc(v.Sweep(), func(x Swept) bool { return x.decode() != decode })
		if len(all) == 0 {
			continue
		}
		below, logs := 0, 0.0
		for _, x := range all {
			logs += math.Log(x.Speedup)
			if x.Speedup < 1 {
				below++
			}
		}
		what := english.Count(len(all), "shape")
		if decode {
			what += " of decode"
		}
		parts = append(parts, fmt.Sprintf("%s on %s: geometric mean of the speedups %.2f×, lowest %.2f× (%s, %s), below 1 on %d (%.0f %%)",
			what, all[0].Device, math.Exp(logs/float64(len(all))), all[0].Speedup, all[0].Title(), all[0].Rival, below, 100*float64(below)/float64(len(all))))
	}
	return parts
}

// SweepTable lists the shapes with the lowest speedups.
func (v *View) SweepTable() *Table {
	const most = 20
	t := &Table{Head: []string{"shape", "kernel", "µs", "fastest rival", "speedup", "processes", "record"}, Right: "llrlrrl"}
	all := v.Sweep()
	for _, x := range all[:min(len(all), most)] {
		m := x.Row.Main()
		t.Rows = append(t.Rows, []Cell{
			text(x.Title()), x.Row.name(), text(figures(m.Summary.P50)), text(x.Rival), text(fmt.Sprintf("%.2f×", x.Speedup)), text(strconv.Itoa(len(m.Times.Runs))), source(x.Row.Item),
		})
	}
	return t
}

// The measures of the heat map, in pixels.
const (
	sweepCell   = 33
	sweepLine   = 19
	sweepLabels = 46 // the width to the left of a field
	sweepHead   = 40 // the height above a field
)

// sweepField is the cells of one head dimension and mask, or of decode: the lowest speedup by the powers of
// two of the number of heads (B·Hq) and of keys.
type sweepField struct {
	d              problem.HeadDim
	causal, decode bool
	lowest         map[[2]int]float64
}

// sweepFields returns the fields, in the order of their head dimensions, those with a causal mask second and
// those of decode last.
func sweepFields(all []Swept) (fields []sweepField) {
	for _, x := range all {
		i := slices.IndexFunc(fields, func(f sweepField) bool {
			return f.d == x.Shape.Shape.HeadDim() && f.causal == x.Causal && f.decode == x.decode()
		})
		if i < 0 {
			i = len(fields)
			fields = append(fields, sweepField{x.Shape.Shape.HeadDim(), x.Causal, x.decode(), map[[2]int]float64{}})
		}
		at := [2]int{power(x.Shape.Shape.B * x.Shape.Shape.Hq), power(x.Shape.Shape.Skv)}
		if old, ok := fields[i].lowest[at]; !ok || x.Speedup < old {
			fields[i].lowest[at] = x.Speedup
		}
	}
	order := func(a, b bool) int { return cmp.Compare(strconv.FormatBool(a), strconv.FormatBool(b)) }
	sorted.By(fields, func(a, b sweepField) int {
		return cmp.Or(order(a.decode, b.decode), cmp.Compare(a.d.D, b.d.D), cmp.Compare(a.d.V(), b.d.V()), order(a.causal, b.causal))
	})
	return fields
}

// power returns the exponent of the largest power of two that is at most n.
func power(n int) int { return bits.Len(uint(n)) - 1 }

// extent returns the smallest and the largest index in one direction of all fields.
func extent(fields []sweepField, direction int) (low, high int) {
	low, high = math.MaxInt, 0
	for _, f := range fields {
		for at := range f.lowest {
			low, high = min(low, at[direction]), max(high, at[direction])
		}
	}
	return low, high
}

// shadeOf returns the class of a cell's colour.
func shadeOf(speedup float64) string {
	for i, limit := range []float64{0.97, 1, 1.1, 1.3, 1.6} {
		if speedup < limit {
			return "s" + strconv.Itoa(i)
		}
	}
	return "s5"
}

// sweepStyle has the colours of the cells, which light and dark share. The page has the same in
// page/style.css.
const sweepStyle = `
.s0 { fill: #c0392b; } .s1 { fill: #e8a79f; } .s2 { fill: #dfe5e8; } .s3 { fill: #a9cfdc; } .s4 { fill: #5ba3bd; } .s5 { fill: #1f6f8b; }
text.cell { font-size: 10px; fill: #10151a; } text.cell.on-dark { fill: #ffffff; }
`

// drawSweep draws the fields, two in a row, and returns the size of the drawing.
func drawSweep(s *svg, fields []sweepField) (width, height float64) {
	heads, keys := [2]int{}, [2]int{}
	heads[0], heads[1] = extent(fields, 0)
	keys[0], keys[1] = extent(fields, 1)
	fieldWidth := float64(sweepLabels + (keys[1]-keys[0]+1)*sweepCell + 14)
	fieldHeight := float64(sweepHead + (heads[1]-heads[0]+1)*sweepLine + 16)
	for i, f := range fields {
		f.draw(s, float64(i%2)*fieldWidth, float64(i/2)*fieldHeight, heads, keys)
	}
	return fieldWidth * float64(min(len(fields), 2)), fieldHeight * float64((len(fields)+1)/2)
}

func (f sweepField) draw(s *svg, x, y float64, heads, keys [2]int) {
	title := fmt.Sprintf("D = %v", f.d)
	if f.decode {
		title = "decode, " + title
	}
	s.text("group", "start", x+sweepLabels, y+14, masked(title, f.causal))
	s.text("note", "start", x+sweepLabels+140, y+14, "keys →, heads B·Hq ↓")
	for k := keys[0]; k <= keys[1]; k++ {
		s.text("note", "middle", x+sweepLabels+(float64(k-keys[0])+0.5)*sweepCell, y+sweepHead-7, short2(1<<k))
	}
	for h := heads[0]; h <= heads[1]; h++ {
		top := y + sweepHead + float64(h-heads[0])*sweepLine
		s.text("note", "end", x+sweepLabels-6, top+13, strconv.Itoa(1<<h))
		for k := keys[0]; k <= keys[1]; k++ {
			speedup, ok := f.lowest[[2]int{h, k}]
			if !ok {
				continue
			}
			left, shade := x+sweepLabels+float64(k-keys[0])*sweepCell, shadeOf(speedup)
			s.rect(shade, left+1, top+1, sweepCell-2, sweepLine-2)
			class := "cell"
			if shade == "s0" || shade == "s5" {
				class = "cell on-dark"
			}
			s.text(class, "middle", left+sweepCell/2, top+13.5, fmt.Sprintf("%.2f", speedup))
		}
	}
}

// short2 writes a power of two in few letters: 512, 4k, 128k.
func short2(n int) string {
	if n >= 1024 {
		return strconv.Itoa(n/1024) + "k"
	}
	return strconv.Itoa(n)
}

// SweepMap returns the heat map for the page.
func (v *View) SweepMap() template.HTML {
	cells := &svg{}
	width, height := drawSweep(cells, sweepFields(v.Sweep()))
	s := drawing(width, height, "speedups by heads, keys, head dimension and mask")
	s.WriteString(cells.String())
	return s.done()
}

// WriteSweep writes the heat map as a picture of its own.
func (v *View) WriteSweep(w io.Writer) error {
	all := v.Sweep()
	if len(all) < leastSwept {
		return ErrNoSweep
	}
	cells := &svg{}
	width, height := drawSweep(cells, sweepFields(all))
	const title = "Speedup over the fastest rival of each shape (above 1 attest is faster)"
	head, top := &svg{}, 46.0
	head.text("title", "start", pictureMargin, 28, title)
	for _, line := range v.sweepSummaries() {
		head.text("note", "start", pictureMargin, top, line)
		top += 16
	}
	width, height = max(width, 780)+2*pictureMargin, height+top+34
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-label="%s"><style>%s%s</style><rect class="back" width="%s" height="%s" rx="8"/>%s<g transform="translate(%d %s)">%s</g><text class="note" x="%d" y="%s">A cell shows the lowest speedup of its shapes. Median of a replayed graph with a warm cache, all in the same run. Drawn by attest report --sweep.</text></svg>`+"\n",
		num(width), num(height), num(width), num(height), html.EscapeString(title), pictureStyle, sweepStyle, num(width), num(height), head.String(), pictureMargin, num(top), cells.String(), pictureMargin, num(height-16))
	return err
}
