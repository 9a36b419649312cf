package fp8

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// spec is a floating-point format from its definition, with no bit tricks.
type spec struct {
	f         Format
	man, bias int
	last      byte // the largest finite number
	overflow  byte // what follows it
}

var specs = []spec{
	{E4M3, 3, 7, 0x7e, 0x7f},
	{E5M2, 2, 15, 0x7b, 0x7c},
}

// value is the number of a magnitude, as if the last exponent were one of numbers.
func (s spec) value(mag byte) float64 {
	e, m := int(mag>>s.man), float64(mag&(1<<s.man-1))
	if e == 0 {
		return math.Ldexp(m, 1-s.bias-s.man)
	}
	return math.Ldexp(m+float64(int(1)<<s.man), e-s.bias-s.man)
}

// nearest is the magnitude of a number by a search among all, not saturated.
func (s spec) nearest(x float64) byte {
	x = math.Abs(x)
	if x >= s.value(s.last+1) {
		return s.overflow
	}
	hi := byte(1)
	for s.value(hi) < x {
		hi++
	}
	d := (s.value(hi) - x) - (x - s.value(hi-1))
	if d > 0 || d == 0 && hi%2 == 1 {
		hi--
	}
	return min(hi, s.overflow)
}

func (s spec) want(x float64, satfinite bool) byte {
	if x != x {
		return 0x7f
	}
	mag := s.nearest(x)
	if satfinite {
		mag = min(mag, s.last)
	}
	if math.Signbit(x) {
		mag |= 0x80
	}
	return mag
}

func (s spec) check(t *testing.T, x float64) {
	t.Helper()
	if got, want := s.f.EncodeSatfinite(x), s.want(x, true); got != want {
		t.Errorf("%v: satfinite of %g (%#x) is %#02x, want %#02x", s.f, x, math.Float64bits(x), got, want)
	}
	if got, want := s.f.Encode(x), s.want(x, false); got != want {
		t.Errorf("%v: %g (%#x) is %#02x, want %#02x", s.f, x, math.Float64bits(x), got, want)
	}
}

func TestDecodeAll(t *testing.T) {
	for _, s := range specs {
		for i := range 256 {
			b := byte(i)
			got, want := s.f.Decode(b), s.value(b&0x7f)
			switch mag := b & 0x7f; {
			case s.f == E5M2 && mag == 0x7c:
				want = math.Inf(1)
			case mag > s.last:
				want = math.NaN()
			}
			want = math.Copysign(want, float64(int8(b))+0.5)
			if math.IsNaN(want) != math.IsNaN(got) || !math.IsNaN(want) && math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%v %#02x is %v, want %v", s.f, b, got, want)
			}
			if !math.IsNaN(want) {
				if back := s.f.Encode(got); back != b {
					t.Errorf("%v %#02x is %v, which encodes to %#02x", s.f, b, got, back)
				}
			}
		}
	}
}

// TestTies goes to every number, to every point halfway between two, and beside
// both as near as float32 and float64 get. What is right follows from where each
// point was put; nothing is searched for.
func TestTies(t *testing.T) {
	for _, s := range specs {
		try := func(x float64, want byte) {
			t.Helper()
			for _, sign := range []byte{0, 0x80} {
				x, want := x, want|sign
				if sign != 0 {
					x = -x
				}
				if got := s.f.Encode(x); got != want {
					t.Errorf("%v: %g is %#02x, want %#02x", s.f, x, got, want)
				}
				if want&0x7f > s.last {
					want = sign | s.last
				}
				if got := s.f.EncodeSatfinite(x); got != want {
					t.Errorf("%v: satfinite of %g is %#02x, want %#02x", s.f, x, got, want)
				}
			}
		}
		for mag := byte(0); mag <= s.last; mag++ {
			here, next := s.value(mag), s.value(mag+1)
			up := mag + 1
			tie := (here + next) / 2
			even := mag + mag%2
			try(here, mag)
			try(tie, even)
			try(below64(tie), mag)
			try(below32(tie), mag)
			try(above64(tie), up)
			try(above32(tie), up)
			try(above64(here), mag)
			try(above32(here), mag)
			try(below64(next), up)
			try(below32(next), up)
		}
	}
}

