package lab

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/ref"
)

// causeOfLSE returns what is wrong with the log-sum-exp of an output that is right.
func causeOfLSE(right *ref.Result, got []float32) string {
	s := right.Shape
	// all reports whether every row is right when it is read at another place and converted.
	all := func(at func(ref.Row) int, as func(float64) float64) bool {
		for i, row := range right.Rows {
			want := right.LSE[i]
			if !(math.Abs(as(float64(got[at(row)]))-want) <= 0.005+math.Abs(want)/2048) {
				return false
			}
		}
		return true
	}
	same := func(x float64) float64 { return x }
	place := func(r ref.Row) int { return (r.B*s.Hq+r.H)*s.Sq + r.S }
	most := math.Log(float64(s.Skv))
	missing, below := 0, true
	for _, row := range right.Rows {
		x := float64(got[place(row)])
		if math.IsNaN(x) {
			missing++
		}
		below = below && x >= -0.01 && x <= most+0.01
	}
	switch {
	case missing > 0:
		return fmt.Sprintf("the log-sum-exp of %d of %d rows is NaN or was never written", missing, len(right.Rows))
	case all(place, func(x float64) float64 { return x * math.Ln2 }):
		return "the log-sum-exp has base 2 and must have base e"
	case all(func(r ref.Row) int { return (r.B*s.Sq+r.S)*s.Hq + r.H }, same):
		return "the log-sum-exp has the layout [B,Sq,H] and must have [B,H,Sq]"
	case all(place, func(x float64) float64 { return -x }):
		return "the log-sum-exp has the wrong sign"
	case below && s.Skv > 1:
		return "the log-sum-exp lacks the largest logit, which was subtracted and must be added again"
	}
	return "only the log-sum-exp is wrong"
}
