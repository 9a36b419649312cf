package ref

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// golden holds the start of the SHA-256 of each distribution for seed 1 and oddShape.
// The hashes must be the same on every machine and must never change.
var golden = map[string]string{
	"normal":       "8a6caeb6b49b8709",
	"uniform":      "feacc6175207126c",
	"outliers":     "2b6784113afe8a2a",
	"large-logits": "5242ed022256f63c",
	"ties":         "4bec9d13c9bace9a",
	"one-hot":      "75250d4e5d7471ee",
	"constant-v":   "0223a69ad2c031b7",
	"biased-v":     "81c21a198e46c46a",
	"rising":       "28f31ad5a9bff4fc",
	"falling":      "2a99d719640b7224",
	"negative":     "969b259ec70d2d66",
	"steps":        "a64a743d2bc23a16",
	"equal":        "29711629e9b4f53b",
	"equal-half":   "89051a7acf611d67",
	"heads":        "3e35c0d27f2f7d1a",
	"large-q":      "089553b0b0e5c9d6",
	"large-k":      "3b3a5cb9c5d402c2",
	"large-scales": "feaacad7ce64ba1b",
	"large-v":      "9d37b084522952c4",
	"small-v":      "7af3feb993bdb5c1",
	"sink":         "71ff78d7f07d4ceb",
	"flat":         "ecbcd5b55dfd97c9",
	"subnormal":    "d2cdcfc7ca00e950",
	"sparse":       "ab1497a32d90882b",
	"tiny":         "45fbdb5ad43c097b",
	"zeros":        "881558fddf4e19ef",
}

var oddShape = problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 33, Skv: 45, D: 17}

func TestGolden(t *testing.T) {
	for _, d := range Distributions() {
		in := generate(t, d.Name, 1, oddShape)
		hash := sha256.New()
		for _, x := range []*Floats{in.Q, in.K, in.V} {
			for _, v := range x.Data {
				hash.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
			}
		}
		if got := hex.EncodeToString(hash.Sum(nil)[:8]); got != golden[d.Name] {
			t.Errorf("%s: %q, want %q", d.Name, got, golden[d.Name])
		}
	}
}

