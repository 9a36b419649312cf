package english

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "kernel", "0 kernels"}, {1, "kernel", "1 kernel"}, {2, "kernel", "2 kernels"}, {-1, "kernel", "-1 kernels"},
		{1, "launch", "1 launch"}, {3, "launch", "3 launches"}, {2, "mismatch", "2 mismatches"},
		{1, "entry", "1 entry"}, {2, "entry", "2 entries"}, {2, "key", "2 keys"}, {2, "process", "2 processes"},
		{2, "device function", "2 device functions"}, {2, "FILE", "2 FILEs"},
	} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := Count(int64(c.n), c.noun); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestAre(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries are", 1: "1 entry is", 2: "2 entries are"} {
		if got := Are(n, "entry"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOr(t *testing.T) {
	for want, list := range map[string][]int{"": nil, "1": {1}, "1 or 2": {1, 2}, "1, 2 or 3": {1, 2, 3}} {
		if got := Or(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
