package ref

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// plain computes one row of attention directly from the definition: all logits, their
// maximum, the weights, and the weighted mean of V.
func plain(q, k, v Tensor, opt Options, at Row) (o []float64, lse float64) {
	return weighted(q, k, v, opt, at, func(int) float64 { return 1 })
}

// weighted is plain with the weight of each key multiplied by times(key).
func weighted(q, k, v Tensor, opt Options, at Row, times func(key int) float64) (o []float64, lse float64) {
	s, _ := shapeOf(q, k, v)
	row := func(t Tensor, h, i int) []float64 {
		x := make([]float64, t.Dims().D)
		t.Row(at.B, h, i, x)
		return x
	}
	qr, h := row(q, at.H, at.S), at.H*s.Hkv/s.Hq
	scale := opt.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(s.D))
	}
	logits := make([]float64, s.Skv)
	m := math.Inf(-1)
	if opt.Sinks != nil {
		m = opt.Sinks[at.H]
	}
	for j := range s.Skv {
		logits[j] = math.Inf(-1)
		away := j - (at.S + s.Skv - s.Sq) // the distance from the query's own key
		if opt.Causal && away > 0 || opt.Window.Left() >= 0 && -away > opt.Window.Left() || opt.Window.Right() >= 0 && away > opt.Window.Right() {
			continue
		}
		if j >= s.Skv-opt.Hidden || opt.Mask != nil && !opt.Mask.Visible[at.B*s.Sq*s.Skv+at.S*s.Skv+j] {
			continue
		}
		dot := 0.0
		for i, x := range row(k, h, j) {
			dot += qr[i] * x
		}
		logits[j] = dot * scale
		if c := opt.Softcap; c != 0 {
			logits[j] = c * math.Tanh(dot*scale/c)
		}
		if opt.Bias != nil {
			logits[j] += opt.Bias.Values[((at.B*s.Hq+at.H)*s.Sq+at.S)*s.Skv+j]
		}
		m = max(m, logits[j])
	}
	o = make([]float64, v.Dims().D)
	if math.IsInf(m, -1) {
		return o, m
	}
	l := 0.0
	if opt.Sinks != nil {
		l = math.Exp(opt.Sinks[at.H] - m)
	}
	for j, x := range logits {
		w := math.Exp(x-m) * times(j)
		l += w
		for i, y := range row(v, h, j) {
			o[i] += w * y
		}
	}
	for i := range o {
		o[i] /= l
	}
	return o, m + math.Log(l)
}

