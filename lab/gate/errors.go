package gate

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// Tolerance is the largest error that is accepted.
var Tolerance = record.Tolerance{Max: 0.06, Mean: 0.02, BadAbove: 0.06, BadShare: 0.01, Relative: 2}

// The log-sum-exp may be off by worstLSE plus relativeLSE of its value, or plus the error of
// the logits where that is larger: tensor cores truncate sums of products of one-byte
// numbers.
const (
	worstLSE    = 0.005
	relativeLSE = 1.0 / 4096
)

// looser returns where the tolerance of a record is looser than [Tolerance].
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

// Held returns an upper bound of the mean error for inputs from N(0,1): the error that
// rounding Q, K and V to a format causes, plus 10 %, or up to 100 % for fewer than a hundred
// rows. The bound finds an encoder and a decoder that do not match; a comparison with a
// plain computation on the encoder's output cannot find them. ok is false where no bound is
// known, since the bound holds for a scale of 1/√D and plain logits.
//
// The bound is derived, not measured. Rounding moves a number by σ (root mean square). The
// weight of a key with logit z is about exp(z)/n, and z is from N(0,1), so the squares of
// the n weights of a row sum up to e/n. Rounding V moves O by σ·√(e/n). Rounding Q and
// rounding K each move O by the same amount, through the logits, and so does rounding the
// weights in kernels that round them to the format. Together that is σ·√(4e/n), and the mean
// of its absolute value is √(2/π) of it. The largest error has no such bound: it depends on
// the row with the heaviest key.
//
// The bound is the mean over the rows that were compared, since causal rows that see few
// keys have larger errors, and a sample of rows may hold more of them than the whole.
func Held(p problem.Attention, distribution string, compared []ref.Row) (mean float64, ok bool) {
	s := p.Shape
	var sigma float64
	switch p.Format {
	case problem.U8: // a step is 1/127 of the largest value of a head
		sigma = third * math.Sqrt(2*math.Log(2*float64(s.Skv*max(s.D, s.DimV())))) / 127
	case problem.E4M3: // a step is 1/8 of the power of 2 below a number
		sigma = Spread / 8
	case problem.E5M2:
		sigma = Spread / 4
	}
	other := p.Scale != 0 || p.Softcap != 0 || p.Sinks || p.Masked || p.Bias != "" || p.Rope != "" || p.Ragged()
	if sigma == 0 || other || distribution != "normal" || s.Skv < 32 || len(compared) == 0 {
		return 0, false
	}
	var rows float64 // the mean of √(4e/n)
	for _, r := range compared {
		first, last := p.Sees(r.B, r.S)
		rows += math.Sqrt(4*math.E/float64(max(last-first, 1))) / float64(len(compared))
	}
	more := max(1.1, 1+1/math.Sqrt(float64(len(compared))))
	return more * math.Sqrt(2/math.Pi) * sigma * rows, true
}

// rowsOf returns the rows of a problem that a case compared.
func rowsOf(p problem.Attention, c *record.Case) []ref.Row {
	const most = 1 << 20 // more rows are never compared
	return ref.Rows(p, min(c.Errors.Elements/c.Shape.DimV(), most), c.Seed)
}

const (
	// third is 1/√12: the distance by which rounding moves a number, in steps, root mean square.
	third = 0.288675
	// Spread is the same distance relative to the number, where a step is the power of 2 below
	// the number. That power is √(3/(8·ln 2)) of the number, root mean square.
	Spread = third * 0.7355
)

// Within returns the reasons why the errors of a case are too large; none when they are
// within the tolerance. p is the problem that the kernel computes.
func Within(t record.Tolerance, p problem.Attention, c *record.Case) (why []string) {
	if c.Errors == nil || c.Dequantised == nil || c.Plain == nil || c.PlainDequantised == nil {
		return []string{"the output was not compared"}
	}
	if n := c.Errors.NotFinite + c.Dequantised.NotFinite; n > 0 {
		return []string{fmt.Sprintf("%d of %d elements are not finite, or their reference is not", max(c.Errors.NotFinite, c.Dequantised.NotFinite), c.Errors.Elements)}
	}
	why = append(fixed(t, c), zero(c)...)
	if mean, ok := Held(c.Of(p), c.Distribution, rowsOf(c.Of(p), c)); ok {
		why = append(why, above("mean error", c.Errors.Mean, mean, "the bound for rounding to "+string(p.Format))...)
	}
	why = append(why, relative(t, c)...)
	why = append(why, oneRow(t, c)...)
	switch {
	case c.LSE == nil:
	case c.LSE.NotFinite > 0:
		why = append(why, fmt.Sprintf("%d of %d values of the log-sum-exp are not finite, or their reference is not", c.LSE.NotFinite, c.LSE.Elements))
	default:
		most := worstLSE + max(relativeLSE*math.Abs(float64(c.LSE.Worst.Want)), float64(c.Logits))
		why = append(why, above("error of the log-sum-exp", c.LSE.Max, most, "the tolerance")...)
	}
	return why
}

