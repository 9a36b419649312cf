package term

import (
	"os"
	"strings"
	"unicode/utf8"
)

// Unlimited is the width of an output that is not a terminal. Tables are then as wide as
// they need to be.
const Unlimited = 0

// Width returns the number of columns of a terminal, or Unlimited.
func Width(out any) int {
	if !IsTerminal(out) {
		return Unlimited
	}
	return columns(out.(*os.File).Fd())
}

// narrowest is the least number of columns that text is wrapped to. One word per line is
// harder to read than lines that the terminal breaks.
const narrowest = 30

// Wrap breaks text between words into lines of at most the given number of columns. A word
// that is longer gets a line of its own.
func Wrap(text string, columns int) (lines []string) {
	columns = max(columns, narrowest)
	line, n := "", 0
	for _, word := range strings.Fields(text) {
		w := utf8.RuneCountInString(word)
		switch {
		case n == 0:
			line, n = word, w
		case n+1+w > columns:
			lines = append(lines, line)
			line, n = word, w
		default:
			line, n = line+" "+word, n+1+w
		}
	}
	if n > 0 {
		lines = append(lines, line)
	}
	return lines
}
