package lab

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestCauses wants the causes of outputs that are wrong in known ways.
func TestCauses(t *testing.T) {
	a := computing("e4m3", problem.F16, false)
	shape := problem.Square(2, 3, 200, 64)
	c := Case{Shape: shape, Seed: 3, Distribution: "normal"}
	in, err := newInputs(a, c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := shared.find(context.Background(), a, c, in, 0)
	if err != nil {
		t.Fatal(err)
	}
	attention := func(opt ref.Options, keys int) []float64 {
		opt.Hidden = shape.Skv - keys
		x, err := ref.Attention(context.Background(), in.q, in.k, in.v, opt)
		if err != nil {
			t.Fatal(err)
		}
		return x.O
	}
	each := func(wrong func(at ref.Row, col int) bool, what float64) []float64 {
		o := append([]float64(nil), r.quantised.O...)
		for i := range o {
			if wrong(r.quantised.Rows[i/64], i%64) {
				o[i] += what
			}
		}
		return o
	}
	for _, x := range []struct {
		name string
		o    []float64
		want string
	}{
		{"last tile", attention(ref.Options{}, 192), "the last tile of keys, 192 to 199, is left out"},
		{"last key", attention(ref.Options{}, 199), "the last key is left out: a mask that is off by one"},
		{"scale", attention(ref.Options{Scale: 1}, 200), "logits are not scaled"},
		{"base", attention(ref.Options{Scale: math.Ln2 / 8}, 200), "logits are 0.69 times as large as they must be"},
		{"other base", attention(ref.Options{Scale: math.Log2E / 8}, 200), "logits are 1.44 times too large"},
		{"factor", scaled(r.quantised.O, 0.5), "all of O is 0.5 times"},
		{"zeros", scaled(r.quantised.O, 0), "O is zero everywhere"},
		{"one head", each(func(at ref.Row, _ int) bool { return at.H == 1 && at.B == 0 }, 1), "only head 1 of batch 0"},
		{"one batch", each(func(at ref.Row, _ int) bool { return at.B == 1 }, 1), "only batch 1"},
		{"some heads", each(func(at ref.Row, _ int) bool { return at.H > 0 }, 1), "only heads 1 and 2, in every batch"},
		{"one warp", each(func(at ref.Row, _ int) bool { return at.S%64/16 == 2 }, 1), "rows 32 to 47 of every 64: the rows of one warp"},
		{"columns", each(func(_ ref.Row, col int) bool { return col%16 == 5 }, 1), "every 16th column, from column 5 on"},
		{"one column", each(func(_ ref.Row, col int) bool { return col == 5 }, 1), "only column 5"},
		{"one column of a row", each(func(at ref.Row, col int) bool { return col%16 == 5 && at.S == 199 }, 1), "from column 5 on: the layout of a fragment; only row 199"},
		{"half", each(func(_ ref.Row, col int) bool { return col >= 32 }, 1), "columns 32 to 63 only"},
		{"tail", each(func(at ref.Row, _ int) bool { return at.S >= 190 }, 1), "the last rows, 190 to 199"},
		{"NaN tail", each(func(at ref.Row, _ int) bool { return at.S >= 190 }, math.NaN()), "NaN: the last rows, 190 to 199"},
		{"NaN in half of the rows", each(func(at ref.Row, _ int) bool { return at.S%2 == 1 }, math.NaN()), "NaN: in 38400 of 76800 elements, without a pattern"},
		{"one row", each(func(at ref.Row, _ int) bool { return at.S == 7 }, 1), "only row 7"},
		{"NaN", each(func(ref.Row, int) bool { return true }, math.NaN()), "NaN: in all heads and rows"},
		{"infinite", each(func(ref.Row, int) bool { return true }, math.Inf(-1)), "infinite: in all heads and rows"},
		{"infinite tail", each(func(at ref.Row, _ int) bool { return at.S >= 190 }, math.Inf(1)), "infinite: the last rows, 190 to 199"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := newRows(shape.Q(), r.quantised.Rows)
			copy(got.o, x.o)
			judged := r.blank(c)
			if judged.Errors, judged.Dequantised, err = r.compare(got); err != nil {
				t.Fatal(err)
			}
			if len(gate.Within(gate.Tolerance, problem.Attention{Format: problem.E4M3}, &judged)) == 0 {
				t.Error("it passes")
			}
			if err := blame(a, &judged, r, in, got); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(judged.Cause, x.want) {
				t.Errorf("%q, want %q", judged.Cause, x.want)
			}
			checkMap(t, &judged, x.name)
		})
	}
}

func scaled(o []float64, by float64) []float64 {
	out := make([]float64, len(o))
	for i, x := range o {
		out[i] = by * x
	}
	return out
}

// checkMap wants a tile for every 32 rows of every head, with all bad elements.
func checkMap(t *testing.T, c *record.Case, name string) {
	t.Helper()
	bad, blamed := 0, 0
	for _, x := range c.Map {
		bad += x.Bad
		if x.KVTile == 6 {
			blamed++
		}
	}
	if len(c.Map) != 6*7 || bad == 0 {
		t.Errorf("%d tiles, %d bad elements", len(c.Map), bad)
	}
	if name == "last tile" && blamed < 4 {
		t.Errorf("%d tiles blame the last keys", blamed)
	}
}

