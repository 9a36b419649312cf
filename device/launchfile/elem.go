package launchfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// elem is a type of elements. It defines how their bits are read, written and compared.
type elem struct {
	name   string
	size   int // bytes
	signed bool
	// exp and man are the numbers of exponent and mantissa bits of a float. They are 0 for an
	// integer.
	exp, man int
	finite   bool // the type has no infinities, and in a NaN all exponent and mantissa bits are set
}

var elems = []elem{
	{name: "i8", size: 1, signed: true}, {name: "i16", size: 2, signed: true},
	{name: "i32", size: 4, signed: true}, {name: "i64", size: 8, signed: true},
	{name: "u8", size: 1}, {name: "u16", size: 2}, {name: "u32", size: 4}, {name: "u64", size: 8},
	{name: "f16", size: 2, exp: 5, man: 10}, {name: "bf16", size: 2, exp: 8, man: 7},
	{name: "f32", size: 4, exp: 8, man: 23}, {name: "f64", size: 8, exp: 11, man: 52},
	{name: "e4m3", size: 1, exp: 4, man: 3, finite: true}, {name: "e5m2", size: 1, exp: 5, man: 2},
}

// elemNamed returns the type with a name, or nil.
func elemNamed(name string) *elem {
	for i := range elems {
		if elems[i].name == name {
			return &elems[i]
		}
	}
	return nil
}

func elemNames() string {
	var names []string
	for i := range elems {
		names = append(names, elems[i].name)
	}
	return strings.Join(names, ", ")
}

func (e *elem) float() bool { return e.exp > 0 }

// get returns the bits of element i.
func (e *elem) get(b []byte, i int) uint64 {
	switch b = b[i*e.size:]; e.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// append appends the bits of an element to b.
func (e *elem) append(b []byte, bits uint64) []byte {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], bits)
	return append(b, w[:e.size]...)
}

// signExtend returns the value of a signed integer.
func (e *elem) signExtend(bits uint64) int64 {
	shift := 64 - 8*e.size
	return int64(bits<<shift) >> shift
}

// value returns the number that bits represent.
func (e *elem) value(bits uint64) float64 {
	switch {
	case e.float():
		return e.floatValue(bits)
	case e.signed:
		return float64(e.signExtend(bits))
	}
	return float64(bits)
}

func (e *elem) floatValue(bits uint64) float64 {
	if e.man == 52 {
		return math.Float64frombits(bits)
	}
	ones := uint64(1)<<e.exp - 1
	man, exp := bits&(1<<e.man-1), bits>>e.man&ones
	sign := 1.0
	if bits>>(e.man+e.exp)&1 != 0 {
		sign = -1
	}
	bias := int(ones / 2)
	switch {
	case e.finite && exp == ones && man == 1<<e.man-1:
		return math.NaN()
	case !e.finite && exp == ones && man != 0:
		return math.NaN()
	case !e.finite && exp == ones:
		return math.Inf(int(sign))
	case exp == 0:
		return sign * math.Ldexp(float64(man), 1-bias-e.man)
	}
	return sign * math.Ldexp(float64(man|1<<e.man), int(exp)-bias-e.man)
}

// ordinal returns the position of a float in the order of all floats: neighbours differ by
// one, and both zeros are 0.
func (e *elem) ordinal(bits uint64) int64 {
	sign := uint64(1) << (e.man + e.exp)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

// ulps returns the distance of two values, counted in representable numbers.
func (e *elem) ulps(a, b uint64) uint64 {
	var x, y int64
	switch {
	case e.float():
		x, y = e.ordinal(a), e.ordinal(b)
	case e.signed:
		x, y = e.signExtend(a), e.signExtend(b)
	default:
		return max(a, b) - min(a, b)
	}
	if x < y {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}

// format returns the value of bits as text. Parsing the text of a float gives the same bits.
// The text of a NaN contains its bits.
func (e *elem) format(bits uint64) string {
	v := e.value(bits)
	switch {
	case e.float() && math.IsNaN(v):
		return fmt.Sprintf("nan (0x%0*x)", 2*e.size, bits)
	case e.float() && math.IsInf(v, 0):
		return strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)[:4])
	case e.name == "f32":
		return strconv.FormatFloat(v, 'g', -1, 32)
	case e.float():
		return strconv.FormatFloat(v, 'g', -1, 64)
	case e.signed:
		return strconv.FormatInt(e.signExtend(bits), 10)
	}
	return strconv.FormatUint(bits, 10)
}

var errRange = errors.New("out of range")

// parse reads a value: decimal, or the bits in hexadecimal.
func (e *elem) parse(s string) (uint64, error) {
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok && !strings.Contains(hex, "p") {
		bits, err := strconv.ParseUint(hex, 16, 8*e.size)
		return bits, e.parseError(s, err)
	}
	switch {
	case e.float():
		bits, err := e.parseFloat(s)
		return bits, e.parseError(s, err)
	case e.signed:
		v, err := strconv.ParseInt(s, 10, 8*e.size)
		return uint64(v) & (math.MaxUint64 >> (64 - 8*e.size)), e.parseError(s, err)
	}
	v, err := strconv.ParseUint(s, 10, 8*e.size)
	return v, e.parseError(s, err)
}

func (e *elem) parseError(s string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange), errors.Is(err, errRange):
		return fmt.Errorf("%s does not fit in %s", s, e.name)
	}
	return fmt.Errorf("%q is not a value of type %s", s, e.name)
}

// parseFloat returns the value of a literal, rounded once to the type, to nearest even.
func (e *elem) parseFloat(s string) (uint64, error) {
	switch strings.ToLower(s) {
	case "nan":
		if e.finite {
			return 1<<(e.exp+e.man) - 1, nil
		}
		return (1<<e.exp-1)<<e.man | 1<<(e.man-1), nil
	case "inf", "+inf", "-inf":
		if e.finite {
			return 0, errRange
		}
		bits := uint64(1<<e.exp-1) << e.man
		if s[0] == '-' {
			bits |= 1 << (e.exp + e.man)
		}
		return bits, nil
	}
	f, _, err := big.ParseFloat(s, 0, 2000, big.ToNearestEven)
	if err != nil || f.IsInf() {
		return 0, err
	}
	return e.round(f)
}

// round returns the nearest value of the type.
func (e *elem) round(f *big.Float) (uint64, error) {
	var sign uint64
	if f.Signbit() {
		sign = 1 << (e.exp + e.man)
	}
	abs := new(big.Float).Abs(f)
	bias := 1<<(e.exp-1) - 1
	least := max(abs.MantExp(nil)-1, 1-bias) // the exponent of the value, or the exponent of subnormals
	units := new(big.Float).SetMantExp(abs, e.man-least)
	n := nearest(units)
	if abs.Sign() == 0 {
		return sign, nil
	}
	// n has man+1 bits if the value is normal. Its top bit adds one to the exponent, as does a
	// carry from rounding.
	bits := uint64(least+bias-1)<<e.man + n
	if most := uint64(1<<e.exp-1) << e.man; !e.finite && bits >= most || e.finite && bits >= most|(1<<e.man-1) {
		return 0, errRange
	}
	return sign | bits, nil
}

// nearest returns f rounded to an integer, ties to even.
func nearest(f *big.Float) uint64 {
	n, _ := f.Uint64()
	rest := new(big.Float).Sub(f, new(big.Float).SetUint64(n))
	switch c := rest.Cmp(big.NewFloat(0.5)); {
	case c > 0, c == 0 && n&1 == 1:
		n++
	}
	return n
}
