package ops

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
)

// printLimit bounds what a launch may print, in bytes.
const printLimit = 64 << 20

// printf implements vprintf. args are the addresses of the format and of the packed
// arguments. It returns the number of arguments, or -1 without a format.
func printf(f *frame, lane int, args []uint64) uint64 {
	if len(args) < 2 || args[0] == 0 {
		return math.MaxUint64
	}
	v := &varargs{f: f, lane: lane, at: args[1]}
	text := format(f.Text(lane, args[0]), v)
	if f.Block.Launch.Printed.Add(int64(len(text))) > printLimit {
		f.Raise(lane, "the launch prints more than %d bytes", printLimit)
	}
	f.Block.Printed = append(f.Block.Printed, text...)
	return uint64(v.n)
}

// varargs is the buffer with the arguments of a printf call, each aligned to its size.
type varargs struct {
	f    *frame
	lane int
	at   uint64
	n    int
}

func (v *varargs) word(size uint64) uint64 {
	v.at = (v.at + size - 1) &^ (size - 1)
	b := v.f.Memory(v.lane, 0, v.at, int(size), false)
	v.at += size
	v.n++
	return memory.Word(b)
}

func (v *varargs) str(addr uint64) string { return v.f.Text(v.lane, addr) }

// arguments supplies the values for the conversions of a format: the next value of a size
// in bytes, or the string at an address.
type arguments interface {
	word(size uint64) uint64
	str(addr uint64) string
}

// printSpec is one conversion of a format: "%-8.3lf".
type printSpec struct {
	minus, plus, space, alt, zero bool
	width, prec                   int // prec is -1 when not given
	long                          bool
	verb                          byte
}

// format formats as C's printf does, with the conversions that CUDA supports.
func format(s string, args arguments) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '%' {
			b.WriteByte(s[i])
			i++
			continue
		}
		c, n := parseConversion(s[i:], args)
		if c.verb == 0 { // not a conversion: copied unchanged
			b.WriteString(s[i : i+n])
		} else {
			b.WriteString(c.format(args))
		}
		i += n
	}
	return b.String()
}

// parseConversion reads the conversion at the start of s and its length.
func parseConversion(s string, args arguments) (c printSpec, n int) {
	i := 1
	for i < len(s) && c.flag(s[i]) {
		i++
	}
	c.width, i = number(s, i, args)
	if c.width < 0 {
		c.minus, c.width = true, -c.width
	}
	c.prec = -1
	if i < len(s) && s[i] == '.' {
		c.prec, i = number(s, i+1, args)
	}
	for ; i < len(s) && strings.IndexByte("hlzjtL", s[i]) >= 0; i++ {
		c.long = c.long || s[i] != 'h' && s[i] != 'L'
	}
	if i == len(s) {
		return printSpec{}, i
	}
	if strings.IndexByte("%cdiouxXpeEfFgGaAs", s[i]) < 0 {
		return printSpec{}, i + 1
	}
	c.verb = s[i]
	return c, i + 1
}

// flag records the flag b. It reports whether b is a flag.
func (c *printSpec) flag(b byte) bool {
	switch b {
	case '-':
		c.minus = true
	case '+':
		c.plus = true
	case ' ':
		c.space = true
	case '#':
		c.alt = true
	case '0':
		c.zero = true
	default:
		return false
	}
	return true
}

// maxWidth limits widths and precisions, so that a format cannot exhaust memory.
const maxWidth = 1 << 16

// number reads a width or precision: digits or a star.
func number(s string, i int, args arguments) (n, next int) {
	if i < len(s) && s[i] == '*' {
		return min(max(int(int32(args.word(4))), -maxWidth), maxWidth), i + 1
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = min(n*10+int(s[i]-'0'), maxWidth)
	}
	return n, i
}

func (c *printSpec) format(args arguments) string {
	size := uint64(4)
	if c.long {
		size = 8
	}
	switch c.verb {
	case '%':
		return "%"
	case 'c':
		return c.pad("", string([]byte{byte(args.word(4))}), false)
	case 's':
		return c.pad("", c.text(args), false)
	case 'p':
		v := args.word(8)
		if v == 0 {
			return c.pad("", "(nil)", false)
		}
		return c.pad("0x", strconv.FormatUint(v, 16), false)
	case 'd', 'i':
		v := args.word(size)
		n := int64(v)
		if size == 4 {
			n = int64(int32(v))
		}
		return c.integer(n < 0, magnitude(n), 10)
	case 'u':
		return c.unsigned(args.word(size), 10, "")
	case 'o':
		return c.unsigned(args.word(size), 8, "0")
	case 'x', 'X':
		return c.unsigned(args.word(size), 16, "0"+string(c.verb))
	}
	return c.float(math.Float64frombits(args.word(8)))
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func (c *printSpec) text(args arguments) string {
	s := "(null)"
	if p := args.word(8); p != 0 {
		s = args.str(p)
	}
	if c.prec >= 0 && c.prec < len(s) {
		s = s[:c.prec]
	}
	return s
}

// sign returns the sign to write before a number.
func (c *printSpec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case c.plus:
		return "+"
	case c.space:
		return " "
	}
	return ""
}