func generate(t testing.TB, name string, seed uint64, s problem.Shape) *Inputs {
	t.Helper()
	in, err := Generate(name, seed, s)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func attention(t testing.TB, q, k, v Tensor, opt Options) *Result {
	t.Helper()
	r, err := Attention(context.Background(), q, k, v, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAttention(t *testing.T) {
	for _, s := range []problem.Shape{
		problem.Square(1, 1, 1, 64), problem.Square(2, 3, 17, 8), problem.Square(1, 2, 129, 64), problem.Square(1, 1, 300, 5), problem.Square(1, 1, 3, 1),
		{B: 2, Hq: 6, Hkv: 2, Sq: 33, Skv: 100, D: 16}, {B: 1, Hq: 4, Hkv: 1, Sq: 100, Skv: 33, D: 16}, {B: 1, Hq: 2, Hkv: 2, Sq: 1, Skv: 257, D: 4},
		{B: 2, Hq: 4, Hkv: 2, Sq: 5, Skv: 131, D: 24, DV: 16}, {B: 1, Hq: 2, Hkv: 1, Sq: 130, Skv: 9, D: 3, DV: 10}, {B: 1, Hq: 1, Hkv: 1, Sq: 2, Skv: 7, D: 8, DV: 1},
	} {
		for _, dist := range []string{"normal", "large-logits", "rising", "falling", "zeros"} {
			in := generate(t, dist, 7, s)
			sinks := []float64{-3, 0.5, 40, 0, -1, math.Inf(-1)}[:s.Hq]
			for _, opt := range []Options{
				{}, {Causal: true}, {Scale: 0.5}, {Window: problem.NewWindow(5, 2)}, {Window: problem.NewWindow(0, 0)}, {Window: problem.NewWindow(-1, 3)},
				{Window: problem.NewWindow(140, -1)}, {Softcap: 3}, {Sinks: sinks}, {Window: problem.NewWindow(9, 0), Softcap: 20, Sinks: sinks, Scale: 0.3},
			} {
				check(t, fmt.Sprintf("%s of %v %+v", dist, s, opt), in.Q, in.K, in.V, opt)
			}
		}
		in, err := generate(t, "outliers", 1, s).Quantise(fp8.E4M3, fp8.PerHead)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "quantised", in.Q, in.K, in.V, Options{})
	}
}

func check(t *testing.T, name string, q, k, v Tensor, opt Options) {
	t.Helper()
	r := attention(t, q, k, v, opt)
	if len(r.Rows) != q.Dims().Rows() {
		t.Fatalf("%s: %d rows", name, len(r.Rows))
	}
	for i, at := range r.Rows {
		want, lse := plain(q, k, v, opt, at)
		if got := r.LSE[i]; got != lse && !(math.Abs(got-lse) <= 1e-12) {
			t.Fatalf("%s: the LSE of %v is %v, want %v", name, at, got, lse)
		}
		if len(want)*len(r.Rows) != len(r.O) || r.Dims().D != len(want) {
			t.Fatalf("%s: %d numbers in %d rows, O is %v", name, len(r.O), len(r.Rows), r.Dims())
		}
		for d, w := range want {
			if got := r.O[i*len(want)+d]; !(math.Abs(got-w) <= 1e-12) {
				t.Fatalf("%s: %v column %d is %v, want %v", name, at, d, got, w)
			}
		}
	}
}

// TestMask compares masks of two sequences, one of which hides everything from a row, and keys
// that no row sees.
func TestMask(t *testing.T) {
	s := problem.Shape{B: 2, Hq: 2, Hkv: 1, Sq: 6, Skv: 150, D: 4}
	in := generate(t, "normal", 3, s)
	mask := &Mask{s.Sq, s.Skv, make([]bool, s.B*s.Sq*s.Skv)}
	for i := range mask.Visible {
		mask.Visible[i] = i*i%11 > 3 && i/s.Skv != 8
	}
	for _, opt := range []Options{{Mask: mask}, {Mask: mask, Causal: true}, {Mask: mask, Sinks: []float64{math.Inf(-1), 1}}, {Hidden: 1}, {Hidden: 40, Causal: true}, {Hidden: 149}} {
		check(t, fmt.Sprintf("%+v", opt), in.Q, in.K, in.V, opt)
	}
	short := &Mask{s.Sq, s.Skv, mask.Visible[1:]}
	if _, err := Attention(t.Context(), in.Q, in.K, in.V, Options{Mask: short}); err == nil || !strings.Contains(err.Error(), "which needs 1800") {
		t.Errorf("a mask that is too short: %v", err)
	}
}

// TestBias compares biases that differ by sequence and head. Some hide keys, and one row sees none.
func TestBias(t *testing.T) {
	s := problem.Shape{B: 2, Hq: 2, Hkv: 1, Sq: 6, Skv: 150, D: 4}
	in := generate(t, "normal", 3, s)
	bias := &Bias{s.Hq, s.Sq, s.Skv, make([]float64, s.B*s.Hq*s.Sq*s.Skv)}
	for i := range bias.Values {
		bias.Values[i] = float64(i*i%23)/4 - 2
		if i%7 == 0 || i/s.Skv == 5 {
			bias.Values[i] = math.Inf(-1)
		}
	}
	for _, opt := range []Options{{Bias: bias}, {Bias: bias, Causal: true, Softcap: 2}, {Bias: bias, Sinks: []float64{math.Inf(-1), 1}}} {
		check(t, fmt.Sprintf("causal %t, softcap %g", opt.Causal, opt.Softcap), in.Q, in.K, in.V, opt)
	}
	short := &Bias{s.Hq, s.Sq, s.Skv, bias.Values[1:]}
	if _, err := Attention(t.Context(), in.Q, in.K, in.V, Options{Bias: short}); err == nil || !strings.Contains(err.Error(), "which needs 3600") {
		t.Errorf("a bias that is too short: %v", err)
	}
}

// TestRotated wants columns to be rotated together: a quarter turn moves the first to the second.
func TestRotated(t *testing.T) {
	x, err := F32(fp8.Dims{B: 1, H: 1, S: 2, D: 4}, []float32{1, 2, 3, 4, 5, 6, 7, 8})
	if err != nil {
		t.Fatal(err)
	}
	cos, sin := []float32{1, 1, 0, 1}, []float32{0, 0, 1, 0} // position 1 turns the first angle
	for by, want := range map[problem.Rotation][]float64{problem.RotatePairs: {-6, 5, 7, 8}, problem.RotateHalves: {-7, 6, 5, 8}} {
		r := &Rotated{Tensor: x, By: by, Cos: cos, Sin: sin, Position: func(_, s int) int { return s }}
		row := make([]float64, 4)
		if r.Row(0, 0, 1, row); !slices.Equal(row, want) {
			t.Errorf("%s: %v, want %v", by, row, want)
		}
		if r.Row(0, 0, 0, row); !slices.Equal(row, []float64{1, 2, 3, 4}) {
			t.Errorf("%s: position 0 is turned: %v", by, row)
		}
	}
}

// TestResultRow: a row that was not computed is NaN, not the row of another place.
func TestResultRow(t *testing.T) {
	in := generate(t, "normal", 3, problem.Square(2, 2, 3, 2))
	some := attention(t, in.Q, in.K, in.V, Options{Rows: []Row{{1, 1, 2}}}) // the only row of its sequence and head
	all := attention(t, in.Q, in.K, in.V, Options{})
	got, want := []float64{7, 7}, make([]float64, 2)
	all.Row(1, 1, 2, want)
	if some.Row(1, 1, 2, got); !slices.Equal(got, want) {
		t.Errorf("the row is %v, want %v", got, want)
	}
	backwards := slices.Clone(all.Rows)
	slices.Reverse(backwards)
	other := attention(t, in.Q, in.K, in.V, Options{Rows: backwards})
	if other.Row(1, 1, 2, got); !slices.Equal(got, want) {
		t.Errorf("of all rows in another order, the row is %v, want %v", got, want)
	}
	if some.Row(0, 0, 0, got); !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
		t.Errorf("a row that was not computed is %v", got)
	}
	for _, row := range []Row{{-1, 0, 0}, {2, 0, 0}, {0, -1, 0}, {0, 2, 0}, {0, 0, -1}, {0, 0, 3}} {
		if _, err := Attention(t.Context(), in.Q, in.K, in.V, Options{Rows: []Row{row}}); err == nil {
			t.Errorf("row %v is accepted", row)
		}
	}
}

// TestSomeRows checks that a run on selected rows gives the same bits as a run on all
// rows.
func TestSomeRows(t *testing.T) {
	s := problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 150, Skv: 200, D: 8, DV: 6}
	in := generate(t, "normal", 3, s)
	all := attention(t, in.Q, in.K, in.V, Options{})
	some := attention(t, in.Q, in.K, in.V, Options{Rows: Rows(problem.Attention{Shape: s}, 40, 1)})
	if len(some.Rows) != 40 {
		t.Fatalf("%d rows", len(some.Rows))
	}
	for i, at := range some.Rows {
		j := s.Q().Row(at.B, at.H, at.S)
		if !slices.Equal(some.O[i*s.DV:][:s.DV], all.O[j*s.DV:][:s.DV]) || some.LSE[i] != all.LSE[j] {
			t.Errorf("row %v differs", at)
		}
	}
}

