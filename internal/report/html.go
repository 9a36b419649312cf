package report

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/record"
)

//go:embed page/*
var page embed.FS

// WriteHTML writes the page: one file, with nothing to fetch.
func (v *View) WriteHTML(w io.Writer) error {
	t, err := template.New("page.html").Funcs(functions).ParseFS(page, "page/*.html")
	if err != nil {
		return err
	}
	style, err := page.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, whole{v, template.CSS(style)}); err != nil {
		return err
	}
	_, err = w.Write(bytes.Map(printable, b.Bytes()))
	return err
}

// printable drops what HTML has no place for, such as escape sequences in a record.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}

// whole is what the page is written from.
type whole struct {
	*View
	Style template.CSS
}

// part is what the section of a kernel is written from.
type part struct {
	View   *View
	Kernel *Kernel
}

// functions are what the page may call besides methods.
var functions = template.FuncMap{
	"anchor":   anchor,
	"bars":     Bars,
	"budget":   Budget,
	"cases":    Cases,
	"chain":    func(c *evidence.Check) string { return capital(chainLine(c)) },
	"counters": Counters,
	"day":      day,
	"defects":  defects,
	"facts":    facts,
	"figures":  figures,
	"gates":    gateMarks,
	"heatkey":  heatKey,
	"kernel":   func(w whole, k *Kernel) part { return part{w.View, k} },
	"join":     func(all []string) string { return strings.Join(all, "; ") },
	"limit":    limit,
	"maps":     heats,
	"outcome":  outcome,
	"percent":  percent,
	"short":    short,
	"source":   source,
	"trail":    trailTable,
}

// heats are Maps in one value, as the page wants it.
func heats(c *record.Correctness) (h struct {
	Maps []Heat
	More int
}) {
	h.Maps, h.More = Maps(c)
	return h
}

// gateMark is a gate as a letter with what it stands for.
type gateMark struct{ Mark, Class, Title string }

func gateMarks(text string) (all []gateMark) {
	names := []string{"resources", "defects", "correctness", "performance"}
	i := 0
	for _, r := range text {
		m := gateMark{Mark: string(r)}
		if i < len(names) {
			m.Title = names[i]
		}
		for status, mark := range marks {
			if mark == m.Mark {
				m.Class = string(status)
				m.Title += ": " + string(status)
			}
		}
		all = append(all, m)
		i++
	}
	return all
}

// IsRight reports whether a column has numbers.
func (t *Table) IsRight(column int) bool { return t.right(column) }

// Best are the shapes for the head of the page: those that are asked for most, of those
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

// Outcomes are how many kernels had each, those that occur.
func (v *View) Outcomes() (out []struct {
	Outcome record.Outcome
	N       int
}) {
	for _, o := range record.Outcomes() {
		if n := v.Count(o); n > 0 {
			out = append(out, struct {
				Outcome record.Outcome
				N       int
			}{o, n})
		}
	}
	return out
}

// Explains reports whether the page shows counters at once: they are the reason.
func (k *Kernel) Explains() bool { return k.Outcome() == record.ValidNegative }

// Open reports whether the page shows a kernel's details at once: when something is
// wrong with it.
func (k *Kernel) Open() bool { return k.Outcome() == record.Reject }
