package report

import (
	"math"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/stats"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {12345.6, "12346"}, {999.7, "1000"}, {99.96, "100"}, {0.9999, "1.00"}, {10, "10.0"}, {1.234, "1.23"}, {0.0123, "0.0123"},
		{0.5, "0.500"}, {0.00123, "0.00123"}, {1.5e-7, "1.5e-07"}, {-2.5, "-2.50"}, {math.NaN(), "not finite"}, {math.MaxFloat64, "not finite"},
	} {
		if got := figures(c.x); got != c.want {
			t.Errorf("%g is written %q, want %q", c.x, got, c.want)
		}
	}
}

func TestLogScale(t *testing.T) {
	s := logScale([]float64{3, 0, 850, math.Inf(1)}, 0, 100)
	if s.low != 2 || s.high != 1000 || s.at(2) != 0 || !(math.Abs(s.at(1000)-100) <= 1e-9) || s.at(0) != 0 {
		t.Errorf("%+v", s)
	}
	if got := s.ticks(9); !slices.Equal(got, []float64{2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
		t.Errorf("ticks %v", got)
	}
	if got := s.ticks(4); !slices.Equal(got, []float64{10, 100, 1000}) {
		t.Errorf("few ticks %v", got)
	}
	if got := (scale{low: 1e-9, high: 1e9, log: true}).ticks(6); len(got) > 6 || len(got) < 3 {
		t.Errorf("ticks over 18 decades %v", got)
	}
	if s := logScale(nil, 0, 1); !(s.low > 0 && s.high > s.low) {
		t.Errorf("of nothing: %+v", s)
	}
}

func TestApart(t *testing.T) {
	got := apart([]float64{1, 2, 50, 99, 100}, 10, 100)
	if !slices.Equal(got, []float64{1, 11, 50, 90, 100}) {
		t.Errorf("%v", got)
	}
}

func TestShade(t *testing.T) {
	for i, x := range []float64{0.03, 0.06, 0.09, 0.12, 0.13} {
		if got := shade(x, 0.06, 5); got != i {
			t.Errorf("%g has shade %d, want %d", x, got, i)
		}
	}
	if shade(math.MaxFloat64, 0.06, 5) != 4 || shade(1, 0, 5) != 4 {
		t.Error("large errors, or no tolerance")
	}
}

// TestSpeedup wants a tie to be called one, and no interval from a single process.
func TestSpeedup(t *testing.T) {
	for _, c := range []struct {
		c    *stats.Comparison
		want string
	}{
		{nil, none},
		{&stats.Comparison{}, none},
		{&stats.Comparison{Ratio: 0.5, Interval: stats.Interval{Low: 0.49, High: 0.51}, Replicates: 1}, "2.00× in 1 process"},
		{&stats.Comparison{Ratio: 0.5, Interval: stats.Interval{Low: 0.4, High: 0.625}, Replicates: 5}, "2.00× (1.60–2.50)"},
		{&stats.Comparison{Ratio: 0.8, Interval: stats.Interval{Low: 0.5, High: 1}, Replicates: 5}, "tie, 1.25× (1.00–2.00)"},
		{&stats.Comparison{Ratio: 1.25, Interval: stats.Interval{Low: 1, High: 1.6}, Replicates: 5}, "tie, 0.800× (0.625–1.00)"},
	} {
		if got := speedup(c.c); got != c.want {
			t.Errorf("%+v: %s, want %s", c.c, got, c.want)
		}
	}
}