func (c *printSpec) integer(negative bool, v uint64, base int) string {
	return c.pad(c.sign(negative), c.digits(v, base), c.prec < 0)
}

func (c *printSpec) unsigned(v uint64, base int, prefix string) string {
	digits := c.digits(v, base)
	if !c.alt || v == 0 && digits != "" || v == 0 && base == 16 || base == 8 && strings.HasPrefix(digits, "0") {
		prefix = ""
	}
	if c.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	return c.pad(prefix, digits, c.prec < 0)
}

// digits formats an integer with at least as many digits as the precision.
func (c *printSpec) digits(v uint64, base int) string {
	if c.prec == 0 && v == 0 {
		return ""
	}
	s := strconv.FormatUint(v, base)
	return strings.Repeat("0", max(0, c.prec-len(s))) + s
}

func (c *printSpec) float(v float64) string {
	sign := c.sign(math.Signbit(v))
	upper := c.verb >= 'A' && c.verb <= 'Z'
	var s string
	switch {
	case math.IsNaN(v):
		s = "nan"
	case math.IsInf(v, 0):
		s = "inf"
	case c.verb == 'a' || c.verb == 'A':
		sign += "0x"
		s = hexFloat(math.Abs(v), c.prec, c.alt)
	default:
		s = c.decimal(math.Abs(v))
	}
	if upper {
		s, sign = strings.ToUpper(s), strings.ToUpper(sign)
	}
	return c.pad(sign, s, !math.IsNaN(v) && !math.IsInf(v, 0))
}

// decimal formats a finite number without its sign by %e, %f or %g.
func (c *printSpec) decimal(v float64) string {
	prec := c.prec
	if prec < 0 {
		prec = 6
	}
	verb := c.verb | 0x20
	if verb != 'g' {
		return c.point(strconv.FormatFloat(v, verb, prec, 64))
	}
	prec = max(prec, 1)
	if !c.alt {
		return strconv.FormatFloat(v, 'g', prec, 64)
	}
	// The flag # preserves trailing zeros. In Go, %e and %f do so, but %g does not.
	e := strconv.FormatFloat(v, 'e', prec-1, 64)
	_, exp, _ := strings.Cut(e, "e")
	if x, _ := strconv.Atoi(exp); v != 0 && (x < -4 || x >= prec) {
		return c.point(e)
	} else if v != 0 {
		prec -= x
	}
	return c.point(strconv.FormatFloat(v, 'f', prec-1, 64))
}

// point adds the decimal point that the flag # demands if no digits follow.
func (c *printSpec) point(s string) string {
	if !c.alt || strings.Contains(s, ".") {
		return s
	}
	mantissa, exp, found := strings.Cut(s, "e")
	if found {
		exp = "e" + exp
	}
	return mantissa + "." + exp
}

// hexFloat formats a finite number without its sign by %a, without the 0x. The leading
// digit is the implicit bit, which rounding may turn into 2.
func hexFloat(v float64, prec int, alt bool) string {
	b := math.Float64bits(v)
	exp := int(b>>52) - 1023
	mantissa := b & (1<<52 - 1)
	switch {
	case b == 0:
		exp = 0
	case exp == -1023:
		exp = -1022
	default:
		mantissa |= 1 << 52
	}
	digits := 13
	if prec >= 0 && prec < 13 {
		drop := 4 * (13 - prec)
		odd := mantissa >> drop & 1
		mantissa = (mantissa + 1<<(drop-1) - 1 + odd) >> drop
		digits = prec
	}
	s := fmt.Sprintf("%0*x", digits+1, mantissa)
	lead, rest := s[:1], s[1:]
	if prec < 0 {
		rest = strings.TrimRight(rest, "0")
	} else {
		rest += strings.Repeat("0", prec-digits)
	}
	if rest != "" || alt {
		lead += "."
	}
	return fmt.Sprintf("%s%sp%+d", lead, rest, exp)
}

// pad extends the prefix and the digits to the width.
func (c *printSpec) pad(prefix, digits string, zeros bool) string {
	n := max(0, c.width-len(prefix)-len(digits))
	switch {
	case c.minus:
		return prefix + digits + strings.Repeat(" ", n)
	case c.zero && zeros:
		return prefix + strings.Repeat("0", n) + digits
	}
	return strings.Repeat(" ", n) + prefix + digits
}
