package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/GOATnote-Inc/attest/internal/term"
)

// Print writes the findings about a text, each with an excerpt:
//
//	saxpy.ptx:33:18: error: %f9 is not declared [undefined-register]
//	   33 |     fma.rn.f32 %f3, %f9, %f1, %f2;
//	      |                     ^~~
//	      = in saxpy, from attest/examples/saxpy.go:19:1
func Print(w io.Writer, s term.Style, r *Report, text string) {
	var lines []string
	if len(r.Diagnostics) > 0 {
		lines = Lines(text)
	}
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		fmt.Fprintf(w, "%s %s %s %s\n", s.Bold(term.Clean(place(r.File, d))+":"), severity(s, d.Severity),
			term.Clean(d.Message), s.Dim("["+d.Kind+"]"))
		gutter := 5
		if d.Line > 0 && d.Line <= len(lines) {
			gutter = max(gutter, len(fmt.Sprint(d.Line)))
			e := Excerpt{Text: lines[d.Line-1], Line: d.Line, Column: max(d.Column, 1), Severity: d.Severity, Gutter: gutter}
			e.Write(w, s)
		}
		if origin := origin(d); origin != "" {
			fmt.Fprintf(w, "%*s %s\n", gutter, "", s.Dim("= "+term.Clean(origin)))
		}
	}
}

func place(file string, d *Diagnostic) string {
	if d.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, d.Line, d.Column)
}

func severity(s term.Style, name string) string {
	if name == Error {
		return s.Red(name + ":")
	}
	return s.Yellow(name + ":")
}

func origin(d *Diagnostic) string {
	switch {
	case d.Function != "" && d.Source != "":
		return "in " + d.Function + ", from " + d.Source
	case d.Function != "":
		return "in " + d.Function
	case d.Source != "":
		return "from " + d.Source
	}
	return ""
}

// Lines cuts a text into lines as the parser counts them.
func Lines(text string) []string {
	return strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
}

// Excerpt is a line of a text with a caret under the word at its column.
type Excerpt struct {
	Text         string // the line
	Line, Column int    // from 1; without a column there is no caret
	Severity     string // the caret's colour
	Gutter       int    // columns for the number
	Width        int    // of the terminal, or term.Unlimited
}

// Write writes the line, cut where it is long, and the caret.
func (e *Excerpt) Write(w io.Writer, s term.Style) {
	line := strings.TrimRight(e.Text, "\r\n")
	at := min(max(e.Column-1, 0), len(line))
	token := ""
	if e.Column > 0 {
		token = tokenAt(line, at)
	}
	rest := show(line[at+len(token):])
	token = cutAfter(show(token), most)
	before := cutBefore(show(line[:at]), e.room(token, 2))
	after := cutAfter(rest, e.room(before+token, 1))
	number := fmt.Sprintf("%*d |", e.Gutter, e.Line)
	fmt.Fprintf(w, "%s %s\n", s.Dim(number), strings.TrimRight(before+token+after, " "))
	if e.Column == 0 {
		return
	}
	marks := "^" + strings.Repeat("~", max(utf8.RuneCountInString(token)-1, 0))
	mark := s.Bold
	switch e.Severity {
	case Error:
		mark = s.Red
	case Warning:
		mark = s.Yellow
	}
	fmt.Fprintf(w, "%s %s%s\n", s.Dim(strings.Repeat(" ", e.Gutter)+" |"),
		strings.Repeat(" ", utf8.RuneCountInString(before)), mark(marks))
}

// room is how much of a line is shown beside a part of it, when it is to be one of
// so many parts on a terminal's line.
func (e *Excerpt) room(beside string, parts int) int {
	if e.Width == term.Unlimited {
		return most
	}
	const least = 8
	left := e.Width - e.Gutter - len(" | ") - utf8.RuneCountInString(beside)
	return min(most, max(left/parts-1, least))
}

// tokenAt is what the caret underlines: the word at the column, with the dots
// and signs that belong to it in PTX, or one character.
func tokenAt(line string, at int) string {
	end := at
	for end < len(line) && strings.IndexByte("%_$.:@!", line[end]) >= 0 || end < len(line) && isWord(line[end]) {
		end++
	}
	if end == at && at < len(line) {
		_, n := utf8.DecodeRuneInString(line[at:])
		end += n
	}
	return line[at:end]
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// show makes a piece of a line printable, with tabs of one width, so that the
// caret stands where it should on any terminal.
func show(s string) string { return strings.ReplaceAll(term.Clean(s), "\t", "    ") }

// most is how much of a long line is shown to each side of the column.
const most = 72

func cutBefore(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return "…" + string(r[len(r)-most:])
	}
	return s
}

func cutAfter(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
