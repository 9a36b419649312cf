package fp8

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func random(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 8))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// TestQuantiseError bounds what comes back by half a step of the format.
func TestQuantiseError(t *testing.T) {
	d := Dims{2, 3, 37, 16}
	x := random(d.Len(), 1)
	for _, f := range Formats() {
		for _, s := range []Scaling{PerHead, PerTensor, PerBlock(1), PerBlock(16), PerBlock(64)} {
			q, err := Quantise(f, s, d, x)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Check(); err != nil {
				t.Fatal(err)
			}
			back := q.Dequantise()
			for i := range x {
				row := i / d.D
				scale := q.Scales[s.Index(d, row/d.S/d.H, row/d.S%d.H, row%d.S)]
				if e := math.Abs(float64(back[i] - x[i])); e > halfStep(f, float64(x[i]), float64(scale)) {
					t.Fatalf("%v %v: element %d, %v, comes back as %v", f, s, i, x[i], back[i])
				}
			}
		}
	}
}

// halfStep is the most that rounding may change x.
func halfStep(f Format, x, scale float64) float64 {
	const slack = 1 + 1e-6
	switch f {
	case E4M3:
		return slack * max(math.Abs(x)/16, scale*0x1p-10)
	case E5M2:
		return slack * max(math.Abs(x)/8, scale*0x1p-17)
	case U8:
		return slack * scale * 448 / 127 / 2
	}
	return slack * scale * 448 / 127 * 1.51 // half a step, half one beside, and the width of the steps
}

// TestScales checks who shares a scale: each group's largest element is the largest
// number of the format, and its scale is what it says.
func TestScales(t *testing.T) {
	d := Dims{2, 2, 5, 4}
	x := make([]float32, d.Len())
	for i := range x {
		x[i] = 1
	}
	at := func(b, h, s, c int) int { return d.Row(b, h, s)*d.D + c }
	x[at(1, 0, 4, 3)] = -7 // largest of head 0
	x[at(0, 1, 2, 0)] = 3  // of head 1
	for _, c := range []struct {
		s    Scaling
		want []float32
	}{
		{PerTensor, []float32{7}},
		{PerHead, []float32{7, 3}},
		{PerBlock(2), []float32{1, 1, 1, 1, 3, 1, 1, 1, 7, 1, 1, 1}},
		{PerBlock(5), []float32{1, 3, 7, 1}},
		{PerBlock(100), []float32{1, 3, 7, 1}},
	} {
		for _, f := range Formats() {
			q, err := Quantise(f, c.s, d, x)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(c.want)
			for i := range want {
				want[i] /= float32(f.Max())
			}
			if !slices.Equal(q.Scales, want) {
				t.Errorf("%v %v: scales %v, want %v", f, c.s, q.Scales, want)
			}
			least := map[Format]byte{E4M3: 0xfe, E5M2: 0xfb, U8: 1, U8Legacy: 0}[f]
			if got := q.Data[at(1, 0, 4, 3)]; got != least {
				t.Errorf("%v %v: the least element is %#02x, want %#02x", f, c.s, got, least)
			}
		}
	}
}

// TestNothing wants the scale one where there is nothing to scale, as kernels that
// divide by it would otherwise meet a zero.
func TestNothing(t *testing.T) {
	d := Dims{1, 3, 2, 2}
	x := make([]float32, d.Len())
	x[4], x[8] = 1e-6, 2e-6
	for _, f := range Formats() {
		q, err := Quantise(f, PerHead, d, x)
		if err != nil {
			t.Fatal(err)
		}
		if q.Scales[0] != 1 || q.Scales[1] != 1 || q.Scales[2] != float32(2e-6)/float32(f.Max()) {
			t.Errorf("%v: scales are %v", f, q.Scales)
		}
		zero := f.EncodeSatfinite(0)
		if q.Data[0] != zero || f.Decode(zero) != 0 {
			t.Errorf("%v: zero is %#02x", f, q.Data[0])
		}
	}
}

// TestConsistentPair shows what the mistake of u8-legacy costs: its mean error is
// more than that of the consistent pair by a good part of a step.
func TestConsistentPair(t *testing.T) {
	d := Dims{1, 1, 512, 64}
	x := random(d.Len(), 2)
	mean := map[Format]float64{}
	for _, f := range []Format{U8, U8Legacy} {
		q, err := Quantise(f, PerHead, d, x)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range q.Dequantise() {
			mean[f] += float64(v-x[i]) / float64(len(x))
		}
	}
	step := 0.03 // about 4/127
	if !(math.Abs(mean[U8]) <= step/50) || math.Abs(mean[U8Legacy]) < step/3 {
		t.Errorf("bias of u8 is %g, of u8-legacy %g", mean[U8], mean[U8Legacy])
	}
}

func TestRefused(t *testing.T) {
	d := Dims{1, 2, 3, 4}
	x := make([]float32, d.Len())
	bad := slices.Clone(x)
	bad[13] = float32(math.Inf(-1))
	nan := slices.Clone(x)
	nan[23] = float32(math.NaN())
	for _, c := range []struct {
		f    Format
		s    Scaling
		d    Dims
		x    []float32
		want string
	}{
		{E4M3, PerHead, d, x[1:], "23 elements are given, but a tensor [1,2,3,4] has 24"},
		{E4M3, PerHead, Dims{1, 2, 0, 4}, nil, "every extent must be at least 1"},
		{E4M3, PerHead, Dims{1 << 20, 1 << 20, 1 << 20, 1 << 20}, nil, "more than"},
		{Format(7), PerHead, d, x, "no format has the number 7"},
		{E5M2, Scaling(-2), d, x, "use PerHead, PerTensor or PerBlock"},
		{U8, PerHead, d, bad, "element [0,1,0,1] is -Inf"},
		{U8, PerTensor, d, nan, "element [0,1,2,3] is NaN"},
	} {
		_, err := Quantise(c.f, c.s, c.d, c.x)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v %v: %v, want %q", c.f, c.s, c.d, err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	good := func() *Tensor {
		return &Tensor{Format: E5M2, Shape: Dims{1, 2, 3, 4}, Data: make([]byte, 24), Scales: []float32{1, 2}}
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Tensor){
		"23 bytes of data":        func(t *Tensor) { t.Data = t.Data[1:] },
		"1 scale,":                func(t *Tensor) { t.Scales = t.Scales[1:] },
		"scale 1 is 0":            func(t *Tensor) { t.Scales[1] = 0 },
		"scale 0 is NaN":          func(t *Tensor) { t.Scales[0] = float32(math.NaN()) },
		"scale 0 is +Inf":         func(t *Tensor) { t.Scales[0] = float32(math.Inf(1)) },
		"at least 1":              func(t *Tensor) { t.Shape.D = 0 },
		"has 4 per-block-2":       func(t *Tensor) { t.Scaling = PerBlock(2) },
		"has 1 per-tensor":        func(t *Tensor) { t.Scaling = PerTensor },
		"has the number 200":      func(t *Tensor) { t.Format = 200 },
		"scaling -5 is not known": func(t *Tensor) { t.Scaling = -5 },
		"a tensor [1,9,3,4] ":     func(t *Tensor) { t.Shape.H = 9 },
	} {
		q := good()
		spoil(q)
		if err := q.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
