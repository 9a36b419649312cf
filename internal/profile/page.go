package profile

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path"

	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/timeline"
	"github.com/GOATnote-Inc/attest/internal/term"
)

//go:embed page.html
var pageText string

// pageTemplate is the page of a profile. Its functions give numbers the form that the text has.
var pageTemplate = template.Must(template.New("profile").Funcs(template.FuncMap{
	"micros": term.Micros,
	"share":  func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) },
	"base":   path.Base,
}).Parse(pageText))

// page is what the template shows.
type page struct {
	*Report
	Title    string
	Pictures []picture // of the timeline: the whole, and a part
	Dropped  int       // events that the timeline does not have, because there are too many
	Reasons  []reason
	Phases   []predict.Part
	Lines    []predict.Part
}

// reason is a row of the table of reasons.
type reason struct {
	predict.Spent
	Class string
	Share float64
}

// mostPageLines is the number of source lines on the page.
const mostPageLines = 12

// WriteHTML writes the report and the timeline of its first launch as one page that fetches nothing
// and runs no script.
func (r *Report) WriteHTML(w io.Writer, t *timeline.Timeline) error {
	p := &page{Report: r, Title: r.title(), Pictures: pictures(t.Tracks()), Dropped: t.Dropped()}
	for _, s := range r.Predicted.Reasons {
		if share := s.Micros / max(r.Predicted.Micros, 1e-12); share >= smallest {
			p.Reasons = append(p.Reasons, reason{s, className(s.Reason), share})
		}
	}
	p.Phases, p.Lines = visible(r.Predicted.Phases, len(r.Predicted.Phases)), visible(r.Predicted.Lines, mostPageLines)
	return pageTemplate.Execute(w, p)
}

// visible returns the parts that take enough time to be shown, at most some.
func visible(parts []predict.Part, most int) (list []predict.Part) {
	for _, p := range parts {
		if p.Share >= smallest && len(list) < most {
			list = append(list, p)
		}
	}
	return list
}
