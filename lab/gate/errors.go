package gate

import (
	"fmt"
	"math"

	"attest/record"
	"attest/ref"
)

// Tolerance is what errors may be.
var Tolerance = record.Tolerance{Max: 0.06, Mean: 0.02, BadAbove: 0.06, BadShare: 0.01, Relative: 2}

// The logarithm of a sum may be off by worstLSE and a 4096th of itself: sums of
// products of one-byte numbers have no more bits on tensor cores.
const (
	worstLSE    = 0.005
	relativeLSE = 1.0 / 4096
)

// looser says in what a record's tolerance is looser than ours.
func looser(t record.Tolerance) (why []string) {
	for _, f := range []struct {
		name       string
		have, most float64
	}{
		{"max", t.Max, Tolerance.Max}, {"mean", t.Mean, Tolerance.Mean}, {"bad_above", t.BadAbove, Tolerance.BadAbove},
		{"bad_share", t.BadShare, Tolerance.BadShare}, {"relative", t.Relative, Tolerance.Relative},
	} {
		if !(f.have <= f.most) {
			why = append(why, fmt.Sprintf("the record's tolerance %s is %g, the gate's is %g", f.name, f.have, f.most))
		}
	}
	return why
}

// Bound is a largest and a mean error.
type Bound struct{ Max, Mean float64 }

// Held is what a format reaches on N(0,1), errors against float64 on the inputs as
// they were before quantising: found once, and held since. ok is false where nothing
// is held.
func Held(format string, s ref.Shape, distribution string) (b Bound, ok bool) {
	if distribution != "normal" {
		return Bound{}, false
	}
	short := s.Skv < 100
	switch format {
	case "u8":
		if short {
			return Bound{0.04, 0.006}, s.Skv >= 32
		}
		return Bound{0.012, 0.001}, s.Skv >= 500 // mission and longer
	case "e4m3":
		return Bound{0.05, 0.003}, s.Skv >= 500
	}
	return Bound{}, false
}

// Within says why the errors of a case are too large; nothing when they are not.
func Within(t record.Tolerance, format string, c *record.Case) (why []string) {
	if c.Errors == nil || c.Dequantised == nil || c.Plain == nil || c.PlainDequantised == nil {
		return []string{"the output was not compared"}
	}
	if n := c.Errors.NotFinite + c.Dequantised.NotFinite; n > 0 {
		return []string{fmt.Sprintf("%d of %d elements are not finite, or their reference is not", max(c.Errors.NotFinite, c.Dequantised.NotFinite), c.Errors.Elements)}
	}
	why = fixed(t, c)
	if s, err := ref.ParseShape(c.Shape); err == nil {
		if b, ok := Held(format, s, c.Distribution); ok {
			why = append(why, above("max error", c.Errors.Max, b.Max, "what "+format+" is held to")...)
			why = append(why, above("mean error", c.Errors.Mean, b.Mean, "what "+format+" is held to")...)
		}
	}
	why = append(why, relative(t, c)...)
	switch {
	case c.LSE == nil:
	case c.LSE.NotFinite > 0:
		why = append(why, fmt.Sprintf("%d of %d values of the lse are not finite, or their reference is not", c.LSE.NotFinite, c.LSE.Elements))
	default:
		most := worstLSE + relativeLSE*math.Abs(float64(c.LSE.Worst.Want))
		why = append(why, above("error of the lse", c.LSE.Max, most, "the tolerance")...)
	}
	return why
}

func above(what string, have, most float64, whose string) []string {
	if have <= most {
		return nil
	}
	return []string{fmt.Sprintf("%s %.3g, %s is %.3g", what, have, whose, most)}
}

// fixed are the tolerances that do not depend on anything. Where the format itself
// breaks one, relative is what judges.
func fixed(t record.Tolerance, c *record.Case) (why []string) {
	e, p := c.Errors, c.Plain
	if p.Max <= t.Max {
		why = append(why, above("max error", e.Max, t.Max, "the tolerance")...)
	}
	if p.Mean <= t.Mean {
		why = append(why, above("mean error", e.Mean, t.Mean, "the tolerance")...)
	}
	if p.BadShare <= t.BadShare {
		why = append(why, above(fmt.Sprintf("share of errors above %g", t.BadAbove), e.BadShare, t.BadShare, "the tolerance")...)
	}
	return why
}

// What a kernel may be off by where the plain computation happens to be exact.
const (
	slackRMS = 2e-5
	slackMax = 2e-4
)

func relative(t record.Tolerance, c *record.Case) (why []string) {
	for _, over := range []struct {
		what     string
		e, plain *ref.Errors
	}{{"", c.Errors, c.Plain}, {" over quantised inputs", c.Dequantised, c.PlainDequantised}} {
		why = append(why, above("root mean square error"+over.what, over.e.RMSE, t.Relative*over.plain.RMSE+slackRMS,
			fmt.Sprintf("%g times that of a plain computation", t.Relative))...)
		why = append(why, above("largest error"+over.what, over.e.Max, 2*t.Relative*over.plain.Max+slackMax,
			fmt.Sprintf("%g times that of a plain computation", 2*t.Relative))...)
	}
	return why
}
