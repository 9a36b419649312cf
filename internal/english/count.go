package english

import (
	"fmt"
	"strings"
)

type integer interface {
	~int | ~int32 | ~int64 | ~uint32 | ~uint64
}

// Count returns a number with its noun, in the plural unless the number is 1: "1 kernel",
// "2 kernels", "0 mismatches", "3 entries".
func Count[N integer](n N, noun string) string {
	if n != 1 {
		noun = plural(noun)
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Are returns a count with its verb: "1 entry is", "2 entries are".
func Are[N integer](n N, noun string) string {
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

// Or lists alternatives: "1", "1 or 2", "1, 2 or 3".
func Or[T any](list []T) string {
	var b strings.Builder
	for i, x := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, x)
	}
	return b.String()
}