// TestGoldenDeviates hashes all bits of the float64 deviates, including those that the
// rounding to half precision removes.
func TestGoldenDeviates(t *testing.T) {
	hash := sha256.New()
	s := newStream(1, 2)
	for i := range uint64(1 << 16) {
		a, b := s.normalPair(i)
		for _, v := range []float64{a, b, s.uniform(i)} {
			hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	if got, want := hex.EncodeToString(hash.Sum(nil)[:8]), "5232daaf0d845991"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHalvesOnly checks that all numbers are half-precision numbers, and that different
// seeds and tensors give different numbers.
func TestHalvesOnly(t *testing.T) {
	for _, d := range Distributions() {
		in, other := generate(t, d.Name, 0, oddShape), generate(t, d.Name, 2, oddShape)
		for _, x := range []*Floats{in.Q, in.K, in.V} {
			for _, v := range x.Data {
				if fp8.FromF16(fp8.F16(v)) != v || math.IsInf(float64(v), 0) {
					t.Fatalf("%s: %v is not a half-precision number", d.Name, v)
				}
			}
		}
		if d.Name == "zeros" {
			continue
		}
		if slices.Equal(in.Q.Data, other.Q.Data) || slices.Equal(in.K.Data, other.K.Data) || slices.Equal(in.V.Data, other.V.Data) || slices.Equal(in.K.Data, in.V.Data) {
			t.Errorf("%s: two seeds or two tensors have the same numbers", d.Name)
		}
	}
}

// TestNormal compares moments and tails with those of the normal distribution. The
// seed is fixed, so the result is the same in every run.
func TestNormal(t *testing.T) {
	in := generate(t, "normal", 0, problem.Square(1, 1, 1<<14, 64))
	n := float64(len(in.Q.Data))
	var m [5]float64
	beyond := [6]float64{}
	for _, v := range in.Q.Data {
		x := float64(v)
		for i := range m {
			m[i] += math.Pow(x, float64(i)) / n
		}
		for i := range beyond {
			if !(math.Abs(x) <= float64(i)) {
				beyond[i] += 1 / n
			}
		}
	}
	for i, want := range []float64{1, 0, 1, 0, 3} {
		if !(math.Abs(m[i]-want) <= 0.015) {
			t.Errorf("moment %d is %v, want %v", i, m[i], want)
		}
	}
	for i := 1; i < len(beyond); i++ {
		want := math.Erfc(float64(i) / math.Sqrt2)
		if slack := 4 * math.Sqrt(want/n); !(math.Abs(beyond[i]-want) <= slack+0.001*want*float64(i)) {
			t.Errorf("a share of %v of the numbers is beyond ±%d, want %v", beyond[i], i, want)
		}
	}
	// Neighbours in a pair, in a column and between tensors must not be correlated.
	for name, c := range map[string]float64{
		"pairs":   correlation(in.Q.Data, in.Q.Data[1:]),
		"rows":    correlation(in.Q.Data, in.Q.Data[64:]),
		"tensors": correlation(in.Q.Data, in.K.Data),
		"squares": correlation(squares(in.Q.Data), squares(in.Q.Data[1:])),
	} {
		if !(math.Abs(c) <= 5/math.Sqrt(n)) {
			t.Errorf("correlation of %s is %v", name, c)
		}
	}
}

func squares(x []float32) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = v*v - 1
	}
	return y
}

func correlation(x, y []float32) float64 {
	var xy, xx, yy float64
	for i := range min(len(x), len(y)) {
		a, b := float64(x[i]), float64(y[i])
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
	}
	return xy / math.Sqrt(xx*yy)
}

func TestUniform(t *testing.T) {
	in := generate(t, "uniform", 0, problem.Square(1, 1, 1<<12, 64))
	var bins [16]int
	for _, v := range in.K.Data {
		if v < -1 || v > 1 {
			t.Fatalf("%v is outside [-1, 1]", v)
		}
		bins[min(int((float64(v)+1)*8), 15)]++
	}
	for i, n := range bins {
		if want := 1 << 14; !(math.Abs(float64(n-want)) <= 700) {
			t.Errorf("bin %d has %d, want about %d", i, n, want)
		}
	}
}

func TestLn(t *testing.T) {
	s := newStream(0, 0)
	for i := range uint64(10000) {
		x := (s.uniform(i) + 1.0000001) / 2
		for _, y := range []float64{x, x * 0x1p-40, 1 - x*0x1p-20} {
			if got, want := ln(y), math.Log(y); !(math.Abs(got-want) <= 4e-16*math.Max(math.Abs(want), 0.5)) {
				t.Fatalf("ln %v = %v, want %v", y, got, want)
			}
		}
	}
}

// TestMeaning checks that each distribution has the property that its description
// promises.
func TestMeaning(t *testing.T) {
	s := problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 70, Skv: 200, D: 64}
	eachRow := func(name string, check func(in *Inputs, at Row, o []float64, logits []float64) bool) {
		t.Helper()
		in := generate(t, name, 0, s)
		r := attention(t, in.Q, in.K, in.V, Options{})
		for i, at := range r.Rows {
			if !check(in, at, r.O[i*s.D:][:s.D], logitsOf(in, at)) {
				t.Errorf("%s: row %v does not have the property of the distribution", name, at)
				return
			}
		}
	}
	near := func(o []float64, v []float32, tol float64) bool {
		for i := range o {
			if !(math.Abs(o[i]-float64(v[i])) <= tol) {
				return false
			}
		}
		return true
	}
	argmax := func(x []float64) int { return slices.Index(x, slices.Max(x)) }
	eachRow("one-hot", func(in *Inputs, at Row, o, logits []float64) bool {
		return near(o, in.V.row(at.B, s.HeadKV(at.H), argmax(logits)), 1e-6)
	})
	eachRow("constant-v", func(in *Inputs, at Row, o, _ []float64) bool {
		return near(o, in.V.row(at.B, s.HeadKV(at.H), 123), 1e-12)
	})
	eachRow("ties", func(_ *Inputs, _ Row, _, logits []float64) bool {
		most := slices.Max(logits)
		n := 0
		for _, x := range logits {
			if x == most {
				n++
			}
		}
		return n >= s.Skv/4
	})
	eachRow("rising", func(_ *Inputs, _ Row, _, logits []float64) bool { return argmax(logits) >= 180 })
	eachRow("falling", func(_ *Inputs, _ Row, _, logits []float64) bool { return argmax(logits) < 20 })
	late := 0 // rows whose maximum grows by more than 32 powers of 2 after the first 64 keys
	eachRow("steps", func(_ *Inputs, _ Row, _, logits []float64) bool {
		if slices.Max(logits)-slices.Max(logits[:64]) > 32*math.Ln2 {
			late++
		}
		return slices.Max(logits) > 0
	})
	if n := s.Q().Rows(); late < n/20 || late > n/2 {
		t.Errorf("steps: the maximum of %d of %d rows grows much after the first 64 keys", late, n)
	}
	low, rows, opposite := 0, 0, 0 // low: rows whose weights are all zero in float32 if the maximum is not subtracted
	eachRow("negative", func(_ *Inputs, at Row, _, logits []float64) bool {
		if at.H%2 == 1 && slices.Min(logits) > 0 {
			opposite++
			return slices.Min(logits) > 50
		}
		rows++
		if slices.Max(logits) < -150*math.Ln2 {
			low++
		}
		return slices.Max(logits) < -50 && slices.Max(logits)-slices.Min(logits) > 1
	})
	if low < rows*9/10 || opposite < s.Q().Rows()/8 || rows < s.Q().Rows()/2 {
		t.Errorf("negative: the logits of only %d of %d rows are small enough, and %d rows have positive ones", low, rows, opposite)
	}
	eachRow("zeros", func(_ *Inputs, _ Row, o, _ []float64) bool { return slices.Max(o) == 0 })
	eachRow("biased-v", func(_ *Inputs, _ Row, o, _ []float64) bool {
		return !slices.ContainsFunc(o, func(x float64) bool { return !(math.Abs(x) > 0.8) || !(math.Abs(x) < 1.2) })
	})
	eachRow("large-scales", func(in *Inputs, at Row, _, logits []float64) bool {
		q := in.Q.row(at.B, at.H, at.S)
		return math.Abs(float64(q[0])) == largest && !slices.ContainsFunc(logits, func(x float64) bool { return !(math.Abs(x) < 8) })
	})
	eachRow("subnormal", func(in *Inputs, at Row, o, logits []float64) bool {
		h := s.HeadKV(at.H)
		unseen := slices.Index(logits, slices.Min(logits))
		for j := range logits {
			for _, x := range in.V.row(at.B, h, j) {
				if small := math.Abs(float64(x)) <= 15.0/(1<<12); small != (j != unseen) {
					return false
				}
			}
		}
		return logits[unseen] < -5000 && slices.Max(o) < 1.0/64 && slices.Max(in.K.row(at.B, h, unseen)) < 2
	})
	eachRow("large-v", func(_ *Inputs, _ Row, o, _ []float64) bool { return slices.Max(o) > 256 && slices.Max(o) < 65504 })
	eachRow("small-v", func(_ *Inputs, _ Row, o, _ []float64) bool { return slices.Max(o) > 0 && slices.Max(o) < 1.0/512 })
	eachRow("sink", func(_ *Inputs, _ Row, _, logits []float64) bool {
		first, others := math.Exp(logits[0]), 0.0
		for _, x := range logits[1:] {
			others += math.Exp(x)
		}
		return slices.Max(logits[1:]) < logits[0]-2 && first > 0.05*others && first < 2*others
	})
	eachRow("flat", func(_ *Inputs, _ Row, _, logits []float64) bool {
		half := (len(logits) + 1) / 2
		return slices.Max(logits) < 0.1 && slices.Min(logits) > -0.1 && slices.Max(logits) > 0 && slices.Max(logits[half:]) == 0 && slices.Min(logits[half:]) == 0
	})
	overflows := 0
	eachRow("large-logits", func(_ *Inputs, _ Row, _, logits []float64) bool {
		if slices.Max(logits) > 89 { // e^89 overflows a float32
			overflows++
		}
		return true
	})
	if overflows < s.Q().Rows()/2 {
		t.Errorf("large-logits: only %d rows would overflow", overflows)
	}
}

