package machine

import "testing"

// TestOutputOrder checks that clusters which end in any order are written in their own.
func TestOutputOrder(t *testing.T) {
	var w writes
	o := output{Writer: &w}
	for _, i := range []int{2, 0, 1, 5, 4} {
		o.emit(i, []byte{byte('a' + i)})
	}
	o.emit(3, nil)
	if w != "abcef" {
		t.Errorf("wrote %q", w)
	}
	o.emit(8, []byte("x"))
	o.emit(7, []byte("w"))
	o.flush()
	if w != "abcefwx" {
		t.Errorf("wrote %q after a cluster failed", w)
	}
}

type writes string

func (w *writes) Write(b []byte) (int, error) {
	*w += writes(b)
	return len(b), nil
}
