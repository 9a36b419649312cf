package fp8

import (
	"fmt"
	"math"
	"strings"

	"github.com/GOATnote-Inc/attest/numeric/scalar"
)

// Format is a number format of one byte.
type Format uint8

// The formats. The zero value is E4M3.
const (
	E4M3     Format = iota // 4 bits of exponent, 3 of fraction; one NaN, no infinity
	E5M2                   // 5 bits of exponent, 2 of fraction; NaNs and infinities as in IEEE 754
	U8                     // (u-128)/127·448
	U8Legacy               // as U8, but encoded with 127.5
)

var names = [...]string{E4M3: "e4m3", E5M2: "e5m2", U8: "u8", U8Legacy: "u8-legacy"}

// Formats are all formats.
func Formats() []Format { return []Format{E4M3, E5M2, U8, U8Legacy} }

func (f Format) String() string {
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// ParseFormat finds a format by its name.
func ParseFormat(name string) (Format, error) {
	for f, n := range names {
		if n == name {
			return Format(f), nil
		}
	}
	return 0, fmt.Errorf("format %q is not known: use %s", name, strings.Join(names[:], ", "))
}

// MarshalText returns the name of the format.
func (f Format) MarshalText() ([]byte, error) {
	if int(f) >= len(names) {
		return nil, fmt.Errorf("no format has the number %d", uint8(f))
	}
	return []byte(names[f]), nil
}

// UnmarshalText reads the name of a format.
func (f *Format) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFormat(string(text))
	return err
}

// Max returns the number to which the largest magnitude of a tensor is scaled: the largest
// finite number of the format. (u8 has one more step on the negative side.)
func (f Format) Max() float64 {
	if f == E5M2 {
		return 57344
	}
	return 448
}

// EncodeSatfinite rounds to the nearest number of the format, ties to even. A number beyond
// the largest, or an infinity, becomes the largest number. A NaN becomes the positive NaN of
// the format; u8 has none, so it becomes 128, which is zero. For a float32 the result is
// that of cvt.rn.satfinite.
func (f Format) EncodeSatfinite(x float64) byte {
	switch f {
	case E4M3:
		return scalar.CvtE4M3F32(roundOdd(x))
	case E5M2:
		return scalar.CvtE5M2F32(roundOdd(x))
	case U8Legacy:
		return encodeLegacy(float32(x), float32(f.Max()))
	}
	return encodeU8(x / f.Max())
}

// Encode rounds like EncodeSatfinite, except that a number too large for E5M2 becomes an
// infinity, and a number too large for E4M3 becomes a NaN, both with its sign. A number is
// too large if it would round up in a format with one more exponent.
func (f Format) Encode(x float64) byte {
	var sign byte
	if math.Signbit(x) {
		sign = 0x80
	}
	switch mag := math.Abs(x); {
	case f == E4M3 && mag > 464: // halfway between 448, which is even, and 480
		return sign | 0x7f
	case f == E5M2 && mag >= 61440: // halfway between 57344 and 65536, which is even
		return sign | 0x7c
	}
	return f.EncodeSatfinite(x)
}

// Decode returns the number that a byte stands for, without the scale.
func (f Format) Decode(b byte) float64 { return decoded[f][b] }

var decoded = func() (t [len(names)][256]float64) {
	for i := range 256 {
		b := byte(i)
		t[E4M3][i] = float64(FromF16(scalar.CvtF16E4M3(b)))
		t[E5M2][i] = float64(FromF16(scalar.CvtF16E5M2(b)))
		t[U8][i] = float64(i-128) / 127 * 448
		t[U8Legacy][i] = t[U8][i]
	}
	return t
}()

// roundOdd returns the bits of x as a float32. If x is not a float32, it returns the
// neighbour with an odd last bit. Rounding the result to a format of few bits gives the same
// as rounding x directly, because an odd float32 is never a tie and lies on the same side of
// every tie as x. Below the normal float32s the conversion rounds, but there all formats
// have only zero.
func roundOdd(x float64) uint32 {
	const lost = 1<<29 - 1 // the bits of a float64 that a float32 does not have
	b := math.Float64bits(x)
	b |= b&lost + lost // if a lost bit is 1, the last bit of the float32 becomes 1
	return math.Float32bits(float32(math.Float64frombits(b &^ lost)))
}

// encodeU8 returns the code of a number in [-1, 1].
func encodeU8(x float64) byte {
	switch u := x * 127; {
	case u >= 127:
		return 255
	case u <= -128:
		return 0
	case u == u:
		return byte(int(math.RoundToEven(u)) + 128)
	}
	return 128 // NaN
}

// encodeLegacy divides, clamps, shifts and rounds in float32, in the order of the original
// code. Its zero is at 127.5, half a step away from the decoded zero, and its steps are
// 1/127.5 wide.
func encodeLegacy(x, largest float32) byte {
	switch n := x / largest; {
	case n >= 1:
		return 255
	case n <= -1:
		return 0
	case n == n:
		return byte(math.RoundToEven(float64(float32(n+1) * 127.5)))
	}
	return 128 // NaN
}
