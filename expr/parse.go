package expr

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The limits of a text. They bound the time and the stack that parsing and
// evaluation need.
const (
	mostBytes   = 4096
	mostTerms   = 256 // numbers and names
	mostNesting = 32  // parentheses, calls, signs and choices inside each other
)

// Parse reads an expression. Its error is an *Error.
func Parse(text string) (Expr, error) {
	p := &parser{text: text, depth: -1}
	if len(text) > mostBytes {
		return Expr{}, p.errorf(mostBytes, "the text has %d bytes, and at most %d are allowed", len(text), mostBytes)
	}
	root, err := p.choice()
	if err != nil {
		return Expr{}, err
	}
	if p.space(); p.at < len(text) {
		return Expr{}, p.unexpected()
	}
	return Expr{text, root}, nil
}

// parser reads a text by recursive descent: one method per strength of operators.
type parser struct {
	text  string
	at    int
	depth int
	terms int
}

func (p *parser) errorf(at int, format string, args ...any) error {
	return &Error{p.text, at, fmt.Sprintf(format, args...)}
}

// unexpected is the error for text where an operator or the end should be.
func (p *parser) unexpected() error {
	rest := p.text[p.at:]
	switch {
	case strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "=="):
		return p.errorf(p.at, "unexpected =: write == to compare")
	case strings.ContainsAny(rest[:1], "=!<>"):
		return p.errorf(p.at, "comparisons do not chain: write a < b && b < c")
	}
	if len(rest) > 16 {
		rest = rest[:16] + "…"
	}
	return p.errorf(p.at, "unexpected %q: an operator or the end should be here", rest)
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take reads the first of ops that stands here and returns it with its offset, or ""
// if none does.
func (p *parser) take(ops ...string) (string, int) {
	p.space()
	for _, op := range ops {
		if strings.HasPrefix(p.text[p.at:], op) {
			at := p.at
			p.at += len(op)
			return op, at
		}
	}
	return "", p.at
}

func (p *parser) expect(what, why string) error {
	if got, at := p.take(what); got == "" {
		return p.errorf(at, "%s is missing%s", what, why)
	}
	return nil
}

