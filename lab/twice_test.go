package lab

import (
	"bytes"
	"testing"
)

// TestTwice: an element that no run has written is counted as that, and is not also an
// element with other bits.
func TestTwice(t *testing.T) {
	under := []byte{7, 8, 9, 10}
	a, b := under, []byte{^byte(7), ^byte(8), ^byte(9), ^byte(10)} // what is there before each run
	for _, c := range []struct {
		name          string
		first, second []byte
		unwritten     int
		same          bool
	}{
		{"written", []byte{1, 2, 3, 4}, []byte{1, 2, 3, 4}, 0, true},
		{"one unwritten", []byte{1, 2, a[2], a[3]}, []byte{1, 2, b[2], b[3]}, 1, true},
		{"none written", a, b, 2, true},
		{"the bytes that were there, written", a, a, 0, true},
		{"half an element written", []byte{1, 2, 3, a[3]}, []byte{1, 2, 3, b[3]}, 0, false},
		{"other bits", []byte{1, 2, 3, 4}, []byte{1, 2, 3, 5}, 0, false},
		{"the complement of something else", []byte{1, 2, 3, 4}, []byte{1, 2, ^byte(3), ^byte(4)}, 0, false},
		{"both", []byte{a[0], a[1], 3, 4}, []byte{b[0], b[1], 3, 5}, 1, false},
		{"no output", nil, nil, 0, true},
	} {
		first := bytes.Clone(c.first)
		n, same := twice(first, c.second, under, 2)
		if n != c.unwritten || same != c.same {
			t.Errorf("%s: %d unwritten, same %v; want %d, %v", c.name, n, same, c.unwritten, c.same)
		}
		if got := unwritten(first, 2); got != n {
			t.Errorf("%s: %d elements are poisoned, %d were not written", c.name, got, n)
		}
	}
}
