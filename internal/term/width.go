package term

import (
	"os"
	"strings"
	"unicode/utf8"
)

// Unlimited is the width of what is no terminal: lines are as long as they need to
// be, and prose is wrapped where it reads well.
const Unlimited = 0

// Width is how many columns a terminal has, or Unlimited.
func Width(out any) int {
	if !IsTerminal(out) {
		return Unlimited
	}
	return columns(out.(*os.File).Fd())
}

// narrowest is what a line is never wrapped below: a word a line reads worse than
// a line that the terminal breaks.
const narrowest = 30

// Wrap cuts prose into lines of at most so many columns, between words. A word
// that is longer has a line to itself.
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
