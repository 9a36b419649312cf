package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// historySection shows how times changed from record to record.
var historySection = section{
	id: "history", title: "History of times",
	show: func(p *Page) bool { return len(p.All.HistoryTable().Rows) > 0 },
	body: `{{$charts := .All.Histories}}{{$table := .All.ShortHistories}}
{{- with $charts}}<div class="figures wide">{{range .}}{{template "figure" .}}{{end}}</div>{{end}}
{{- if $table.Rows}}<h3>Kernels with few records</h3>{{template "table" $table}}{{end}}
{{- if not (or $charts $table.Rows)}}<p class="note">No kernel was timed twice on the same shape and device.</p>{{end}}
<details><summary>Every time that was taken</summary>{{template "table" .All.HistoryTable}}</details>`,
}

// leastPoints is the number of records from which a history is drawn. A shorter history is
// a table.
const leastPoints = 4

// line is the medians of a kernel over time.
type line struct {
	label string
	items []*evidence.Item
	p50   []float64 // microseconds
}

// Histories draws the medians of kernels over time, one figure per shape and device.
func (v *View) Histories() (out []Figure) {
	for _, s := range v.Shapes {
		var lines []line
		for _, k := range v.Kernels {
			if l := s.line(k); len(l.items) >= leastPoints {
				lines = append(lines, l)
			}
		}
		if len(lines) > 0 {
			out = append(out, drawHistory(s, lines))
		}
	}
	return out
}

// ShortHistories returns the medians of kernels that have too few records for a chart. The
// change is relative to the record before.
func (v *View) ShortHistories() *Table {
	t := &Table{Head: []string{"shape", "device", "kernel", "date", "p50 µs", "change", "record"}, Right: "llllrrl"}
	for _, s := range v.Shapes {
		for _, k := range v.Kernels {
			l := s.line(k)
			if len(l.items) < 2 || len(l.items) >= leastPoints {
				continue
			}
			for i, item := range l.items {
				row := []Cell{text(""), text(""), text(""), text(day(item.Build.Time)), text(figures(l.p50[i])), mute(none), source(item)}
				if i == 0 {
					row[0], row[1], row[2] = text(s.Title()), text(s.Device), text(l.label)
				} else {
					row[5] = text(fmt.Sprintf("%+.1f %%", 100*(l.p50[i]/l.p50[i-1]-1)))
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}

// line returns the medians of a kernel on the shape by the primary method.
func (s *Shape) line(k *Kernel) line {
	l := line{label: k.Label}
	for _, item := range k.Items {
		if !timed(item) || item.Build.Device.Name != s.Device || causal(item) != s.Causal {
			continue
		}
		for i := range item.Performance.Shapes {
			if t := &item.Performance.Shapes[i]; t.Shape == s.Shape && primary(t.Method) && len(t.Summaries) > 0 {
				l.items, l.p50 = append(l.items, item), append(l.p50, t.Summaries[0].P50)
			}
		}
	}
	return l
}

func drawHistory(s *Shape, lines []line) Figure {
	const top, bottom, left, right = 10.0, 226.0, 44.0, chartWidth - 8.0
	var values, days []float64
	most := 0
	for _, l := range lines {
		values = append(values, l.p50...)
		most = max(most, len(l.items))
		for _, item := range l.items {
			days = append(days, float64(item.Build.Time.Unix()))
		}
	}
	y := logScale(values, bottom, top)
	x := scale{low: slices.Min(days), high: slices.Max(days), from: left + 8, to: right - 8}
	d := drawing(chartWidth, 248, "medians over time, "+s.Title())
	for _, t := range y.ticks(6) {
		d.line("grid", left, y.at(t), right, y.at(t))
		d.text("tick", "end", left-5, y.at(t)+3.5, tick(t))
	}
	date := func(l line, i int) string { return l.items[i].Build.Time.UTC().Format("2006-01-02") }
	sorted.By(lines, func(a, b line) int { return cmp.Compare(y.at(a.p50[len(a.p50)-1]), y.at(b.p50[len(b.p50)-1])) })
	var ends []float64
	var items []*evidence.Item
	first, last := "", ""
	for _, l := range lines {
		var points [][2]float64
		for i, item := range l.items {
			at := [2]float64{x.at(float64(item.Build.Time.Unix())), y.at(l.p50[i])}
			points = append(points, at)
			if first == "" || date(l, i) < first {
				first = date(l, i)
			}
			last = max(last, date(l, i))
			if !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
		d.polyline("trend", points)
		for i, p := range points {
			d.circle("dot main kernel", p[0], p[1], 2.6, fmt.Sprintf("%s, %s: %s µs, record %s", l.label, date(l, i), figures(l.p50[i]), short(l.items[i].Hash)))
		}
		ends = append(ends, points[len(points)-1][1])
	}
	// A label is drawn above the end of its line, where it has the whole width of the chart.
	for i, at := range apart(ends, lineGap, bottom) {
		d.text("label", "end", right, at-7, lines[i].label)
	}
	d.text("tick", "start", left, 243, first)
	if last != first {
		d.text("tick", "end", right, 243, last)
	}
	return Figure{Title: s.Title() + " on " + s.Device, Chart: d.done(), Note: fmt.Sprintf("p50 in µs, graph, warm; up to %d records per kernel", most), Items: items}
}
