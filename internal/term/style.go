package term

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// When says whether output is coloured.
type When string

// Auto colours the output on a terminal unless NO_COLOR or TERM=dumb is set.
const (
	Auto   When = "auto"
	Always When = "always"
	Never  When = "never"
)

// Set sets the value of the flag.
func (w *When) Set(s string) error {
	switch When(s) {
	case Auto, Always, Never:
		*w = When(s)
		return nil
	}
	return errors.New("use auto, always or never")
}

func (w *When) String() string { return string(*w) }

// Type returns the name of the value in the flag's help.
func (w *When) Type() string { return "when" }

// Colour reports whether text on out is coloured. NO_COLOR (https://no-color.org) and
// TERM=dumb turn Auto off.
func (w When) Colour(out io.Writer) bool {
	if w != Auto {
		return w == Always
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(out)
}

// TerminalsVariable is the environment variable with the standard streams that are to be treated
// as terminals: "stdout", "stderr" or both with a comma. attest --on sets it for a job whose output
// goes to a file first and to a terminal later.
const TerminalsVariable = "ATTEST_TERMINALS"

// IsTerminal reports whether a reader or writer is a terminal. The null device is a
// character device, too, but no terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	named := strings.Split(os.Getenv(TerminalsVariable), ",")
	if f == os.Stdout && slices.Contains(named, "stdout") || f == os.Stderr && slices.Contains(named, "stderr") {
		return true
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Style colours text. The zero value does not change it.
type Style struct{ On bool }

func (s Style) wrap(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is for names and titles.
func (s Style) Bold(text string) string { return s.wrap("1", text) }

// Dim is for details.
func (s Style) Dim(text string) string { return s.wrap("2", text) }

// Red is for errors.
func (s Style) Red(text string) string { return s.wrap("1;31", text) }

// Yellow is for warnings.
func (s Style) Yellow(text string) string { return s.wrap("1;33", text) }

// Green is for success.
func (s Style) Green(text string) string { return s.wrap("1;32", text) }

// Clean replaces control characters other than tabs. Text from a file may contain escape
// sequences that move the cursor or rename the window, and characters that reverse the
// direction of what follows.
func Clean(text string) string { return strings.Map(clean, text) }

// CleanLines is Clean for text of several lines: it keeps their ends.
func CleanLines(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return clean(r)
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

func clean(r rune) rune {
	switch {
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == utf8.RuneError: // directions
	case r == '\t', r >= ' ' && r < 0x7f, r >= 0xa0:
		return r
	}
	return '�'
}
