package machine

import (
	"slices"
	"testing"
)

// TestEqual changes each word of slices of several lengths, and their lengths.
func TestEqual(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 64, 100} {
		a := make([]uint32, n)
		b := slices.Clone(a)
		if !equal(a, b) {
			t.Errorf("%d words differ from their copy", n)
		}
		if equal(a, append(b, 0)) {
			t.Errorf("%d words are equal to one more", n)
		}
		for i := range b {
			b[i] = 1
			if equal(a, b) {
				t.Errorf("%d words: a change of word %d is not seen", n, i)
			}
			b[i] = 0
		}
	}
}
