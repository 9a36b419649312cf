package fp8

import (
	"math"
	"strings"
	"testing"
)

// TestCentre wants every column of every head to have the mean 0 afterwards, and x to come back when
// the means are added again.
func TestCentre(t *testing.T) {
	d := Dims{2, 3, 37, 16}
	x := random(d.Len(), 4)
	for i := range x {
		x[i] += float32(i%d.D) * float32(1+i/(d.S*d.D)) // an offset for each column of each head
	}
	centred, means, err := Centre(d, x)
	if err != nil {
		t.Fatal(err)
	}
	for head := range d.B * d.H {
		for c := range d.D {
			var sum float64
			for s := range d.S {
				i := (head*d.S+s)*d.D + c
				sum += float64(centred[i])
				if e := math.Abs(float64(centred[i]) + float64(means[head*d.D+c]) - float64(x[i])); !(e <= 1e-5) {
					t.Fatalf("element %d of head %d, column %d: %g off", s, head, c, e)
				}
			}
			if m := sum / float64(d.S); !(math.Abs(m) <= 1e-5) {
				t.Errorf("head %d, column %d: the mean is %g", head, c, m)
			}
		}
	}
}

func TestCentreRefuses(t *testing.T) {
	for _, c := range []struct {
		d    Dims
		n    int
		want string
	}{
		{Dims{1, 1, 2, 4}, 7, "7 elements are given, but a tensor [1,1,2,4] has 8"},
		{Dims{1, 0, 2, 4}, 0, "every extent must be at least 1"},
	} {
		if _, _, err := Centre(c.d, make([]float32, c.n)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v with %d elements: %v, want %q", c.d, c.n, err, c.want)
		}
	}
	x := make([]float32, 8)
	x[5] = float32(math.Inf(1))
	if _, _, err := Centre(Dims{1, 1, 2, 4}, x); err == nil || !strings.Contains(err.Error(), "[0,0,1,1] is +Inf") {
		t.Errorf("an infinite element: %v", err)
	}
}