func TestRows(t *testing.T) {
	s := problem.Square(2, 3, 1000, 64)
	rows := Rows(problem.Attention{Shape: s}, 100, 5)
	if len(rows) != 100 || !slices.Equal(rows, Rows(problem.Attention{Shape: s}, 100, 5)) || slices.Equal(rows, Rows(problem.Attention{Shape: s}, 100, 6)) {
		t.Errorf("got %d rows, want 100; the same seed must give the same rows, another seed other rows", len(rows))
	}
	for _, want := range []Row{{0, 0, 0}, {0, 0, 999}, {1, 2, 0}, {1, 2, 999}, {0, 0, 960}, {1, 2, 64}} {
		if !slices.Contains(rows, want) {
			t.Errorf("row %v was not selected", want)
		}
	}
	seen := map[Row]bool{}
	for _, r := range rows {
		seen[r] = true
		if r.B < 0 || r.B > 1 || r.H < 0 || r.H > 2 || r.S < 0 || r.S > 999 {
			t.Errorf("row %v is outside the shape", r)
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d different rows, want 100", len(seen))
	}
	if got := Rows(problem.Attention{Shape: s}, 5, 0); len(got) != 5 {
		t.Errorf("asked for fewer rows than there are edges: %v", got)
	}
	if got := Rows(problem.Attention{Shape: s}, 1<<20, 0); len(got) != 6000 {
		t.Errorf("got %d rows, want all 6000", len(got))
	}
	// Records name rows by their number and a seed only, so the choice must never change.
	want := "[{0 0 0} {0 0 3} {0 0 4} {0 0 6} {0 1 1} {1 1 0} {1 1 1} {1 1 3} {1 1 5} {1 1 6}]"
	if got := fmt.Sprint(Rows(problem.Attention{Shape: problem.Square(2, 2, 7, 1)}, 10, 5)); got != want {
		t.Errorf("rows %v, want %v", got, want)
	}
	ragged := problem.Attention{Shape: problem.Square(3, 2, 200, 64), Queries: problem.Packed, Batch: problem.Batch{LengthsQ: problem.NewLengths([]int{0, 77, 150})}}
	got := Rows(ragged, 30, 1)
	for _, r := range got {
		if r.S < 0 || r.S >= []int{0, 77, 150}[r.B] {
			t.Errorf("row %v is beyond its sequence", r)
		}
	}
	for _, last := range []Row{{1, 0, 76}, {2, 0, 149}} {
		if len(got) != 30 || !slices.Contains(got, last) {
			t.Errorf("%d rows without the last row of a sequence, %v", len(got), last)
		}
	}
	if got := Rows(problem.Attention{Shape: problem.Square(1, 1, 3, 1)}, 2, 0); len(got) != 2 {
		t.Errorf("asked for two rows of three, got %v", got)
	}
}

func TestAttentionRefuses(t *testing.T) {
	in := generate(t, "zeros", 0, problem.Square(1, 2, 4, 8))
	other := generate(t, "zeros", 0, problem.Square(1, 2, 4, 16))
	three := generate(t, "zeros", 0, problem.Square(1, 3, 4, 8))
	for want, try := range map[string]func() (*Result, error){
		"only the columns may differ": func() (*Result, error) { return Attention(context.Background(), in.Q, in.K, three.V, Options{}) },
		"batch and columns":           func() (*Result, error) { return Attention(context.Background(), in.Q, other.K, other.V, Options{}) },
		"evenly":                      func() (*Result, error) { return Attention(context.Background(), in.Q, three.K, three.V, Options{}) },
		"outside": func() (*Result, error) {
			return Attention(context.Background(), in.Q, in.K, in.V, Options{Rows: []Row{{0, 2, 0}}})
		},
	} {
		if _, err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Attention(ctx, in.Q, in.K, in.V, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gives %v", err)
	}
}

// TestNaNStays checks that a NaN in V reaches all rows of its head.
func TestNaNStays(t *testing.T) {
	in := generate(t, "normal", 0, problem.Square(1, 2, 5, 4))
	in.V.row(0, 1, 3)[2] = float32(math.NaN())
	r := attention(t, in.Q, in.K, in.V, Options{})
	for i, at := range r.Rows {
		for d, o := range r.O[i*4:][:4] {
			if math.IsNaN(o) != (at.H == 1 && d == 2) {
				t.Errorf("%v column %d is %v", at, d, o)
			}
		}
	}
}

// TestNoWeight checks that a key with the logit -∞ has no effect on the output, like a masked
// key. A row that has only such keys is zero, and its LSE is -∞.
func TestNoWeight(t *testing.T) {
	const keys = 2*tileKV + 5
	for name, hidden := range map[string]func(key int) bool{
		"all":        func(int) bool { return true },
		"first tile": func(key int) bool { return key < tileKV },
		"last tile":  func(key int) bool { return key >= tileKV },
	} {
		in := generate(t, "normal", 0, problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: 5, Skv: keys, D: 4})
		for i := range 5 {
			in.Q.row(0, 0, i)[0] = 1
		}
		var seen []int
		for key := range keys {
			if hidden(key) {
				in.K.row(0, 0, key)[0] = float32(math.Inf(-1))
			} else {
				seen = append(seen, key)
			}
		}
		r := attention(t, in.Q, in.K, in.V, Options{})
		if len(seen) == 0 {
			for i := range r.Rows {
				if !math.IsInf(r.LSE[i], -1) || !slices.Equal(r.O[i*4:][:4], make([]float64, 4)) {
					t.Errorf("%s: row %d is %v with an LSE of %v", name, i, r.O[i*4:][:4], r.LSE[i])
				}
			}
			continue
		}
		few := generate(t, "normal", 0, problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: 5, Skv: len(seen), D: 4})
		for i, key := range seen {
			copy(few.K.row(0, 0, i), in.K.row(0, 0, key))
			copy(few.V.row(0, 0, i), in.V.row(0, 0, key))
		}
		want := attention(t, in.Q, few.K, few.V, Options{})
		for i, o := range r.O {
			if !(math.Abs(o-want.O[i]) <= 1e-13) {
				t.Errorf("%s: element %d is %v, want %v", name, i, o, want.O[i])
			}
		}
	}
}

