package watch

// Change is a line that one of two outputs lacks.
type Change struct {
	Line  string
	Added bool // false: the line is gone
}

// mostLines is the number of lines up to which the longest common part is searched for. Beyond it
// all lines count as changed.
const mostLines = 4000

// Diff returns the lines in which two texts differ, in their order.
func Diff(old, now []string) (changes []Change) {
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	i, j := 0, 0
	if len(old) <= mostLines && len(now) <= mostLines {
		common := table(old, now)
		for i < len(old) && j < len(now) {
			switch {
			case old[i] == now[j]:
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				changes, i = append(changes, Change{old[i], false}), i+1
			default:
				changes, j = append(changes, Change{now[j], true}), j+1
			}
		}
	}
	for ; i < len(old); i++ {
		changes = append(changes, Change{old[i], false})
	}
	for ; j < len(now); j++ {
		changes = append(changes, Change{now[j], true})
	}
	return changes
}

// table returns the length of the longest common part of the ends of two texts, by where the ends
// begin.
func table(a, b []string) [][]int32 {
	t := make([][]int32, len(a)+1)
	for i := range t {
		t[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				t[i][j] = t[i+1][j+1] + 1
			} else {
				t[i][j] = max(t[i+1][j], t[i][j+1])
			}
		}
	}
	return t
}