func below64(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
func above64(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
func below32(x float64) float64 {
	return float64(math.Nextafter32(float32(x), float32(math.Inf(-1))))
}
func above32(x float64) float64 {
	return float64(math.Nextafter32(float32(x), float32(math.Inf(1))))
}

// TestHalves encodes every number of the 16-bit formats.
func TestHalves(t *testing.T) {
	for _, s := range specs {
		for i := range 1 << 16 {
			s.check(t, float64(FromF16(uint16(i))))
			s.check(t, float64(FromBF16(uint16(i))))
		}
	}
}

func TestExtremes(t *testing.T) {
	for _, s := range specs {
		for _, x := range []float64{
			0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64,
			math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.MaxFloat32, 1e39, 1e-45, 0x1p-150,
		} {
			s.check(t, x)
		}
	}
}

func TestU8(t *testing.T) {
	for i := range 256 {
		u := byte(i)
		v := U8.Decode(u)
		if want := float64(i-128) / 127 * 448; v != want || U8Legacy.Decode(u) != want {
			t.Errorf("u8 %d is %v, want %v", u, v, want)
		}
		if got := U8.EncodeSatfinite(v); got != u {
			t.Errorf("u8 %d is %v, which encodes to %d", u, v, got)
		}
	}
	for _, c := range []struct {
		x    float64
		want byte
	}{
		{0, 128}, {448, 255}, {-448, 1}, {1e9, 255}, {-1e9, 0}, {math.Inf(-1), 0}, {math.NaN(), 128},
		{448. / 127, 129}, {448. / 127 * 0.49, 128}, {448. / 127 * 0.51, 129}, {-448. / 127 * 0.51, 127},
	} {
		if got := U8.EncodeSatfinite(c.x); got != c.want {
			t.Errorf("u8: %v is %d, want %d", c.x, got, c.want)
		}
	}
}

// TestU8Legacy holds the original's codes: round((x/448+1)·127.5), ties to even.
func TestU8Legacy(t *testing.T) {
	for x, want := range map[float64]byte{
		0: 128, 448: 255, -448: 0, 1e9: 255, -1e9: 0, 224: 191, -224: 64, 112: 159, -112: 96, 1.7: 128, 1.8: 128, -1.7: 127,
	} {
		if got := U8Legacy.EncodeSatfinite(x); got != want {
			t.Errorf("u8-legacy: %v is %d, want %d", x, got, want)
		}
	}
	if got := U8Legacy.EncodeSatfinite(math.NaN()); got != 128 {
		t.Errorf("u8-legacy: NaN is %d", got)
	}
	// The original's defect: codes come back as another number, half a step off.
	off := 0
	for i := range 256 {
		if U8Legacy.EncodeSatfinite(U8Legacy.Decode(byte(i))) != byte(i) {
			off++
		}
	}
	if off < 100 {
		t.Errorf("only %d codes do not return: is this the inconsistent pair?", off)
	}
}

func TestNames(t *testing.T) {
	for _, f := range Formats() {
		got, err := ParseFormat(f.String())
		if err != nil || got != f {
			t.Errorf("ParseFormat(%q) = %v, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("fp4"); err == nil {
		t.Error("fp4 is no format")
	}
	text, err := json.Marshal(Formats())
	if err != nil {
		t.Fatal(err)
	}
	var back []Format
	if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(back, Formats()) {
		t.Errorf("%s comes back as %v, %v", text, back, err)
	}
	if _, err := json.Marshal(Format(9)); err == nil {
		t.Error("Format(9) has no name to write")
	}
}

func TestHalfConversions(t *testing.T) {
	for i := range 1 << 16 {
		b := uint16(i)
		if x := FromF16(b); x == x && F16(x) != b {
			t.Errorf("f16 %#04x is %v, which rounds to %#04x", b, x, F16(x))
		}
		if x := FromBF16(b); x == x && BF16(x) != b {
			t.Errorf("bf16 %#04x is %v, which rounds to %#04x", b, x, BF16(x))
		}
	}
	if got := FromF16s([]byte{0x00, 0x3c, 0x00, 0xc0}); !slices.Equal(got, []float32{1, -2}) {
		t.Errorf("halves are %v", got)
	}
	if got := FromBF16s([]byte{0x80, 0x3f, 0x00, 0xc0}); !slices.Equal(got, []float32{1, -2}) {
		t.Errorf("bfloat16s are %v", got)
	}
}
