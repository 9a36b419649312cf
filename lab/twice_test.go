package lab

import "testing"

// TestTwice: an element that no run has written is counted as that, and is not also an
// element with other bits.
func TestTwice(t *testing.T) {
	const p, a = poison, antidote
	for _, c := range []struct {
		name             string
		poisoned, filled []byte
		unwritten        int
		same             bool
	}{
		{"written", []byte{1, 2, 3, 4}, []byte{1, 2, 3, 4}, 0, true},
		{"one unwritten", []byte{1, 2, p, p}, []byte{1, 2, a, a}, 1, true},
		{"none written", []byte{p, p, p, p}, []byte{a, a, a, a}, 2, true},
		{"half an element written", []byte{1, 2, 3, p}, []byte{1, 2, 3, a}, 0, false},
		{"other bits", []byte{1, 2, 3, 4}, []byte{1, 2, 3, 5}, 0, false},
		{"both", []byte{p, p, 3, 4}, []byte{a, a, 3, 5}, 1, false},
		{"no output", nil, nil, 0, true},
	} {
		if n, same := twice(c.poisoned, c.filled, 2); n != c.unwritten || same != c.same {
			t.Errorf("%s: %d unwritten, same %v; want %d, %v", c.name, n, same, c.unwritten, c.same)
		}
	}
}
