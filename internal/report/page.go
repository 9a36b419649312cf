package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/record"
)

// section is one part of the HTML page. A new section is one file that defines it, and one
// line in the list of sections.
type section struct {
	id    string // the anchor
	title string
	// show reports whether the page has the section; nil shows it always.
	show func(*Page) bool
	// body is the HTML template; its dot is the *Page. It may use the templates of
	// page/parts.html and the methods of View.
	body string
}

// sections are the parts of the page in their order.
var sections = []section{
	overviewSection,
	targetsSection,
	climbSection,
	timesSection,
	sweepSection,
	limitsSection,
	occupancySection,
	predictionsSection,
	statusSection,
	scoresSection,
	kernelsSection,
	earlierSection,
	historySection,
	trailSection,
	provenanceSection,
}

// Page is what the HTML page shows.
type Page struct {
	*View // the records that the page is about: those of one run, or all
	// All are the records of the store.
	All *View
	// Earlier are the records that are not of the run, by machine.
	Earlier []*Group

	run bool
}

// newPage returns the page of a run, which is given by the hashes of its records, or of all
// records when there is no hash.
func newPage(v *View, run []string) *Page {
	p := &Page{View: v, All: v, run: len(run) > 0}
	if !p.run {
		return p
	}
	var now, before []*evidence.Item
	for _, item := range v.Items {
		if slices.Contains(run, item.Hash) {
			now = append(now, item)
		} else {
			before = append(before, item)
		}
	}
	p.View = newView(&evidence.Contents{Items: now, Check: v.Check}, true)
	p.Earlier = groups(before, v.Check)
	return p
}

// Title returns what the page is about.
func (p *Page) Title() string {
	if p.run {
		return "this run"
	}
	return "all records"
}

// Lead returns the first sentence of the page: how much was judged, where and when.
func (p *Page) Lead() string {
	if p.run {
		return fmt.Sprintf("This run judged %s on %s, %s UTC.", english.Count(len(p.Kernels), "kernel"), english.List(machines(p.Items)), day(p.Latest()))
	}
	return fmt.Sprintf("%s, %s and %s: %s, %s.", english.Count(len(p.Kernels), "kernel"), english.Count(p.Check.Records, "record"), english.Count(p.Check.Verdicts, "verdict"),
		english.List(machines(p.Items)), dates(p.Items))
}

//go:embed page/*
var pageFiles embed.FS

// WriteHTML writes the page as one file that fetches nothing. run lists the hashes of the
// records of the current run: the page starts with them, and older records are below.
// Without run, the page shows all records.
func (v *View) WriteHTML(w io.Writer, run ...string) error {
	t, err := template.New("page.html").Funcs(functions).ParseFS(pageFiles, "page/*.html")
	if err != nil {
		return err
	}
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	p := newPage(v, run)
	parts, err := p.sections(t)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Page     *Page // not embedded: Go would compile its 70 methods again
		Style    template.CSS
		Sections []part
	}{p, template.CSS(style), parts})
	if err != nil {
		return err
	}
	_, err = w.Write(withPolicy(bytes.Map(printable, b.Bytes())))
	return err
}

// part is a section that was rendered.
type part struct {
	ID, Title string
	Body      template.HTML
}

// sections renders the sections that the page has.
func (p *Page) sections(t *template.Template) (parts []part, err error) {
	if len(p.Items) == 0 {
		return nil, nil
	}
	for _, s := range sections { // all of them before the first is executed, as html/template demands
		if _, err := t.New("section " + s.id).Parse(s.body); err != nil {
			return nil, err
		}
	}
	for _, s := range sections {
		if s.show != nil && !s.show(p) {
			continue
		}
		var b strings.Builder
		if err := t.ExecuteTemplate(&b, "section "+s.id, p); err != nil {
			return nil, err
		}
		parts = append(parts, part{s.id, s.title, template.HTML(b.String())})
	}
	return parts, nil
}

// printable drops the characters that HTML does not allow, such as escape sequences in a
// record.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}

// functions are what templates can call besides methods.
var functions = template.FuncMap{
	"anchor":   anchor,
	"bars":     Bars,
	"budget":   Budget,
	"cases":    Cases,
	"chain":    func(c *evidence.Check) string { return capital(chainLine(c)) },
	"count":    func(n int, what string) string { return english.Count(n, what) },
	"counters": Counters,
	"defects":  defects,
	"facts":    facts,
	"figures":  figures,
	"heatkey":  heatKey,
	"join":     func(all []string) string { return strings.Join(all, "; ") },
	"limit":    limit,
	"maps":     heats,
	"mark":     func(s record.Status) string { return marks[s] },
	"outcome":  outcome,
	"percent":  percent,
	"short":    short,
	"trail":    trailTable,
}

// IsRight reports whether a column holds numbers.
func (t *Table) IsRight(column int) bool { return t.right(column) }

// Best returns up to three shapes for the head of the page: the named ones first, of those
// that have a fastest kernel.
func (v *View) Best() (best []*Shape) {
	for _, name := range []string{"mission", "long", "big128", ""} {
		for _, s := range v.Shapes {
			if (name == "" || s.Name == name && !s.Causal) && s.Best() != nil && len(best) < 3 && !slices.Contains(best, s) {
				best = append(best, s)
			}
		}
	}
	return best
}

// OutcomeCount is the number of kernels with an outcome.
type OutcomeCount struct {
	Outcome record.Outcome
	N       int
}

// Outcomes returns the number of kernels for each outcome that occurs. The outcome "" counts the
// kernels without a verdict.
func (v *View) Outcomes() (out []OutcomeCount) {
	for _, o := range append(record.Outcomes(), "") {
		if n := v.Count(o); n > 0 {
			out = append(out, OutcomeCount{o, n})
		}
	}
	return out
}
