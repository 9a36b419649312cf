package verify

import "fmt"

// plural writes a count: "1 byte", "2 bytes".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
