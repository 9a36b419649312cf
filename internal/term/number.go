package term

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

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

// Group returns a count with spaces between thousands: "8 388 608".
func Group(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// Bar returns a bar of the given number of columns that shows a share from 0 to 1.
func Bar(share float64, columns int) string {
	full := int(math.Round(min(max(share, 0), 1) * float64(columns)))
	return strings.Repeat("█", full) + strings.Repeat("░", columns-full)
}

// List joins the texts of values with sep.
func List[T fmt.Stringer](values []T, sep string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = v.String()
	}
	return strings.Join(words, sep)
}
