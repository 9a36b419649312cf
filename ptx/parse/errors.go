package parse

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Error is one mistake in the text.
type Error struct {
	File string
	Pos  ptx.Pos
	Msg  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
}

// Errors is the error of Parse: one to maxErrors mistakes, in the order of the text.
type Errors []*Error

func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a single *Error.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// maxErrors is the number of errors after which parsing stops. Later ones are mostly
// consequences of the first.
const maxErrors = 20

// fail records an error and returns false, so that a failing rule is one line.
func (p *parser) fail(pos ptx.Pos, format string, args ...any) bool {
	if p.stopped {
		return false
	}
	e := &Error{p.mod.File, pos, fmt.Sprintf(format, args...)}
	if n := len(p.errs); n > 0 && *p.errs[n-1] == *e {
		return false // the same place was read twice
	}
	p.errs = append(p.errs, e)
	if len(p.errs) == maxErrors {
		p.stop()
	}
	return false
}

// stop ends the parse. It leaves nothing to read, so that every rule ends, and drops the
// errors that the rules then report.
func (p *parser) stop() {
	p.stopped = true
	p.pos = len(p.src)
}

// failHere records an error at the next token.
func (p *parser) failHere(format string, args ...any) bool {
	return p.fail(p.here(), format, args...)
}

// unexpected records an error that says what should be in place of the next token.
func (p *parser) unexpected(want string) bool {
	return p.failHere("expected %s, found %s", want, p.found())
}

func (p *parser) sortErrors() {
	sort.SliceStable(p.errs, func(i, j int) bool {
		a, b := p.errs[i].Pos, p.errs[j].Pos
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
}

// found names the next token as an error message shows it.
func (p *parser) found() string {
	const most = 24
	if p.pos >= len(p.src) {
		return "the end of the text"
	}
	s := p.src[p.pos:]
	n := 1
	switch c := s[0]; {
	case isDigit(c) || isIdentStart(c) || c == '.' || c == '@':
		for n < len(s) && (isIdentPart(s[n]) || s[n] == '.') {
			n++
		}
	case c == '"':
		if k := strings.IndexAny(s[1:], "\"\n"); k >= 0 {
			n = k + 2
		}
	case c >= utf8.RuneSelf:
		_, n = utf8.DecodeRuneInString(s)
	case c < ' ':
		return fmt.Sprintf("the control character 0x%02x", c)
	}
	if n > most {
		return "`" + strings.ToValidUTF8(s[:most], "") + "…`"
	}
	return "`" + s[:n] + "`"
}

// quoted is a token in an error message, cut to a readable length.
func quoted(s string) string {
	const most = 64
	if len(s) > most {
		s = s[:most] + "…"
	}
	return "`" + s + "`"
}
