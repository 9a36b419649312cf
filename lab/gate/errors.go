package gate

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// Tolerance is what errors may be.
var Tolerance = record.Tolerance{Max: 0.06, Mean: 0.02, BadAbove: 0.06, BadShare: 0.01, Relative: 2}

// The logarithm of a sum may be off by worstLSE and a 4096th of itself, or what cutting
// products off may move it by: sums of products of one-byte numbers have no more bits on
// tensor cores.
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

// Held is the mean error that rounding Q, K and V from N(0,1) to a format costs, and a
// tenth more, or of fewer than a hundred rows up to twice as much: an encoder and a decoder
// that do not match are found by it, which no comparison with a plain computation on their
// output can. ok is false where nothing is known.
//
// It is arithmetic, and was not measured. Rounding moves a number by σ, root mean
// square. A weight of the softmax is about exp(z)/n of its logit z from N(0,1), so that
// the squares of a row's n weights sum up to e/n. V moves O by σ·√(e/n), Q and K,
// through the logits, each by as much again, and so do the weights themselves in kernels
// that round them to the format: √(4e/n)·σ in all, of which the mean is √(2/π). The
// largest error is not held: it is that of the row with the heaviest key,
// about which arithmetic says little.
//
// It is the mean over the rows that were compared: of causal ones those that see few keys are
// further off, and where not all rows are compared, they are more of those that are.
func Held(format string, s problem.Shape, distribution string, causal bool, compared []ref.Row) (mean float64, ok bool) {
	var sigma float64
	switch format {
	case "u8": // steps of a 127th of the largest of a head
		sigma = third * math.Sqrt(2*math.Log(2*float64(s.Skv*s.D))) / 127
	case "e4m3": // steps of 1/8 of the power of 2 below a number
		sigma = Spread / 8
	case "e5m2":
		sigma = Spread / 4
	}
	if sigma == 0 || distribution != "normal" || s.Skv < 32 || len(compared) == 0 {
		return 0, false
	}
	var rows float64 // the mean of √(4e/n)
	for _, r := range compared {
		n := s.Skv
		if causal {
			n = max(r.S+s.Skv-s.Sq+1, 1)
		}
		rows += math.Sqrt(4*math.E/float64(n)) / float64(len(compared))
	}
	more := max(1.1, 1+1/math.Sqrt(float64(len(compared))))
	return more * math.Sqrt(2/math.Pi) * sigma * rows, true
}

// rowsOf are the rows whose errors a case has.
func rowsOf(c *record.Case) []ref.Row {
	const most = 1 << 20 // nobody compares more
	return ref.Rows(c.Shape, min(c.Errors.Elements/c.Shape.D, most), c.Seed)
}

const (
	third = 0.288675 // 1/√12: how far rounding moves a number, of a step, root mean square
	// Spread is the same of the number, where the step is the power of 2 below it, which is
	// √(3/(8·ln 2)) of it, root mean square.
	Spread = third * 0.7355
)

// Within says why the errors of a case are too large; nothing when they are not.
func Within(t record.Tolerance, format string, causal bool, c *record.Case) (why []string) {
	if c.Errors == nil || c.Dequantised == nil || c.Plain == nil || c.PlainDequantised == nil {
		return []string{"the output was not compared"}
	}
	if n := c.Errors.NotFinite + c.Dequantised.NotFinite; n > 0 {
		return []string{fmt.Sprintf("%d of %d elements are not finite, or their reference is not", max(c.Errors.NotFinite, c.Dequantised.NotFinite), c.Errors.Elements)}
	}
	why = fixed(t, c)
	if mean, ok := Held(format, c.Shape, c.Distribution, causal, rowsOf(c)); ok {
		why = append(why, above("mean error", c.Errors.Mean, mean, "what rounding to "+format+" may cost")...)
	}
	why = append(why, relative(t, c)...)
	why = append(why, oneRow(t, c)...)
	switch {
	case c.LSE == nil:
	case c.LSE.NotFinite > 0:
		why = append(why, fmt.Sprintf("%d of %d values of the lse are not finite, or their reference is not", c.LSE.NotFinite, c.LSE.Elements))
	default:
		most := worstLSE + max(relativeLSE*math.Abs(float64(c.LSE.Worst.Want)), float64(c.Logits))
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

// oneRow finds a row that is wrong among many: of causal outputs those that see few keys are
// off by more than what rows that see many keys hold, and all heads share a tile. Outliers may
// be most of a row, which then hangs on how one weight is rounded.
func oneRow(t record.Tolerance, c *record.Case) []string {
	w := c.WorstRow
	if w == nil || c.Distribution == "outliers" {
		return nil
	}
	return above(fmt.Sprintf("mean error over quantised inputs of row %d of head %d of batch %d", w.S, w.H, w.B), float64(w.Mean), 4*t.Relative*(float64(w.Plain)+SlackMean),
		fmt.Sprintf("%g times that of a plain computation", 4*t.Relative))
}

// fixed are the tolerances that do not depend on anything. Where the format itself
// breaks one, relative is what judges; where it comes near it, a kernel may be off by a
// quarter more, and of the elements that are off by much there may be as many more as
// chance makes of so few.
func fixed(t record.Tolerance, c *record.Case) (why []string) {
	e, p := c.Errors, c.Plain
	hold := func(what string, have, plain, most, more float64) {
		if plain <= most {
			why = append(why, above(what, have, max(most, 1.25*plain)+more, "the tolerance")...)
		}
	}
	hold("max error", e.Max, p.Max, t.Max, 0)
	hold("mean error", e.Mean, p.Mean, t.Mean, 0)
	chance := 2 + 2*math.Sqrt(float64(p.Bad))
	hold(fmt.Sprintf("share of errors above %g", t.BadAbove), e.BadShare, p.BadShare, t.BadShare, chance/float64(max(e.Elements, 1)))
	return why
}

// What a kernel may be off by where the plain computation happens to be exact.
const (
	slackRMS = 2e-5
	slackMax = 2e-4
	// SlackMean is that of the mean of a tile of rows.
	SlackMean = 2e-5
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
	// A few rows that are wrong are lost in the whole, the more so where causal rows that
	// see few keys have most of the error.
	if w := c.WorstTile; w != nil {
		why = append(why, above(fmt.Sprintf("mean error over quantised inputs of the rows from %d on", w.First), float64(w.Mean), 2*t.Relative*(float64(w.Plain)+SlackMean),
			fmt.Sprintf("%g times that of a plain computation", 2*t.Relative))...)
	}
	return why
}