// TestImpostors wants every applicable impostor to be caught, for all distributions and formats,
// with lengths around tiles.
func TestImpostors(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	formats := []problem.Format{"u8", "e4m3", "e5m2", problem.F16, "u8-legacy"}
	turn := 0
	for _, d := range ref.Distributions() {
		for _, s := range []problem.Shape{problem.Square(1, 1, 1, 64), problem.Square(2, 2, 17, 64), problem.Square(2, 3, 100, 64), {B: 1, Hq: 4, Hkv: 2, Sq: 40, Skv: 150, D: 64}} {
			turn++
			a := computing(formats[turn%len(formats)], problem.F16, turn%3 == 0)
			c := Case{Shape: s, Seed: 1, Distribution: d.Name}
			for _, p := range referenceOf(t, a, c, 0).powers {
				if !p.Caught && p.Why == "" {
					t.Errorf("%s on %v, %s, %s, causal %v: it passes", p.Name, s, d.Name, a.Problem.Format, a.Problem.Causal)
				}
			}
		}
	}
}

// TestSampledRows judges impostors where only some rows are compared.
func TestSampledRows(t *testing.T) {
	a := computing("e4m3", problem.F16, false)
	c := Case{Shape: problem.Square(2, 3, 300, 64), Seed: 1, Distribution: "normal"}
	r := referenceOf(t, a, c, 100)
	if len(r.quantised.Rows) != 100 || len(r.powers) != len(gate.Impostors) {
		t.Fatalf("%d rows, %d powers", len(r.quantised.Rows), len(r.powers))
	}
	wantCaught(t, r)
}

// TestLongCausal wants impostors to be caught in long causal outputs, where the first rows have
// the largest errors.
func TestLongCausal(t *testing.T) {
	a := computing("e4m3", "e4m3", true)
	c := Case{Shape: problem.Square(1, 2, 1500, 64), Seed: 0, Distribution: "normal"}
	wantCaught(t, referenceOf(t, a, c, 0))
}

// referenceOf returns the reference of a case for a number of rows; 0 is all rows.
// computing returns a subject without a text, where only the problem matters.
func computing(format, p problem.Format, causal bool) *Subject {
	return &Subject{
		Kernel:  &kernel.Kernel{Claims: map[string]string{"p": string(p)}},
		Problem: problem.Attention{Format: format, Causal: causal}.Filled(),
	}
}

func referenceOf(t *testing.T, a *Subject, c Case, rows int) *reference {
	t.Helper()
	in, err := newInputs(a, c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReference(t.Context(), a, c, in, rows)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantCaught fails the test if an impostor passes without an excuse.
func wantCaught(t *testing.T, r *reference) {
	t.Helper()
	for _, p := range r.powers {
		if !p.Caught && p.Why == "" {
			t.Errorf("%s passes", p.Name)
		}
	}
}

// TestCausesOfLSE wants the causes of log-sum-exps that are wrong in known ways.
func TestCausesOfLSE(t *testing.T) {
	shape := problem.Square(2, 3, 40, 64)
	in, err := ref.Generate("normal", 3, shape)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ref.Attention(context.Background(), in.Q, in.K, in.V, ref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := func(wrong func(i int) float64) []float32 {
		out := make([]float32, len(r.LSE))
		for i := range out {
			out[i] = float32(wrong(i))
		}
		return out
	}
	for _, c := range []struct {
		name string
		lse  []float32
		want string
	}{
		{"base 2", all(func(i int) float64 { return r.LSE[i] / math.Ln2 }), "base 2"},
		{"layout", all(func(i int) float64 { return r.LSE[i/120*120+i%3*40+i%120/3] }), "[B,Sq,H]"},
		{"sign", all(func(i int) float64 { return -r.LSE[i] }), "wrong sign"},
		{"sum alone", all(func(i int) float64 { return 0.5 + float64(i%3) }), "must be added again"},
		{"unwritten", all(func(i int) float64 { return math.NaN() }), "240 of 240 rows is NaN"},
		{"else", all(func(i int) float64 { return 2 * r.LSE[i] }), "only the log-sum-exp is wrong"},
	} {
		if got := causeOfLSE(r, c.lse); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestCausalPower wants errors to be found in the few rows that see the last keys, although the
// first rows have larger errors.
func TestCausalPower(t *testing.T) {
	a := computing("e4m3", "e4m3", true)
	c := Case{Shape: problem.Square(1, 2, 512, 64), Seed: 0, Distribution: "normal"}
	in, err := newInputs(a, c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := shared.find(context.Background(), a, c, in, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.powers {
		if !p.Caught && p.Why == "" {
			t.Errorf("%s passes", p.Name)
		}
	}
}

// TestNeverWritten wants the cause to tell elements that were never written from NaN.
func TestNeverWritten(t *testing.T) {
	for unwritten, want := range map[int]string{0: "NaN: ", 1: "NaN, or never written: ", 2: "never written: "} {
		f := &faults{bad: []element{{got: math.NaN(), missing: true}, {col: 1, got: math.NaN(), missing: true}}, total: 2, unwritten: unwritten}
		f.in = &inputs{shape: problem.Square(1, 1, 1, 2)}
		if got, err := f.notFinite(); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%d unwritten: %q, %v, want %q", unwritten, got, err, want)
		}
	}
}
