package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestWrong wants each fault of a case to be named once, and no other.
func TestWrong(t *testing.T) {
	const large = "max error 0.07, the tolerance is 0.06"
	for _, c := range []struct {
		name   string
		change func(*record.Case)
		want   []string
	}{
		{"a right case", func(c *record.Case) { c.Cause = "rounding" }, nil},
		{"a failure is the only reason", func(c *record.Case) { c.Failure, c.Overrun = "no memory", true }, []string{"no memory"}},
		{"an element was not written", func(c *record.Case) { c.Unwritten = 1 }, []string{"1 element of the output was never written"}},
		{"what was not written is not finite", func(c *record.Case) { c.Unwritten, c.Errors.NotFinite = 3, 3 },
			[]string{"3 elements of the output were never written"}},
		{"more are not finite", func(c *record.Case) { c.Unwritten, c.Errors.NotFinite = 2, 3 },
			[]string{"2 elements of the output were never written", "3 of 4224 elements are not finite, or their reference is not"}},
		{"not written, and finite", func(c *record.Case) { c.Unwritten, c.Errors.Max, c.Plain.Max = 1, 0.07, 0.04 },
			[]string{"1 element of the output was never written", large}},
		{"not written, and not compared", func(c *record.Case) { c.Unwritten, c.Errors = 1, nil },
			[]string{"1 element of the output was never written", "the output was not compared"}},
		{"what is not written differs between runs", func(c *record.Case) { c.Unwritten, c.Repeatable = 2, false },
			[]string{"2 elements of the output were never written"}},
		{"a large error with its cause", func(c *record.Case) { c.Errors.Max, c.Plain.Max, c.Cause = 0.07, 0.04, "the mask" },
			[]string{large + " (the mask)"}},
		{"a large error", func(c *record.Case) { c.Errors.Max, c.Plain.Max = 0.07, 0.04 }, []string{large}},
		{"the inputs", func(c *record.Case) { c.InputsKept = false }, []string{"the inputs were changed"}},
		{"the guard bands", func(c *record.Case) { c.Overrun = true }, []string{"memory outside of the buffers was written"}},
	} {
		one := green(0.8, 0.002).Correctness.Cases[0]
		c.change(&one)
		if got := Wrong(Tolerance, problem.Attention{Format: problem.U8}, &one); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCorrectnessGate wants a status and a reason for each record whose cases prove nothing.
func TestCorrectnessGate(t *testing.T) {
	cases := func(f func(*record.Case)) func(*record.Record) {
		return func(r *record.Record) {
			for i := range r.Correctness.Cases {
				f(&r.Correctness.Cases[i])
			}
		}
	}
	uncaught := func(names ...string) func(*record.Record) {
		return cases(func(c *record.Case) {
			for i := range c.Powers {
				c.Powers[i].Caught = c.Powers[i].Caught && !slices.Contains(names, c.Powers[i].Name)
			}
		})
	}
	whole := func(r *record.Record) {
		cases(func(c *record.Case) { c.Shape, c.Errors.Elements = problem.Square(1, 2, 64, 64), 2*64*64 })(r)
	}
	for _, c := range []struct {
		name   string
		change func(*record.Record)
		status record.Status
		want   string
	}{
		{"no section", func(r *record.Record) { r.Correctness = nil }, record.Skipped, "no case was run"},
		{"V is zero", cases(func(c *record.Case) {
			c.Distribution, c.PlainDequantised.Max, c.Dequantised.Max = "zeros", 0, 1e-7
		}), record.Red, "largest error where all values are zero 1e-07, the tolerance is 0"},
		{"no case", func(r *record.Record) { r.Correctness.Cases = nil }, record.Skipped, "no case was run"},
		{"an impostor passes", uncaught(Zeros), record.Void, "normal, seed 0: the impostor zeros passes, and 1 more"},
		{"an excused impostor passes", uncaught(MissingKey), record.Green, "14 of 16 impostors caught"},
		{"an impostor was not tried", cases(func(c *record.Case) { c.Powers = c.Powers[1:] }), record.Void, "the impostor zeros was not tried"},
		{"three kinds are caught, the others are excused", func(r *record.Record) {
			cases(func(c *record.Case) { c.Distribution = "tiny" })(r)
			uncaught(Zeros, Constant, MeanOfV, SwapHeads, ShiftRows)(r)
		}, record.Void, "the cases catch 3 kinds of impostors, 4 are needed"},
		{"four kinds are caught, the others are excused", func(r *record.Record) {
			cases(func(c *record.Case) { c.Distribution = "tiny" })(r)
			uncaught(Zeros, Constant, MeanOfV, SwapHeads)(r)
		}, record.Green, "8 of 16 impostors caught"},
		{"whole tiles", whole, record.Void, "no shape has a partial tile"},
		{"whole tiles of a kernel that refuses others", func(r *record.Record) {
			whole(r)
			r.Correctness.Refused = []record.Refusal{{Shape: problem.Square(1, 2, 33, 64), Why: "no"}}
		}, record.Green, ""},
		{"partial tiles of queries", cases(func(c *record.Case) { c.Shape.Skv = 64 }), record.Green, ""},
		{"partial tiles of keys", cases(func(c *record.Case) { c.Shape.Sq, c.Errors.Elements = 48, 2*48*64 }), record.Green, ""},
		{"one seed", cases(func(c *record.Case) { c.Seed = 5 }), record.Void, "all cases have the same seed"},
		{"one element too few", cases(func(c *record.Case) { c.Errors.Elements-- }), record.Void, "only 4223 elements were compared"},
		{"256 rows of many", cases(func(c *record.Case) {
			c.Shape, c.Errors.Elements, c.Distribution = problem.Square(1, 2, 513, 64), 256*64, "outliers"
		}), record.Green, ""},
		{"255 rows of many", cases(func(c *record.Case) {
			c.Shape, c.Errors.Elements, c.Distribution = problem.Square(1, 2, 513, 64), 255*64, "outliers"
		}), record.Void, "only 16320 elements were compared"},
		{"a looser tolerance", func(r *record.Record) { r.Correctness.Tolerance.Mean = 0.03 }, record.Red, "the record's tolerance mean is 0.03, the gate's is 0.02"},
		{"no tolerance", func(r *record.Record) { r.Correctness.Tolerance.Relative = math.NaN() }, record.Red, "the record's tolerance relative is NaN, the gate's is 2"},
	} {
		r := green(0.8, 0.002)
		c.change(r)
		if g := Judge(r).Gates[2]; g.Status != c.status || !strings.Contains(g.Summary, c.want) {
			t.Errorf("%s: %s: %s; want %s: %s", c.name, g.Status, g.Summary, c.status, c.want)
		}
	}
}

// TestSummary: the line of a green gate names the worst error of each distribution.
func TestSummary(t *testing.T) {
	more := func(max, plain float64) func(*record.Record) {
		return func(r *record.Record) {
			c := r.Correctness.Cases[0]
			c.Errors, c.Plain = &ref.Errors{Max: max}, &ref.Errors{Max: plain}
			r.Correctness.Cases = append(r.Correctness.Cases, c)
		}
	}
	const usual = "2 cases: max error 0.01 on normal, 0.01 on one-hot; 16 of 16 impostors caught"
	for _, c := range []struct {
		name   string
		change func(*record.Record)
		want   string
	}{
		{"two cases", func(*record.Record) {}, usual},
		{"a larger error", more(0.02, 0.01), "3 cases: max error 0.02 on normal, 0.01 on one-hot; 24 of 24 impostors caught"},
		{"a smaller error", more(0.005, 0.01), "3 cases: max error 0.01 on normal, 0.01 on one-hot; 24 of 24 impostors caught"},
		{"the same error again: the first case is shown", more(0.01, 0.07), "3 cases: max error 0.01 on normal, 0.01 on one-hot; 24 of 24 impostors caught"},
		{"rounding alone exceeds the tolerance", func(r *record.Record) { r.Correctness.Cases[1].Plain.Max = 0.07 },
			"2 cases: max error 0.01 on normal, 0.01 on one-hot (rounding the inputs causes 0.07); 16 of 16 impostors caught"},
		{"rounding alone reaches the tolerance", func(r *record.Record) { r.Correctness.Cases[1].Plain.Max = 0.06 }, usual},
		{"impostors that do not apply, and that pass", func(r *record.Record) {
			p := r.Correctness.Cases[0].Powers
			p[0], p[1] = record.Power{Why: "one head"}, record.Power{}
		}, "2 cases: max error 0.01 on normal, 0.01 on one-hot; 14 of 15 impostors caught"},
		{"a cause", func(r *record.Record) { r.Correctness.Cases[0].Cause = "the inputs" }, usual + "; the inputs"},
	} {
		r := green(0.8, 0.002)
		c.change(r)
		if got := summary(r.Correctness, nil); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
	for claims, want := range map[[2]string]string{
		{"", "f16"}: "2 cases:", {"f16", ""}: "2 cases with P in f16:", {"f16", "f32"}: "2 cases with P in f16:",
		{"e4m3", "f16"}: "2 cases with P in e4m3 and sums in f16:",
	} {
		call := &kernel.Kernel{Claims: map[string]string{"p": claims[0], "accumulator": claims[1]}}
		if got := summary(green(0.8, 0.002).Correctness, call); !strings.HasPrefix(got, want) {
			t.Errorf("claims %v: %s, want %s", claims, got, want)
		}
	}
}

// TestLimits has each limit of the errors on both sides, with the plain computation's errors of
// a green record: on the inputs 0.01 and 0.001, on the quantised inputs 1e-4 and 1e-5.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name    string
		set     func(*record.Case, float64)
		in, out float64
		want    string
	}{
		{"RMS error", func(c *record.Case, x float64) { c.Errors.RMSE = x }, 0.00201, 0.00203, "root mean square error 0.00203, 2 times the error of a plain computation is 0.00202"},
		{"largest error", func(c *record.Case, x float64) { c.Errors.Max = x }, 0.0401, 0.0403, "largest error 0.0403, 4 times"},
		{"RMS error after quantisation", func(c *record.Case, x float64) { c.Dequantised.RMSE = x }, 3.9e-5, 4.1e-5, "root mean square error on the quantised inputs 4.1e-05, 2 times"},
		{"largest error after quantisation", func(c *record.Case, x float64) { c.Dequantised.Max = x }, 5.9e-4, 6.1e-4, "largest error on the quantised inputs 0.00061, 4 times"},
		{"a tile of rows", func(c *record.Case, x float64) {
			c.WorstTile = &record.TileError{First: 32, Mean: ref.Float(x), Plain: 1e-4}
		}, 4.7e-4, 4.9e-4, "mean error on the quantised inputs from row 32 on 0.00049, 4 times"},
		{"a row", func(c *record.Case, x float64) {
			c.WorstRow = &record.RowError{Row: ref.Row{B: 1, H: 2, S: 3}, Mean: ref.Float(x), Plain: 1e-4}
		}, 9.5e-4, 9.7e-4, "mean error on the quantised inputs in row 3 of head 2 of batch 1 0.00097, 8 times"},
		{"log-sum-exp", func(c *record.Case, x float64) { c.LSE = &ref.Errors{Max: x} }, 0.005, 0.00501, "error of the log-sum-exp 0.00501, the tolerance is 0.005"},
		{"large log-sum-exp", func(c *record.Case, x float64) {
			c.LSE, c.Logits = &ref.Errors{Max: x, Worst: ref.Element{Want: -4096}}, 0.5
		}, 1.0049, 1.0051, "the tolerance is"},
		{"log-sum-exp of truncated logits", func(c *record.Case, x float64) {
			c.LSE, c.Logits = &ref.Errors{Max: x, Worst: ref.Element{Want: 4096}}, 2
		}, 2.0049, 2.0051, "the tolerance is"},
		{"log-sum-exp not finite", func(c *record.Case, x float64) { c.LSE = &ref.Errors{NotFinite: int(x), Elements: 9} }, 0, 1, "1 of 9 values of the log-sum-exp are not finite"},
		{"not finite on both inputs", func(c *record.Case, x float64) { c.Errors.NotFinite, c.Dequantised.NotFinite = int(x), int(x) }, 0, 2, "2 of 4224 elements are not finite"},
		{"near a tolerance that rounding reaches", func(c *record.Case, x float64) { c.Errors.Max, c.Plain.Max = x, 0.06 }, 0.0749, 0.0751, "max error 0.0751, the tolerance is 0.075"},
		{"bad share", func(c *record.Case, x float64) { c.Errors.BadShare, c.Errors.Elements = x, 1000 }, 0.0119, 0.0121, "share of errors above 0.06 0.0121"},
		{"bad share, where rounding has four", func(c *record.Case, x float64) {
			c.Errors.BadShare, c.Errors.Elements, c.Plain.Bad = x, 1000, 4
		}, 0.0159, 0.0161, "share of errors above 0.06 0.0161"},
	} {
		for _, x := range []float64{c.in, c.out} {
			one := green(0.8, 0.002).Correctness.Cases[1]
			c.set(&one, x)
			got := Within(Tolerance, problem.Attention{Format: problem.U8}, &one)
			if x == c.in && len(got) > 0 || x == c.out && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
				t.Errorf("%s of %g: %q; %g is too much: %s", c.name, x, got, c.out, c.want)
			}
		}
	}
	for i, drop := range []func(*record.Case){
		func(c *record.Case) { c.Errors = nil }, func(c *record.Case) { c.Dequantised = nil },
		func(c *record.Case) { c.Plain = nil }, func(c *record.Case) { c.PlainDequantised = nil },
	} {
		one := green(0.8, 0.002).Correctness.Cases[0]
		drop(&one)
		if got := fmt.Sprint(Within(Tolerance, problem.Attention{}, &one)); got != "[the output was not compared]" {
			t.Errorf("comparison %d is missing: %s", i, got)
		}
	}
}

