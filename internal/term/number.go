package term

import (
	"fmt"
	"math"
	"strings"
)

// Count returns a number with its noun, in the plural unless the number is 1: "1 kernel",
// "2 kernels", "0 mismatches", "3 entries".
func Count[N int | int64](n N, noun string) string {
	if n != 1 {
		noun = plural(noun)
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Are returns a count with its verb: "1 entry is", "2 entries are".
func Are[N int | int64](n N, noun string) string {
	if n == 1 {
		return Count(n, noun) + " is"
	}
	return Count(n, noun) + " are"
}

// plural follows the spelling rules that the nouns of messages need. Nouns with an
// irregular plural are not used in counts.
func plural(noun string) string {
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	if stem, found := strings.CutSuffix(noun, "y"); found && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") && !strings.HasSuffix(stem, "o") {
		return stem + "ies"
	}
	return noun + "s"
}

// Micros returns a time in microseconds with three significant digits.
func Micros(us float64) string {
	switch {
	case us >= 99.95:
		return fmt.Sprintf("%.0f", us)
	case us >= 9.995:
		return fmt.Sprintf("%.1f", us)
	}
	return fmt.Sprintf("%.2f", us)
}

// Bar draws a share from 0 to 1 as a bar of so many columns.
func Bar(share float64, columns int) string {
	full := int(math.Round(min(max(share, 0), 1) * float64(columns)))
	return strings.Repeat("█", full) + strings.Repeat("░", columns-full)
}

// List writes values one after the other, with sep between them.
func List[T fmt.Stringer](values []T, sep string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = v.String()
	}
	return strings.Join(words, sep)
}
