package check

import "fmt"

// plural writes a count: "1 byte", "2 bytes".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