// TestHeldApplies: the bound needs plain logits, N(0,1), a one-byte format and 32 keys. With one
// row in a window of 32 keys it is twice √(2/π)·σ·√(4e/32), with 25 rows 1.2 times that.
func TestHeldApplies(t *testing.T) {
	p := problem.Attention{Shape: problem.Square(1, 1, 256, 64), Format: problem.E4M3, Window: problem.NewWindow(31, 0)}
	rows := func(n int) (list []ref.Row) {
		for i := range n {
			list = append(list, ref.Row{S: 100 + i})
		}
		return list
	}
	unit := math.Sqrt(2/math.Pi) * Spread / 8 * math.Sqrt(4*math.E/32)
	for n, more := range map[int]float64{1: 2, 25: 1.2, 150: 1.1} {
		if got, ok := Held(p, "normal", rows(n)); !ok || !(math.Abs(got/unit-more) <= 1e-9) {
			t.Errorf("%d rows: %.9g times the error of rounding, %v, want %g", n, got/unit, ok, more)
		}
	}
	for name, change := range map[string]func(p *problem.Attention){
		"scale": func(p *problem.Attention) { p.Scale = 1 }, "softcap": func(p *problem.Attention) { p.Softcap = 30 },
		"sinks": func(p *problem.Attention) { p.Sinks = true }, "mask": func(p *problem.Attention) { p.Masked = true },
		"pages": func(p *problem.Attention) { p.Keys = problem.Paged }, "two bytes": func(p *problem.Attention) { p.Format = problem.F16 },
		"31 keys": func(p *problem.Attention) { p.Skv = 31 },
	} {
		other := p
		change(&other)
		if got, ok := Held(other, "normal", rows(1)); ok {
			t.Errorf("%s: %g is held", name, got)
		}
	}
	p.Skv = 32
	if _, ok := Held(p, "normal", rows(1)); !ok {
		t.Error("32 keys: no bound")
	}
	if _, ok := Held(p, "normal", nil); ok {
		t.Error("a bound for no rows")
	}
}
