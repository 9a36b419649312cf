package expr

import (
	"slices"
	"testing"
)

// TestParts wants all conditions and integers of an expression.
func TestParts(t *testing.T) {
	e := Must("Sq % 97 == 13 && B > 2 ? 3 : (H ? 1 : 0.5)")
	for _, c := range []struct {
		sq, b, h int64
		want     []bool
	}{{13, 3, 0, []bool{true, true, true, true, false}}, {14, 3, 1, []bool{false, false, false, true, true}}, {110, 2, 1, []bool{false, false, true, false, true}}} {
		var got []bool
		for _, part := range e.Conditions() {
			yes, err := part.Bool(Env{"Sq": Int(c.sq), "B": Int(c.b), "H": Int(c.h)})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, yes)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Sq %d, B %d, H %d: %v, want %v", c.sq, c.b, c.h, got, c.want)
		}
	}
	if got := e.Integers(); !slices.Equal(got, []int64{97, 13, 2, 3, 1}) {
		t.Errorf("integers %v", got)
	}
	if list := (Expr{}).Conditions(); list != nil {
		t.Errorf("no expression has the conditions %v", list)
	}
}
