package findingtext

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// colour returns the colour of a severity; others are written in the given style.
func colour(s term.Style, severity finding.Severity, other func(string) string) func(string) string {
	switch severity {
	case finding.Error:
		return s.Red
	case finding.Warning:
		return s.Yellow
	}
	return other
}

// Lines cuts a text into lines as the parser counts them.
func Lines(text string) []string {
	return strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
}

// Excerpt is a line of a text with a caret under the word at its column.
type Excerpt struct {
	Text         string           // the line
	Line, Column int              // from 1; without a column there is no caret
	Severity     finding.Severity // the colour of the caret
	Gutter       int              // columns for the line number
	Width        int              // the width of the terminal, or term.Unlimited
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
	mark := colour(s, e.Severity, s.Bold)
	fmt.Fprintf(w, "%s %s%s\n", s.Dim(strings.Repeat(" ", e.Gutter)+" |"),
		strings.Repeat(" ", utf8.RuneCountInString(before)), mark(marks))
}

// room returns how many characters of a line fit beside a part of it, when that many
// parts share one line of the terminal.
func (e *Excerpt) room(beside string, parts int) int {
	if e.Width == term.Unlimited {
		return most
	}
	const least = 8
	left := e.Width - e.Gutter - len(" | ") - utf8.RuneCountInString(beside)
	return min(most, max(left/parts-1, least))
}

// tokenAt returns what the caret underlines: the word at the column, with the dots
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

// show makes a piece of a line printable, with tabs of one width, so that the caret
// is in the right column on any terminal.
func show(s string) string { return strings.ReplaceAll(term.Clean(s), "\t", "    ") }

// most is the number of characters of a long line that are shown on each side of the column.
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
