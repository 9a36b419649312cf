package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// When says whether output is coloured.
type When string

// The choices: Auto colours on a terminal unless the environment objects.
const (
	Auto   When = "auto"
	Always When = "always"
	Never  When = "never"
)

// Set makes When a flag value.
func (w *When) Set(s string) error {
	switch When(s) {
	case Auto, Always, Never:
		*w = When(s)
		return nil
	}
	return fmt.Errorf("use auto, always or never")
}

func (w *When) String() string { return string(*w) }

// Type names the value in a flag's help.
func (w *When) Type() string { return "when" }

// Colour reports whether text written to w is to be coloured. NO_COLOR
// (https://no-color.org) and TERM=dumb turn Auto off.
func (w When) Colour(out io.Writer) bool {
	if w != Auto {
		return w == Always
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(out)
}

// IsTerminal reports whether a reader or writer is a terminal. The null device
// is a character device too, and nobody watches it.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Style colours text, or leaves it alone when it is the zero value.
type Style struct{ On bool }

func (s Style) wrap(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold marks what a reader looks for first.
func (s Style) Bold(text string) string { return s.wrap("1", text) }

// Dim marks what a reader may skip.
func (s Style) Dim(text string) string { return s.wrap("2", text) }

// Red marks errors.
func (s Style) Red(text string) string { return s.wrap("1;31", text) }

// Yellow marks warnings.
func (s Style) Yellow(text string) string { return s.wrap("1;33", text) }

// Green marks success.
func (s Style) Green(text string) string { return s.wrap("1;32", text) }

// Clean makes text from a file safe to show: a hostile one may hold escape
// sequences that would move the cursor or rename the window. Tabs stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r >= ' ' && r < 0x7f || r >= 0xa0 && r != utf8.RuneError {
			return r
		}
		return '�'
	}, text)
}
