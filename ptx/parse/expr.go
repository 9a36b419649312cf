package parse

import (
	"math"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// maxNesting limits parentheses, braces and operators inside each other.
const maxNesting = 100

// expr evaluates a constant expression: C's operators over 64-bit integers, and
// arithmetic over doubles.
func (p *parser) expr() (value, bool) {
	if isDigit(p.skip()) {
		// Nearly every expression is a single number.
		at := p.pos
		v, ok := p.number()
		if !ok || classes[p.peek()]&classEnd != 0 {
			return v, ok
		}
		p.pos = at
	}
	if !p.nest() {
		return value{}, false
	}
	defer p.unnest()
	cond, ok := p.binary(0)
	if !ok || p.skip() != '?' {
		return cond, ok
	}
	if cond.kind == floatValue || cond.kind == doubleValue {
		return value{}, p.failHere("`?` needs an integer in front of it")
	}
	p.pos++
	yes, ok := p.expr()
	if !ok || !p.expect(':', "between the two results of `?`") {
		return value{}, false
	}
	no, ok := p.expr()
	if cond.i != 0 {
		return yes, ok
	}
	return no, ok
}

// nest enters one more level of nesting.
func (p *parser) nest() bool {
	if p.depth >= maxNesting {
		return p.failHere("nested more than %d deep", maxNesting)
	}
	p.depth++
	return true
}

func (p *parser) unnest() { p.depth-- }

// levels are the binary operators by precedence, the weakest first. If one operator is the
// start of another, the longer one comes first.
var levels = [...][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
}

// operator returns the operator of a level at the cursor, or "".
func (p *parser) operator(level int) string {
	c, d := p.skip(), p.peekAt(1)
	for _, op := range levels[level] {
		if op[0] != c || len(op) == 2 && op[1] != d {
			continue
		}
		if c == '%' && isIdentStart(d) {
			continue // the start of a register, with a comma missing before it
		}
		if len(op) == 1 && (c == d && c != '+' && c != '-' && c != '*' && c != '/' && c != '%' || d == '=' && (c == '<' || c == '>')) {
			continue // the start of a longer one: ||, &&, <<, >>, <=
		}
		return op
	}
	return ""
}

func (p *parser) binary(level int) (value, bool) {
	if level == len(levels) {
		return p.unary()
	}
	a, ok := p.binary(level + 1)
	for ok {
		op := p.operator(level)
		if op == "" {
			break
		}
		pos := p.here()
		p.pos += len(op)
		var b value
		if b, ok = p.binary(level + 1); ok {
			a, ok = p.apply(op, a, b, pos)
		}
	}
	return a, ok
}

func (p *parser) unary() (value, bool) {
	c := p.skip()
	switch c {
	case '-', '+', '~', '!':
		pos := p.here()
		if !p.nest() {
			return value{}, false
		}
		p.pos++
		v, ok := p.unary()
		p.unnest()
		if !ok {
			return v, false
		}
		return p.negate(c, v, pos)
	case '(':
		return p.parenthesis()
	}
	if isDigit(c) || c == '.' && isDigit(p.peekAt(1)) {
		return p.number()
	}
	if p.atWarpSz() {
		p.pos += len(warpSz)
		return value{kind: warpSzValue, i: 32}, true
	}
	return value{}, p.unexpected("a constant")
}

const warpSz = "WARP_SZ"

// atWarpSz reports whether the constant WARP_SZ is next.
func (p *parser) atWarpSz() bool {
	return p.peek() == 'W' && strings.HasPrefix(p.src[p.pos:], warpSz) && !isIdentPart(p.peekAt(len(warpSz)))
}

// parenthesis reads (expression) or a cast such as (.s64) and its operand.
func (p *parser) parenthesis() (value, bool) {
	p.pos++
	c := p.skip()
	cast := ""
	if c == '.' && !isDigit(p.peekAt(1)) {
		p.pos++
		c = p.skip()
	}
	if c == 's' || c == 'u' {
		cast = p.ident()
		if cast != "s64" && cast != "u64" {
			return value{}, p.failHere("a constant casts to .s64 or .u64 only, found `.%s`", cast)
		}
	}
	if cast == "" {
		v, ok := p.expr()
		v.hex = false
		return v.plain(), ok && p.expect(')', "after the expression")
	}
	if !p.expect(')', "after the type of a cast") || !p.nest() {
		return value{}, false
	}
	pos := p.here()
	v, ok := p.unary()
	p.unnest()
	if ok && v.kind != intValue && v.kind != warpSzValue {
		return value{}, p.fail(pos, "a cast takes an integer")
	}
	return value{i: v.i, unsigned: cast == "u64"}, ok
}

// plain replaces WARP_SZ by its number, for use inside an expression.
func (v value) plain() value {
	if v.kind == warpSzValue {
		return intOf(v.i)
	}
	return v
}

// negate applies a unary operator.
func (p *parser) negate(op byte, v value, pos ptx.Pos) (value, bool) {
	v = v.plain()
	v.hex = false
	switch {
	case v.kind == floatValue:
		return v, p.fail(pos, "a 0f constant takes no operator: write its bits")
	case v.kind == doubleValue && op == '-':
		v = doubleOf(-v.double())
	case op == '+':
	case v.kind == doubleValue:
		return v, p.fail(pos, "`%c` needs an integer", op)
	case op == '-':
		v.i = -v.i
		if v.i == math.MinInt64 {
			v.unsigned = false // -9223372036854775808 fits an s64, but 9223372036854775808 does not
		}
	case op == '~':
		v.i = ^v.i
	default:
		v = intOf(truth(v.i == 0))
	}
	return v, true
}

// apply computes a op b.
func (p *parser) apply(op string, a, b value, pos ptx.Pos) (value, bool) {
	a, b = a.plain(), b.plain()
	switch {
	case a.kind == floatValue || b.kind == floatValue:
		return a, p.fail(pos, "a 0f constant takes no operator: write its bits")
	case a.kind != b.kind:
		return a, p.fail(pos, "`%s` between an integer and a floating-point constant", op)
	case a.kind == doubleValue:
		f, ok := doubleOp(op, a.double(), b.double())
		if !ok {
			return a, p.fail(pos, "`%s` needs integers", op)
		}
		return doubleOf(f), true
	case b.i == 0 && (op == "/" || op == "%"):
		return a, p.fail(pos, "division by zero")
	}
	u := a.unsigned || b.unsigned
	if v, ok := compare(op, a.i, b.i, u); ok {
		return v, true
	}
	if op == "<<" || op == ">>" {
		return value{i: shift(op, a.i, uint64(b.i), a.unsigned), unsigned: a.unsigned}, true
	}
	return value{i: arithmetic(op, a.i, b.i, u), unsigned: u}, true
}

func doubleOp(op string, a, b float64) (float64, bool) {
	switch op {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	case "/":
		return a / b, true
	}
	return 0, false
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// compare handles the operators whose result is a truth value.
func compare(op string, a, b int64, unsigned bool) (value, bool) {
	less, greater := a < b, a > b
	if unsigned {
		less, greater = uint64(a) < uint64(b), uint64(a) > uint64(b)
	}
	var t bool
	switch op {
	case "||":
		t = a != 0 || b != 0
	case "&&":
		t = a != 0 && b != 0
	case "==":
		t = a == b
	case "!=":
		t = a != b
	case "<":
		t = less
	case ">":
		t = greater
	case "<=":
		t = !greater
	case ">=":
		t = !less
	default:
		return value{}, false
	}
	return intOf(truth(t)), true
}

func shift(op string, a int64, n uint64, unsigned bool) int64 {
	switch {
	case op == "<<":
		return a << n
	case unsigned:
		return int64(uint64(a) >> n)
	}
	return a >> n
}

func arithmetic(op string, a, b int64, unsigned bool) int64 {
	switch op {
	case "|":
		return a | b
	case "^":
		return a ^ b
	case "&":
		return a & b
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		if unsigned {
			return int64(uint64(a) / uint64(b))
		}
		return a / b
	}
	if unsigned {
		return int64(uint64(a) % uint64(b))
	}
	return a % b
}
