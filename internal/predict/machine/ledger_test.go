package machine

import "testing"

// TestLedger checks that reservations are added up, that later ones go around earlier ones, and that none is served
// before its time.
func TestLedger(t *testing.T) {
	var l ledger
	for i, c := range []struct{ at, cycles, want float64 }{
		{96, 32, 128},   // a whole slice
		{0, 16, 16},     // earlier time is still free
		{0, 16, 32},     // behind the one before
		{90, 12, 134},   // 6 cycles before the full slice, 6 behind it
		{200, 4, 204},   // not before its time
		{0, 58, 96},     // what is left of the slices up to 96, which keep sums and not places
		{0, 100, 238},   // around everything: 26 up to 160, 32 up to 192, 28 up to 224, 14 up to 238
		{1000, 0, 1000}, // nothing
	} {
		if got := l.reserve(c.at, c.cycles); got != c.want {
			t.Errorf("reservation %d of %v cycles at %v ends at %v, want %v", i, c.cycles, c.at, got, c.want)
		}
	}
	sum := 0.0
	for _, used := range l.used {
		if used > sliceCycles {
			t.Errorf("a slice of %d cycles has %v", sliceCycles, used)
		}
		sum += used
	}
	if sum != 32+16+16+12+4+58+100 {
		t.Errorf("%v cycles are reserved", sum)
	}
}