// enter counts a level of nesting. The caller calls leave when it returns.
func (p *parser) enter() error {
	if p.depth++; p.depth > mostNesting {
		return p.errorf(p.at, "more than %d levels of nesting", mostNesting)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) choice() (*node, error) {
	defer p.leave()
	if err := p.enter(); err != nil {
		return nil, err
	}
	cond, err := p.or()
	if err != nil {
		return nil, err
	}
	op, at := p.take("?")
	if op == "" {
		return cond, nil
	}
	yes, err := p.choice()
	if err != nil {
		return nil, err
	}
	if err := p.expect(":", ": a choice is c ? a : b"); err != nil {
		return nil, err
	}
	no, err := p.choice()
	return &node{op: "?", args: []*node{cond, yes, no}, at: at}, err
}

func (p *parser) or() (*node, error) { return p.chain(p.and, "||") }

func (p *parser) and() (*node, error) { return p.chain(p.comparison, "&&") }

func (p *parser) comparison() (*node, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	op, at := p.take("==", "!=", "<=", ">=", "<", ">")
	if op == "" {
		return left, nil
	}
	right, err := p.sum()
	return &node{op: op, args: []*node{left, right}, at: at}, err
}

func (p *parser) sum() (*node, error) { return p.chain(p.product, "+", "-") }

func (p *parser) product() (*node, error) { return p.chain(p.unary, "*", "/", "%") }

// chain reads operands between operators of equal strength, from left to right.
func (p *parser) chain(operand func() (*node, error), ops ...string) (*node, error) {
	left, err := operand()
	for err == nil {
		op, at := p.take(ops...)
		if op == "" {
			break
		}
		var right *node
		right, err = operand()
		left = &node{op: op, args: []*node{left, right}, at: at}
	}
	return left, err
}

func (p *parser) unary() (*node, error) {
	op, at := p.take("-", "!")
	if op == "" {
		return p.operand()
	}
	defer p.leave()
	if err := p.enter(); err != nil {
		return nil, err
	}
	if p.space(); op == "-" && p.numberHere() {
		// The sign belongs to the number: the least integer has no positive
		// counterpart.
		return p.number(at, true)
	}
	if op == "-" {
		op = "neg"
	}
	arg, err := p.unary()
	return &node{op: op, args: []*node{arg}, at: at}, err
}

// operand reads a parenthesis, a number, a name or a call.
func (p *parser) operand() (*node, error) {
	if op, _ := p.take("("); op != "" {
		n, err := p.choice()
		if err != nil {
			return nil, err
		}
		return n, p.expect(")", "")
	}
	if p.numberHere() {
		return p.number(p.at, false)
	}
	start := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	word := p.text[start:p.at]
	if word == "" {
		return nil, p.errorf(start, "a number, a name or a parenthesis is missing")
	}
	if op, _ := p.take("("); op != "" {
		return p.call(word, start)
	}
	if isFunction(word) {
		return nil, p.errorf(start, "%s is a function: write %s(a, b)", word, word)
	}
	for part := range strings.SplitSeq(word, ".") {
		if part == "" || isDigit(part[0]) {
			return nil, p.errorf(start, "%s is not a name", word)
		}
	}
	return &node{op: "name", name: word, at: start}, p.term(start)
}

// term counts a number or a name.
func (p *parser) term(at int) error {
	if p.terms++; p.terms > mostTerms {
		return p.errorf(at, "more than %d numbers and names", mostTerms)
	}
	return nil
}

// numberHere reports whether a number starts here: a digit, or a point before one.
func (p *parser) numberHere() bool {
	rest := strings.TrimPrefix(p.text[p.at:], ".")
	return rest != "" && isDigit(rest[0])
}

// number reads a number that starts here without its sign. at is where it starts, with
// its sign.
func (p *parser) number(at int, negative bool) (*node, error) {
	start := p.at
	hex := strings.HasPrefix(p.text[start:], "0x") || strings.HasPrefix(p.text[start:], "0X")
	for p.at < len(p.text) {
		c := p.text[p.at]
		exponentSign := (c == '+' || c == '-') && !hex && (p.text[p.at-1]|0x20) == 'e'
		if !isWord(c) && !exponentSign {
			break
		}
		p.at++
	}
	word := p.text[start:p.at]
	v, msg := parseNumber(word, hex, negative)
	if msg != "" {
		return nil, p.errorf(start, "%s %s", word, msg)
	}
	return &node{op: "number", val: v, at: at}, p.term(at)
}

// parseNumber returns the value of a number, or what is wrong with it.
func parseNumber(word string, hex, negative bool) (v Value, msg string) {
	if !hex && strings.ContainsAny(word, ".eE") {
		x, err := strconv.ParseFloat(word, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return v, "is too large for a float"
		case err != nil || strings.Contains(word, "_"):
			return v, "is not a number"
		case negative:
			x = -x
		}
		return Float(x), ""
	}
	digits, base := word, 10
	if hex {
		digits, base = word[2:], 16
	} else if len(word) > 1 && word[0] == '0' {
		return v, "starts with 0, which C reads as octal: leave the 0 out"
	}
	n, err := strconv.ParseUint(digits, base, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return v, "is not a number"
	case err == nil && negative && n <= 1<<63:
		return Int(-int64(n)), ""
	case err != nil || n > math.MaxInt64:
		return v, "does not fit in a 64-bit integer"
	}
	return Int(int64(n)), ""
}

// call reads the arguments of a function and the closing parenthesis.
func (p *parser) call(name string, at int) (*node, error) {
	if !isFunction(name) {
		return nil, p.errorf(at, "unknown function %s: the functions are min, max and cdiv", name)
	}
	n := &node{op: name, at: at}
	for more := true; more; {
		arg, err := p.choice()
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, arg)
		op, _ := p.take(",")
		more = op != ""
	}
	if err := p.expect(")", ""); err != nil {
		return nil, err
	}
	if name == "cdiv" && len(n.args) != 2 {
		return nil, p.errorf(at, "cdiv takes two arguments, and this call has %d", len(n.args))
	}
	return n, nil
}

func isFunction(name string) bool { return name == "min" || name == "max" || name == "cdiv" }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || c == '.' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
