package term

import "strings"

// Nearest returns the name that is most similar to a misspelt name, or "" if none is similar.
func Nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, n := range names {
		if strings.HasPrefix(n, name) && name != "" || strings.HasSuffix(n, "-"+name) {
			return n
		}
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance returns the number of letters that must be inserted, removed or changed to turn a
// into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
