package parse

import (
	"math"
	"strconv"

	"github.com/GOATnote-Inc/attest/ptx"
)

// value is a constant while an expression is evaluated.
type value struct {
	kind     valueKind
	i        int64 // or the bits of an f32 or f64, so that a NaN keeps its payload
	unsigned bool
	hex      bool // written in hexadecimal
}

type valueKind uint8

const (
	intValue valueKind = iota
	doubleValue
	floatValue  // 0f…: it keeps its 32 bits, and operators do not apply to it
	warpSzValue // WARP_SZ alone, an integer in expressions
)

func intOf(v int64) value { return value{i: v} }

func doubleOf(f float64) value { return value{kind: doubleValue, i: int64(math.Float64bits(f))} }

func (v value) double() float64 { return math.Float64frombits(uint64(v.i)) }

// operand returns the value as an operand.
func (v value) operand(pos ptx.Pos) ptx.Operand {
	switch v.kind {
	case doubleValue:
		return ptx.Operand{Kind: ptx.F64Operand, Pos: pos, Val: v.i}
	case floatValue:
		return ptx.Operand{Kind: ptx.F32Operand, Pos: pos, Val: v.i}
	case warpSzValue:
		return ptx.Operand{Kind: ptx.SpecialOperand, Pos: pos, Sym: ptx.Special("WARP_SZ")}
	}
	o := ptx.Operand{Kind: ptx.ImmOperand, Pos: pos, Val: v.i}
	if v.hex {
		o.Flags |= ptx.Hex
	}
	if v.unsigned {
		o.Flags |= ptx.Unsigned
	}
	return o
}

// number reads the literal at the cursor, which starts with a digit or with a dot and a
// digit.
func (p *parser) number() (value, bool) {
	start := p.pos
	if p.peek() == '0' {
		switch p.peekAt(1) {
		case 'x', 'X':
			return p.prefixed(16)
		case 'b', 'B':
			return p.prefixed(2)
		case 'f', 'F':
			return p.floatBits(8)
		case 'd', 'D':
			return p.floatBits(16)
		}
	}
	for isDigit(p.peek()) {
		p.pos++
	}
	if c := p.peek(); c == '.' || c == 'e' || c == 'E' {
		return p.decimalFloat(start)
	}
	digits, base := p.src[start:p.pos], 10
	if digits[0] == '0' && len(digits) > 1 {
		base = 8
	}
	return p.integer(start, digits, base)
}

// prefixed reads 0x… or 0b….
func (p *parser) prefixed(base int) (value, bool) {
	start := p.pos
	p.pos += 2
	for isHex(p.peek()) && (base == 16 || p.peek() < '2') {
		p.pos++
	}
	v, ok := p.integer(start, p.src[start+2:p.pos], base)
	v.hex = base == 16
	return v, ok
}

// integer converts the digits and reads the U after them.
func (p *parser) integer(start int, digits string, base int) (value, bool) {
	u, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		for isIdentPart(p.peek()) {
			p.pos++
		}
		return value{}, p.fail(p.posAt(start), "%s is not an integer of at most 64 bits", quoted(p.src[start:p.pos]))
	}
	v := value{i: int64(u), unsigned: u > math.MaxInt64}
	if p.peek() == 'U' {
		v.unsigned = true
		p.pos++
	}
	return v, p.numberEnds(start)
}

// floatBits reads 0f or 0d and its fixed number of hexadecimal digits.
func (p *parser) floatBits(digits int) (value, bool) {
	start := p.pos
	p.pos += 2
	for isHex(p.peek()) {
		p.pos++
	}
	text := p.src[start+2 : p.pos]
	if len(text) != digits {
		return value{}, p.fail(p.posAt(start), "%s has %d hexadecimal digits, expected %d", quoted(p.src[start:p.pos]), len(text), digits)
	}
	u, _ := strconv.ParseUint(text, 16, 64)
	if digits == 8 {
		return value{kind: floatValue, i: int64(u)}, p.numberEnds(start)
	}
	return value{kind: doubleValue, i: int64(u)}, p.numberEnds(start)
}

// decimalFloat reads the rest of a float after the digits before the point.
func (p *parser) decimalFloat(start int) (value, bool) {
	if p.peek() == '.' {
		p.pos++
		for isDigit(p.peek()) {
			p.pos++
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		for isDigit(p.peek()) {
			p.pos++
		}
	}
	text := p.src[start:p.pos]
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return value{}, p.fail(p.posAt(start), "%s is not a number", quoted(text))
	}
	return doubleOf(f), p.numberEnds(start)
}

// numberEnds fails if a letter follows a literal directly.
func (p *parser) numberEnds(start int) bool {
	if !isIdentPart(p.peek()) {
		return true
	}
	for isIdentPart(p.peek()) {
		p.pos++
	}
	return p.fail(p.posAt(start), "%s is not a number", quoted(p.src[start:p.pos]))
}