// zero holds the output to exactly zero where V is zero once it is quantised. The tolerances accept
// a sum that starts with a small number instead of 0.
func zero(c *record.Case) []string {
	if c.Distribution != "zeros" && c.Distribution != "tiny" || c.PlainDequantised.Max != 0 {
		return nil
	}
	return above("largest error where all values are zero", c.Dequantised.Max, 0, "the tolerance")
}

// above returns a reason if a value is larger than the limit. whose says where the limit comes
// from.
func above(what string, have, most float64, whose string) []string {
	if have <= most {
		return nil
	}
	return []string{fmt.Sprintf("%s %.3g, %s is %.3g", what, have, whose, most)}
}

// oneRow finds a single wrong row, which the mean of a tile over all heads can hide. It does
// not judge outliers: there the rounding of one weight may decide a whole row.
func oneRow(t record.Tolerance, c *record.Case) []string {
	w := c.WorstRow
	if w == nil || c.Distribution == "outliers" {
		return nil
	}
	return above(fmt.Sprintf("mean error on the quantised inputs in row %d of head %d of batch %d", w.S, w.H, w.B), float64(w.Mean), 4*t.Relative*(float64(w.Plain)+SlackMean*usualV(c)),
		fmt.Sprintf("%g times the error of a plain computation", 4*t.Relative))
}

// fixed judges by the tolerances that do not depend on the inputs. A tolerance that the
// plain computation already exceeds is left to relative. Where the plain computation comes
// near it, the kernel may be off by a quarter more. The number of large errors may also vary
// by chance.
func fixed(t record.Tolerance, c *record.Case) (why []string) {
	e, p := c.Errors, c.Plain
	accept := func(what string, have, plain, most, more float64) {
		if plain <= most {
			why = append(why, above(what, have, max(most, 1.25*plain)+more, "the tolerance")...)
		}
	}
	accept("max error", e.Max, p.Max, t.Max, 0)
	accept("mean error", e.Mean, p.Mean, t.Mean, 0)
	chance := 2 + 2*math.Sqrt(float64(p.Bad))
	accept(fmt.Sprintf("share of errors above %g", t.BadAbove), e.BadShare, p.BadShare, t.BadShare, chance/float64(max(e.Elements, 1)))
	return why
}

// LargeV is the distribution in which V is [ref.Large] times as large as usual.
const LargeV = "large-v"

// usualV returns the factor by which V, and with it an error of O, is larger than in other distributions.
func usualV(c *record.Case) float64 {
	if c.Distribution == LargeV {
		return ref.Large
	}
	return 1
}

// The errors that are accepted where the plain computation happens to be exact, for a V of usual size.
const (
	slackRMS = 2e-5
	slackMax = 2e-4
	// SlackMean is for the mean error of a tile of rows.
	SlackMean = 2e-5
)

// relative compares the errors with those of a plain computation in the same precision.
func relative(t record.Tolerance, c *record.Case) (why []string) {
	for _, over := range []struct {
		what     string
		e, plain *ref.Errors
	}{{"", c.Errors, c.Plain}, {" on the quantised inputs", c.Dequantised, c.PlainDequantised}} {
		why = append(why, above("root mean square error"+over.what, over.e.RMSE, t.Relative*over.plain.RMSE+slackRMS*usualV(c),
			fmt.Sprintf("%g times the error of a plain computation", t.Relative))...)
		why = append(why, above("largest error"+over.what, over.e.Max, 2*t.Relative*over.plain.Max+slackMax*usualV(c),
			fmt.Sprintf("%g times the error of a plain computation", 2*t.Relative))...)
	}
	// A few wrong rows do not change the errors of the whole output, least of all where causal
	// rows that see few keys have most of the error.
	if w := c.WorstTile; w != nil {
		why = append(why, above(fmt.Sprintf("mean error on the quantised inputs from row %d on", w.First), float64(w.Mean), 2*t.Relative*(float64(w.Plain)+SlackMean*usualV(c)),
			fmt.Sprintf("%g times the error of a plain computation", 2*t.Relative))...)
	}
	return why
}
