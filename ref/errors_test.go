package ref

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// known returns a result with two heads of 40 rows. All outputs are 1 and all LSEs are 2.
func known() *Result {
	r := newResult(problem.Attention{Shape: problem.Square(1, 2, 40, 3)}, nil)
	for i := range r.O {
		r.O[i] = 1
	}
	for i := range r.LSE {
		r.LSE[i] = 2
	}
	return r
}

// output returns a float32 output for r. Its elements are 1, except those in set.
func output(t *testing.T, r *Result, set map[[3]int]float64) *Floats {
	t.Helper()
	x := make([]float32, r.Dims().Len())
	for i := range x {
		x[i] = 1
	}
	for at, v := range set {
		x[r.Dims().Row(0, at[0], at[1])*3+at[2]] = float32(v)
	}
	got, err := F32(r.Dims(), x)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func compare(t *testing.T, r *Result, got Tensor, opt CompareOptions) *Errors {
	t.Helper()
	e, err := r.Compare(got, opt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCompare(t *testing.T) {
	r := known()
	e := compare(t, r, output(t, r, nil), CompareOptions{})
	if e.Max != 0 || e.Mean != 0 || e.RMSE != 0 || e.Bad != 0 || e.Elements != 240 {
		t.Errorf("equal tensors give %v", e)
	}
	e = compare(t, r, output(t, r, map[[3]int]float64{{1, 37, 2}: 1.5, {0, 5, 0}: 0.75}), CompareOptions{Tol: 0.25})
	if e.Max != 0.5 || e.Mean != 0.75/240 || e.Bias != 0.25/240 || e.Bad != 1 || e.BadShare != 1./240 {
		t.Errorf("two wrong elements give %v", e)
	}
	if want := math.Sqrt((0.25 + 0.0625) / 240); !(math.Abs(e.RMSE-want) <= 1e-15) {
		t.Errorf("rmse %v, want %v", e.RMSE, want)
	}
	if want := (Element{0, 1, 37, 2, 1, 1.5}); e.Worst != want {
		t.Errorf("worst is %+v", e.Worst)
	}
	if want := []Part{{0, 120, 0.25, 0.25 / 120, 0}, {1, 120, 0.5, 0.5 / 120, 1}}; !slices.Equal(e.ByHead, want) {
		t.Errorf("by head %+v", e.ByHead)
	}
	if want := []Part{{0, 192, 0.25, 0.25 / 192, 0}, {32, 48, 0.5, 0.5 / 48, 1}}; !slices.Equal(e.ByRowTile, want) {
		t.Errorf("by row tile %+v", e.ByRowTile)
	}
	if len(e.ByBatch) != 1 || len(e.ByColumn) != 3 || e.ByColumn[2].Bad != 1 || e.ByColumn[1].Max != 0 {
		t.Errorf("by batch %+v, by column %+v", e.ByBatch, e.ByColumn)
	}
	if s := e.String(); !strings.Contains(s, "worst at [0,1,37,2]: 1.5, want 1") {
		t.Error(s)
	}
}

// TestWorst: of equal errors the first is the worst, places without compared elements are left
// out, and the text of a result that is not finite says so.
func TestWorst(t *testing.T) {
	r := known()
	e := compare(t, r, output(t, r, map[[3]int]float64{{1, 37, 2}: 1.5, {0, 5, 0}: 1.5}), CompareOptions{})
	if want := (Element{0, 0, 5, 0, 1, 1.5}); e.Worst != want {
		t.Errorf("worst is %+v, want %+v", e.Worst, want)
	}
	some := &Result{Shape: r.Shape, Rows: []Row{{0, 1, 37}}, O: []float64{1, 1, 1}}
	e = compare(t, some, output(t, r, map[[3]int]float64{{1, 37, 2}: math.NaN()}), CompareOptions{})
	if len(e.ByHead) != 1 || e.ByHead[0].First != 1 || len(e.ByRowTile) != 1 || e.ByRowTile[0].First != 32 {
		t.Errorf("by head %+v, by row tile %+v", e.ByHead, e.ByRowTile)
	}
	if s := e.String(); !strings.HasPrefix(s, "1 of 3 not finite, 1 above 0; worst at [0,1,37,2]: NaN, want 1") {
		t.Error(s)
	}
	if s := compare(t, r, output(t, r, nil), CompareOptions{}).String(); !strings.HasPrefix(s, "max 0, mean 0, rmse 0, 0 of 240 above 0") {
		t.Error(s)
	}
}

// TestNotFinite checks that a NaN or an infinity is an error on either side, and that
// means do not hide it.
func TestNotFinite(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name      string
		want, got float64
		bad       int
	}{
		{"NaN in the output", 1, nan, 1},
		{"infinity in the output", 1, inf, 1},
		{"NaN in the reference", nan, 1, 1},
		{"NaN in both", nan, nan, 1},
		{"infinities of different signs", inf, -inf, 1},
		{"the same infinity", inf, inf, 0},
	} {
		r := known()
		r.O[r.Dims().Row(0, 1, 4)*3] = c.want
		e := compare(t, r, output(t, r, map[[3]int]float64{{1, 4, 0}: c.got, {0, 0, 0}: 100}), CompareOptions{Tol: 1000})
		if e.Bad != c.bad || e.NotFinite != c.bad {
			t.Errorf("%s: %v", c.name, e)
		}
		if c.bad > 0 {
			for _, v := range []float64{e.Max, e.Mean, e.RMSE, e.ByHead[1].Max, e.ByHead[1].Mean} {
				if v != math.MaxFloat64 {
					t.Errorf("%s: the error is %v, want the largest float64", c.name, v)
				}
			}
			if e.Worst.S != 4 || e.ByHead[0].Max != 99 {
				t.Errorf("%s: the worst element is %+v, the largest error of head 0 is %v", c.name, e.Worst, e.ByHead[0].Max)
			}
		}
	}
}

func TestErrorsJSON(t *testing.T) {
	r := known()
	r.O[0] = math.Inf(-1)
	e := compare(t, r, output(t, r, map[[3]int]float64{{0, 0, 0}: math.NaN()}), CompareOptions{})
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"want":"-Inf","got":"NaN"`) {
		t.Errorf("%s", text)
	}
	var back Errors
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(float64(back.Worst.Got)) || !math.IsInf(float64(back.Worst.Want), -1) {
		t.Errorf("worst comes back as %+v", back.Worst)
	}
	back.Worst, e.Worst = Element{}, Element{}
	if !reflect.DeepEqual(&back, e) {
		t.Errorf("%+v comes back as %+v", e, back)
	}
}

func TestCompareLSE(t *testing.T) {
	r := known()
	r.LSE[79] = math.Inf(-1)
	got := make([]float32, 80)
	for i := range got {
		got[i] = 2
	}
	got[79] = float32(math.Inf(-1))
	e, err := r.CompareLSE(got, CompareOptions{})
	if err != nil || e.Max != 0 || e.Elements != 80 {
		t.Errorf("%v, %v", e, err)
	}
	got[79] = 2
	if e, err = r.CompareLSE(got, CompareOptions{}); err != nil || e.NotFinite != 1 || e.Worst.S != 39 {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := r.CompareLSE(got[1:], CompareOptions{}); err == nil {
		t.Error("79 numbers for 80 rows were accepted")
	}
}

func TestLengths(t *testing.T) {
	r := known()
	d := r.Dims()
	short := d
	short.S--
	if _, err := r.Compare(&Floats{short, make([]float32, short.Len())}, CompareOptions{}); err == nil || !strings.Contains(err.Error(), "the output is [1,2,39,3], it must be [1,2,40,3]") {
		t.Errorf("a short output gives %v", err)
	}
	for _, try := range []func() error{
		func() error { _, err := F32(d, make([]float32, d.Len()-1)); return err },
		func() error { _, err := F16(d, make([]byte, 2*d.Len()-1)); return err },
		func() error { _, err := BF16(d, make([]byte, 2*d.Len()+2)); return err },
		func() error { _, err := F32(fp8.Dims{}, nil); return err },
		func() error { _, err := r.Compare(r, CompareOptions{Tol: -1}); return err },
		func() error { _, err := r.Compare(r, CompareOptions{Tol: math.NaN()}); return err },
		func() error { _, err := r.Compare(r, CompareOptions{RowTile: -1}); return err },
	} {
		if try() == nil {
			t.Error("a wrong length or option was accepted")
		}
	}
}

func TestHalfTensors(t *testing.T) {
	d := fp8.Dims{B: 1, H: 1, S: 2, D: 2}
	row := make([]float64, 2)
	for name, c := range map[string]struct {
		make func(fp8.Dims, []byte) (Tensor, error)
		data []byte
	}{
		"f16":  {F16, []byte{0, 0, 0, 0, 0x00, 0x3c, 0x00, 0xc2}},
		"bf16": {BF16, []byte{0, 0, 0, 0, 0x80, 0x3f, 0x40, 0xc0}},
	} {
		x, err := c.make(d, c.data)
		if err != nil {
			t.Fatal(err)
		}
		x.Row(0, 0, 1, row)
		if !slices.Equal(row, []float64{1, -3}) || x.Dims() != d {
			t.Errorf("%s: %v %v", name, row, x.Dims())
		}
	}
}