// TestU8 compares the two u8 formats. The quantiser of u8-legacy does not match the
// kernel's decoding, which makes its mean error several times as large.
func TestU8(t *testing.T) {
	s, err := problem.ParseShape("mission")
	if err != nil {
		t.Fatal(err)
	}
	in := generate(t, "normal", 0, s)
	opt := Options{Rows: Rows(problem.Attention{Shape: s}, 512, 0)}
	want := attention(t, in.Q, in.K, in.V, opt)
	for _, c := range []struct {
		f                  fp8.Format
		maxBelow, meanFrom float64
		meanBelow          float64
	}{
		{fp8.U8, 0.012, 0, 0.002},
		{fp8.U8Legacy, 0.06, 0.01, 0.02},
	} {
		in, err := in.Quantise(c.f, fp8.PerHead)
		if err != nil {
			t.Fatal(err)
		}
		r := attention(t, in.Q, in.K, in.V, opt)
		e, err := want.Compare(r, CompareOptions{Tol: 0.06})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %v", c.f, e)
		if e.Max > c.maxBelow || e.Mean < c.meanFrom || e.Mean > c.meanBelow || e.Bad > 0 {
			t.Errorf("%v: %v; want a largest error of at most %v and a mean between %v and %v", c.f, e, c.maxBelow, c.meanFrom, c.meanBelow)
		}
	}
}

