package kernel

import (
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
)

// sizes is a problem with two sizes.
type sizes struct {
	Problem
	b, s int64
}

func (p sizes) Names() expr.Env { return expr.Env{"B": expr.Int(p.b), "S": expr.Int(p.s)} }

// TestOutcomes wants the conditions of all expressions of a call, and the integers of its rules too.
func TestOutcomes(t *testing.T) {
	k := &Kernel{
		Let:      []Binding{{Name: "odd", Value: expr.Must("S % 2 == 1")}},
		Operands: []Operand{{Name: "o", Dims: []expr.Expr{expr.Must("B < 2 ? 16 : S")}}},
		Launches: []Launch{{
			Grid: []expr.Expr{expr.Must("B > 3 ? 5 : B")}, When: expr.Must("odd == 1"),
			Args: []Arg{{Type: "u32", Value: expr.Must("S - (S == 7)")}},
		}},
		Require: []Rule{{Holds: expr.Must("S <= 999")}},
	}
	got, err := k.Outcomes(sizes{b: 4, s: 7}, Chip{})
	if want := []bool{true, true, true, true, true, false, false}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if other, _ := k.Outcomes(sizes{b: 1, s: 8}, Chip{}); !slices.Equal(other, []bool{false, false, false, false, false, true, true}) {
		t.Errorf("%v for another problem", other)
	}
	if got := k.Constants(); !slices.Contains(got, 7) || !slices.Contains(got, 999) || !slices.Contains(got, 16) {
		t.Errorf("constants %v", got)
	}
}
