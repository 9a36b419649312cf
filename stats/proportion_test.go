package stats

import (
	"math"
	"testing"
)

// TestWilsonRange: rounding does not move the ends out of [0, 1].
func TestWilsonRange(t *testing.T) {
	for n := 1; n <= 3000; n++ {
		if none, all := Wilson(0, n, 0.95), Wilson(n, n, 0.95); none.Low < 0 || all.High > 1 {
			t.Fatalf("0 and all of %d: %v, %v", n, none, all)
		}
	}
}

// TestWilson compares with values of Wilson's formula that were computed elsewhere.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{10, 10, 0.7225, 1}, {0, 10, 0, 0.2775}, {50, 100, 0.4038, 0.5962}, {99, 100, 0.9455, 0.9982}, {0, 0, 0, 1},
	} {
		i := Wilson(c.k, c.n, 0.95)
		if !(math.Abs(i.Low-c.low) <= 1e-4 && math.Abs(i.High-c.high) <= 1e-4) { // true of NaN, too
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, i.Low, i.High, c.low, c.high)
		}
	}
}