func logitsOf(in *Inputs, at Row) []float64 {
	logits := make([]float64, in.Shape.Skv)
	for j := range logits {
		for i, k := range in.K.row(at.B, in.Shape.HeadKV(at.H), j) {
			logits[j] += float64(in.Q.row(at.B, at.H, at.S)[i]) * float64(k)
		}
		logits[j] /= math.Sqrt(float64(in.Shape.D))
	}
	return logits
}

func TestOutliersAndTiny(t *testing.T) {
	s := problem.Square(1, 2, 512, 64)
	most := func(x *Floats) (m float64) {
		for _, v := range x.Data {
			m = max(m, math.Abs(float64(v)))
		}
		return m
	}
	if m := most(generate(t, "outliers", 0, s).V); m < 30 || m > 90 {
		t.Errorf("the largest outlier is %v", m)
	}
	tiny := generate(t, "tiny", 0, s)
	q, err := tiny.Quantise(fp8.E4M3, fp8.PerHead)
	if err != nil {
		t.Fatal(err)
	}
	if m := most(tiny.Q); m == 0 || m > 1e-6 || q.K.Scales[1] != 1 {
		t.Errorf("the largest tiny number is %v, and a scale is %v, want 1", m, q.K.Scales[1])
	}
}

// TestMagnitudes: neighbouring heads differ, neighbouring sequences differ, and the pattern of the
// heads does not repeat after four or eight.
func TestMagnitudes(t *testing.T) {
	m := &maker{shared: newStream(7, 0)}
	of := func(b, h int) float64 { return m.magnitude(place{b: b, h: h}) }
	for _, period := range []int{1, 4, 8} {
		same := 0
		for h := range 32 {
			if of(0, h) == of(0, h+period) {
				same++
			}
		}
		if same > 8 || period == 1 && same > 0 {
			t.Errorf("%d of 32 heads have the magnitude of the head %d before", same, period)
		}
	}
	for h := range 8 {
		if of(0, h) == of(1, h) {
			t.Errorf("head %d has the same magnitude in two sequences", h)
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	if _, err := Generate("cauchy", 0, problem.Square(1, 1, 1, 1)); err == nil || !strings.Contains(err.Error(), "use normal, uniform") {
		t.Error(err)
	}
	if _, err := Generate("normal", 0, problem.Shape{}); err == nil {
		t.Error("an empty shape was accepted")
	}
}

// TestSparse wants about a third of the rows of K and of V to be zero, not the same ones, and no row of Q.
func TestSparse(t *testing.T) {
	in := generate(t, "sparse", 5, problem.Square(1, 2, 300, 16))
	zero := func(x *Floats) (rows []int) {
		for i := range x.Shape.Rows() {
			if slices.Max(x.Data[16*i:16*i+16]) == 0 && slices.Min(x.Data[16*i:16*i+16]) == 0 {
				rows = append(rows, i)
			}
		}
		return rows
	}
	k, v := zero(in.K), zero(in.V)
	if len(zero(in.Q)) > 0 || min(len(k), len(v)) < 150 || max(len(k), len(v)) > 250 || slices.Equal(k, v) {
		t.Errorf("of 600 rows, %d of Q, %d of K and %d of V are zero", len(zero(in.Q)), len(k), len(v))
	}
}
