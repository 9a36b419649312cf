package term

import "testing"

func TestMicros(t *testing.T) {
	for us, want := range map[float64]string{3.699: "3.70", 9.994: "9.99", 9.995: "10.0", 99.94: "99.9", 99.95: "100", 1234: "1234"} {
		if got := Micros(us); got != want {
			t.Errorf("%v µs is %s, want %s", us, got, want)
		}
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{-1: "░░░░", 0: "░░░░", 0.5: "██░░", 1: "████", 7: "████"} {
		if got := Bar(share, 4); got != want {
			t.Errorf("%v is %s, want %s", share, got, want)
		}
	}
}

func TestGroup(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1 000", 8388608: "8 388 608"} {
		if got := Group(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
