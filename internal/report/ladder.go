package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/GOATnote-Inc/attest/timing"
)

// timesSection shows the times of each shape, as a chart and as tables.
var timesSection = section{
	id: "times", title: "Times",
	body: `{{if .Shapes}}
<p class="note">The median of one launch in microseconds, on a logarithmic scale; less is better.
{{range .Legend}}<span class="key"><svg width="14" height="14"><circle class="dot kernel {{.Class}}" cx="7" cy="7" r="4.5"/></svg> {{.Name}}</span> {{end}}
<span class="key"><svg width="14" height="14"><circle class="dot best main" cx="7" cy="7" r="4.5"/></svg> the fastest that was not rejected</span>
<span class="key"><svg width="14" height="14"><circle class="dot rival main" cx="7" cy="7" r="4.5"/></svg> a rival, timed in the same run</span></p>
{{- range .Shapes}}{{$chart := .Chart}}
<figure class="card">
<figcaption>{{.Title}} <span class="mute">on {{.Device}}</span></figcaption>
<div class="rungs">
{{- range $chart.Rungs}}
<span class="rung {{.Class}}">{{.Label}}</span>{{.Track}}<span class="value {{.Class}}">{{.Value}}</span>
{{- end}}
<span class="rung mute">µs</span>{{$chart.Axis}}<span></span>
</div>
{{with $chart.Note}}<p class="note">{{.}}</p>{{end}}
<details><summary>Ratios and rates</summary>{{template "table" .Table}}</details>
<details><summary>All methods</summary>{{template "table" .Methods}}</details>
{{- with .Rivals}}{{if .Rows}}
<details><summary>Rivals</summary>{{template "table" .}}</details>{{end}}{{end}}
</figure>
{{- end}}
{{- else}}
<div class="card empty"><p>{{range .Skipped}}Skipped: {{.}}.{{else}}Nothing was timed.{{end}}</p>
<p class="mute">On a machine with an NVIDIA GPU, <code>attest gate</code> times the kernels, and their times are shown here.</p></div>
{{- end}}`,
}

// Rung is one row of the chart of a shape.
type Rung struct {
	Label, Class string
	Track        template.HTML
	Value        string
}

// Ladder is the chart of a shape: one row per kernel or rival, with time on a logarithmic
// scale.
type Ladder struct {
	*Shape
	Rungs []Rung
	Axis  template.HTML
	Note  string
}

const trackHeight = 26

// Chart draws the times of the shape as dots. Bars would need a zero, which a logarithmic scale
// does not have.
func (s *Shape) Chart() *Ladder {
	var values []float64
	floor := 0.0
	for _, r := range s.Rows {
		for i := range r.Marks {
			values = append(values, r.Marks[i].Summary.P50)
		}
		floor = max(floor, r.Main().Times.Floor)
	}
	if floor > 0 {
		values = append(values, floor)
	}
	x := logScale(values, 1, 99)
	l := &Ladder{Shape: s, Axis: axis(x)}
	best := s.Best()
	for _, r := range s.Rows {
		class := "kernel"
		switch {
		case r.Kernel == nil:
			class = "rival"
		case r == best:
			class = "best"
		}
		l.Rungs = append(l.Rungs, Rung{r.name().Text, class, r.track(x, floor, class), figures(r.Main().Summary.P50)})
	}
	if floor > 0 {
		l.Note = fmt.Sprintf("The shaded part is below %s µs, the least time that bytes, operations and a launch take.", figures(floor))
	}
	return l
}

// percentLine returns a vertical line at a position in per cent.
func percentLine(class string, at, y1, y2 float64) string {
	return fmt.Sprintf(`<line class="%s" x1="%s%%" x2="%s%%" y1="%s" y2="%s"/>`, class, num2(at), num2(at), num(y1), num(y2))
}

func num2(x float64) string { return fmt.Sprintf("%.2f", x) }

func (r *Row) track(x scale, floor float64, class string) template.HTML {
	s := strip(trackHeight, fmt.Sprintf("%s: %s µs", r.Label, figures(r.Main().Summary.P50)))
	if floor > 0 {
		fmt.Fprintf(s, `<rect class="floor" x="0" y="0" width="%s%%" height="%d"/>`, num2(math.Max(0, x.at(floor))), trackHeight)
	}
	for _, t := range x.ticks(6) {
		s.WriteString(percentLine("grid", x.at(t), 0, trackHeight))
	}
	const mid = trackHeight / 2
	main := r.Main()
	fmt.Fprintf(s, `<line class="stem %s" x1="0" x2="%s%%" y1="%d" y2="%d"/>`, class, num2(x.at(main.Summary.P50)), mid, mid)
	for i := len(r.Marks) - 1; i >= 0; i-- {
		m := &r.Marks[i]
		sum := m.Summary
		title := fmt.Sprintf("%s: %s µs, 95 %% within %s–%s, %s, %d samples, record %s", r.Label, figures(sum.P50), figures(sum.Median.Low), figures(sum.Median.High), how(m.Method), sum.N, short(r.Item.Hash))
		fmt.Fprintf(s, `<circle class="dot %s %s" cx="%s%%" cy="%d" r="%s"><title>%s</title></circle>`, class, markClass(m.Method, i == 0), num2(x.at(sum.P50)), mid, map[bool]string{true: "5.5", false: "4"}[i == 0], template.HTMLEscapeString(title))
	}
	return s.done()
}

// markClass returns the CSS class of a method: the main one is filled, the others are rings, and
// cold ones are dashed.
func markClass(m timing.Method, main bool) string {
	switch {
	case main:
		return "main"
	case m.Cache == timing.Cold:
		return "ring cold"
	}
	return "ring"
}

func axis(x scale) template.HTML {
	s := strip(18, "axis in microseconds")
	for _, t := range x.ticks(6) {
		anchor := "middle"
		switch at := x.at(t); {
		case at < 4:
			anchor = "start"
		case at > 96:
			anchor = "end"
		}
		fmt.Fprintf(s, `<text class="tick" text-anchor="%s" x="%s%%" y="12">%s</text>`, anchor, num2(x.at(t)), tick(t))
	}
	return s.done()
}

// Legend returns the legend of the methods that occur.
func (v *View) Legend() (keys []Key) {
	seen := map[string]bool{}
	for _, s := range v.Shapes {
		for _, r := range s.Rows {
			for i := range r.Marks {
				m := r.Marks[i].Method
				if name := how(m); !seen[name] {
					seen[name] = true
					keys = append(keys, Key{Name: name, Class: markClass(m, i == 0)})
				}
			}
		}
	}
	return keys
}

// Key is one entry of a legend.
type Key struct{ Name, Class string }