func BenchmarkAttention(b *testing.B) {
	s, _ := problem.ParseShape("mission")
	in := generate(b, "normal", 0, s)
	for b.Loop() {
		attention(b, in.Q, in.K, in.V, Options{})
	}
	b.ReportMetric(s.FLOP()*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
}

// TestBatchAndMask compares sequences of different lengths, and a mask in memory, with attention
// over each sequence alone.
func TestBatchAndMask(t *testing.T) {
	s := problem.Shape{B: 3, Hq: 2, Hkv: 1, Sq: 5, Skv: 150, D: 4}
	in, err := Generate("normal", 3, s)
	if err != nil {
		t.Fatal(err)
	}
	lengthsQ, lengthsKV := []int{5, 2, 3}, []int{7, 150, 0}
	mask := &Mask{s.Sq, s.Skv, make([]bool, s.B*s.Sq*s.Skv)}
	for i := range mask.Visible {
		mask.Visible[i] = i*i%11 > 3 // of no period that a wrong index could share
	}
	opt := Options{Causal: true, Mask: mask, Batch: problem.Batch{LengthsQ: problem.NewLengths(lengthsQ), LengthsKV: problem.NewLengths(lengthsKV)}}
	r := attention(t, in.Q, in.K, in.V, opt)
	if len(r.Rows) != 2*(5+2+3) {
		t.Fatalf("%d rows", len(r.Rows))
	}
	row, vr := make([]float64, s.D), make([]float64, s.D)
	for i, at := range r.Rows {
		q, o, l := make([]float64, s.D), make([]float64, s.D), 0.0
		in.Q.Row(at.B, at.H, at.S, q)
		for j := range lengthsKV[at.B] {
			if j > at.S+lengthsKV[at.B]-lengthsQ[at.B] || !mask.Visible[(at.B*s.Sq+at.S)*s.Skv+j] {
				continue
			}
			in.K.Row(at.B, 0, j, row)
			in.V.Row(at.B, 0, j, vr)
			x := 0.0
			for c := range q {
				x += q[c] * row[c]
			}
			w := math.Exp(x / 2)
			l += w
			for c := range o {
				o[c] += w * vr[c]
			}
		}
		r.Row(at.B, at.H, at.S, row)
		for c := range o {
			want := 0.0
			if l > 0 {
				want = o[c] / l
			}
			if !(math.Abs(row[c]-want) <= 1e-12) {
				t.Fatalf("row %v, column %d: %v, want %v", at, c, row[c], want)
			}
		}
		if want := math.Log(l); r.LSE[i] != want && !(math.Abs(r.LSE[i]-want) <= 1e-12) {
			t.Errorf("row %v: LSE %v, want %v", at, r.LSE[i], want)
		}
	}
	if some := Rows(problem.Attention{Shape: s, Queries: problem.Packed, Batch: opt.Batch}, 8, 1); len(some) != 8 || slices.ContainsFunc(some, func(r Row) bool { return r.S >= lengthsQ[r.B] }) {
		t.Errorf("some rows: %v", some)
	}
	opt.Batch.LengthsQ = "1,2"
	if _, err := Attention(t.Context(), in.Q, in.K, in.V, opt); err == nil {
		t.Error("two lengths for a batch of three")
	}
}

// TestMaskBytes: bit j%8 of byte j/8 belongs to key j, and rows begin at whole bytes.
func TestMaskBytes(t *testing.T) {
	m := &Mask{Sq: 2, Skv: 9, Visible: make([]bool, 18)}
	for _, i := range []int{0, 3, 8, 9 + 7} {
		m.Visible[i] = true
	}
	if got, want := m.Bytes(false), []byte{1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := m.Bytes(true), []byte{0x09, 0xff, 0x80, 0xfe}; !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}
