package parse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// FuzzParse looks for texts on which Parse panics or returns an error without a position, and
// for modules that change when they are printed and parsed again.
func FuzzParse(f *testing.F) {
	for _, file := range corpus(f) {
		if src := read(f, file); len(src) < 20_000 {
			f.Add(src)
		}
	}
	for _, c := range errorCases {
		f.Add(c.src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, err := parse.Parse("fuzz.ptx", src)
		if err != nil {
			checkErrors(t, src, err)
			return
		}
		checkStable(t, m)
	})
}

// checkErrors checks that there are not too many errors, that they are sorted, and that each
// has a position inside the text.
func checkErrors(t *testing.T, src string, err error) {
	t.Helper()
	var es parse.Errors
	if !errors.As(err, &es) || len(es) == 0 || len(es) > 20 {
		t.Fatalf("%T with %d errors", err, len(es))
	}
	lines := strings.Split(src, "\n")
	last := es[0].Pos
	for _, e := range es {
		if e.Pos.Line < last.Line || e.Pos.Line == last.Line && e.Pos.Col < last.Col {
			t.Errorf("%v: the errors are not sorted", e)
		}
		last = e.Pos
		if e.Pos.Line < 1 || int(e.Pos.Line) > len(lines) {
			t.Fatalf("%v: the text has %d lines", e, len(lines))
		}
		if n := len(lines[e.Pos.Line-1]); e.Pos.Col < 1 || int(e.Pos.Col) > n+1 {
			t.Errorf("%v: the line has %d columns", e, n)
		}
		if e.Msg == "" || strings.Contains(e.Msg, "%!") {
			t.Errorf("%v: the message is empty or badly formatted", e)
		}
	}
}
