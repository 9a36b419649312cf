package abi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Expr is an expression over the extents of a problem. The zero value is none.
type Expr struct {
	text string
	root *node
}

// node is an operation with its operands, a number or a name.
type node struct {
	op    string // "+", "min", "num", "name", …
	args  []*node
	whole bool // of a number: it has no fraction, and is int
	int   int64
	num   float64
	name  string
	at    int // offset in the text
}

// ExprError is what is wrong with an expression, and where in its text.
type ExprError struct {
	Text   string
	Offset int
	Msg    string
}

func (e *ExprError) Error() string { return fmt.Sprintf("%q: %s", e.Text, e.Msg) }

// ParseExpr reads an expression.
func ParseExpr(text string) (Expr, error) {
	p := &exprParser{text: text}
	root, err := p.comparison()
	if err == nil {
		if p.space(); p.at < len(text) {
			err = p.errorf(p.at, "%q is not expected here", text[p.at:])
		}
	}
	if err != nil {
		return Expr{}, err
	}
	return Expr{text, root}, nil
}

// MustExpr is ParseExpr of a text that is right.
func MustExpr(text string) Expr {
	e, err := ParseExpr(text)
	if err != nil {
		panic(err)
	}
	return e
}

// IsZero reports whether there is no expression.
func (e Expr) IsZero() bool { return e.root == nil }

// uses reports whether one of some names is in it.
func (e Expr) uses(names ...string) bool {
	var in func(n *node) bool
	in = func(n *node) bool {
		return n.op == "name" && slices.Contains(names, n.name) || slices.ContainsFunc(n.args, in)
	}
	return e.root != nil && in(e.root)
}

func (e Expr) String() string { return e.text }

// MarshalJSON writes the text.
func (e Expr) MarshalJSON() ([]byte, error) { return json.Marshal(e.text) }

// UnmarshalJSON reads a text or a plain number.
func (e *Expr) UnmarshalJSON(data []byte) (err error) {
	var text string
	if json.Unmarshal(data, &text) != nil {
		var n json.Number
		if err := json.Unmarshal(data, &n); err != nil {
			return errors.New("an expression is a string or a number")
		}
		text = n.String()
	}
	*e, err = ParseExpr(text)
	return err
}

const mostDepth = 64

type exprParser struct {
	text  string
	at    int
	depth int
}

func (p *exprParser) errorf(at int, format string, args ...any) error {
	return &ExprError{p.text, at, fmt.Sprintf(format, args...)}
}

func (p *exprParser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// take is the first of some operators that stands here, or "".
func (p *exprParser) take(ops ...string) (string, int) {
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

func (p *exprParser) comparison() (*node, error) {
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

func (p *exprParser) sum() (*node, error) { return p.chain(p.product, "+", "-") }

func (p *exprParser) product() (*node, error) { return p.chain(p.unary, "*", "/", "%") }

// chain reads operands between operators of one rank, from left to right.
func (p *exprParser) chain(operand func() (*node, error), ops ...string) (*node, error) {
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

func (p *exprParser) unary() (*node, error) {
	if p.depth++; p.depth > mostDepth {
		return nil, p.errorf(p.at, "nested too deeply")
	}
	defer func() { p.depth-- }()
	if op, at := p.take("-"); op != "" {
		n, err := p.unary()
		return &node{op: "neg", args: []*node{n}, at: at}, err
	}
	if op, _ := p.take("("); op != "" {
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		return n, p.expect(")")
	}
	return p.atom()
}

func (p *exprParser) expect(what string) error {
	if got, at := p.take(what); got == "" {
		return p.errorf(at, "%q is missing", what)
	}
	return nil
}

// atom reads a number, a name or a call.
func (p *exprParser) atom() (*node, error) {
	p.space()
	start := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	word := p.text[start:p.at]
	switch {
	case word == "":
		return nil, p.errorf(start, "a number, a name or ( is missing")
	case word[0] >= '0' && word[0] <= '9' || word[0] == '.':
		return p.number(word, start)
	}
	if op, _ := p.take("("); op != "" {
		return p.call(word, start)
	}
	if _, known := names[word]; !known {
		return nil, p.errorf(start, "unknown name %s: there are B, H, Hkv, Sq, Skv, S, D, SMs, BlocksPerSM, scale, qs, ks and vs", word)
	}
	return &node{op: "name", name: word, at: start}, nil
}

func (p *exprParser) number(word string, at int) (*node, error) {
	if n, err := strconv.ParseInt(word, 0, 64); err == nil {
		return &node{op: "num", whole: true, int: n, num: float64(n), at: at}, nil
	}
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsInf(x, 0) {
		return nil, p.errorf(at, "%s is no number", word)
	}
	return &node{op: "num", num: x, at: at}, nil
}

func (p *exprParser) call(name string, at int) (*node, error) {
	n := &node{op: name, at: at}
	for {
		arg, err := p.sum()
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, arg)
		if op, _ := p.take(","); op == "" {
			break
		}
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	switch {
	case name != "min" && name != "max" && name != "cdiv":
		return nil, p.errorf(at, "unknown function %s: there are min, max and cdiv", name)
	case name == "cdiv" && len(n.args) != 2:
		return nil, p.errorf(at, "cdiv of %d numbers: it takes two", len(n.args))
	}
	return n, nil
}

func isWord(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Int is the value as an integer.
func (e Expr) Int(v Vars) (int64, error) {
	if e.root == nil {
		return 0, nil
	}
	return e.int(e.root, v)
}

// Holds reports whether a comparison is true.
func (e Expr) Holds(v Vars) (bool, error) {
	n, err := e.Int(v)
	return n != 0, err
}

// Float is the value as a number with a fraction.
func (e Expr) Float(v Vars) (float64, error) { return e.float(e.root, v) }

func (e Expr) errorf(n *node, format string, args ...any) error {
	return &ExprError{e.text, n.at, fmt.Sprintf(format, args...)}
}

func (e Expr) int(n *node, v Vars) (int64, error) {
	switch n.op {
	case "num":
		if !n.whole {
			return 0, e.errorf(n, "%v has a fraction, and an integer is wanted", n.num)
		}
		return n.int, nil
	case "name":
		if names[n.name] == nil {
			return 0, e.errorf(n, "%s has a fraction, and an integer is wanted", n.name)
		}
		return int64(names[n.name](v)), nil
	}
	args := make([]int64, len(n.args))
	for i, a := range n.args {
		var err error
		if args[i], err = e.int(a, v); err != nil {
			return 0, err
		}
	}
	return e.apply(n, args)
}

func (e Expr) apply(n *node, args []int64) (int64, error) {
	a, b := args[0], args[len(args)-1]
	switch n.op {
	case "/", "%", "cdiv":
		if b == 0 {
			return 0, e.errorf(n, "division by zero")
		}
		if a == math.MinInt64 && b == -1 {
			return 0, e.errorf(n, "overflow")
		}
	}
	truth := func(b bool) (int64, error) {
		if b {
			return 1, nil
		}
		return 0, nil
	}
	ok := true
	var r int64
	switch n.op {
	case "neg":
		r, ok = -a, a != math.MinInt64
	case "+":
		r, ok = a+b, (a+b > a) == (b > 0)
	case "-":
		r, ok = a-b, (a-b < a) == (b > 0)
	case "*":
		r, ok = multiply(a, b)
	case "/":
		r = a / b
	case "%":
		r = a % b
	case "cdiv":
		if r = a / b; a%b != 0 && (a < 0) == (b < 0) {
			r++
		}
	case "min", "max":
		r = a
		for _, x := range args {
			if (x < r) == (n.op == "min") {
				r = x
			}
		}
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "<":
		return truth(a < b)
	case "<=":
		return truth(a <= b)
	case ">":
		return truth(a > b)
	case ">=":
		return truth(a >= b)
	}
	if !ok {
		return 0, e.errorf(n, "overflow")
	}
	return r, nil
}

func multiply(a, b int64) (int64, bool) {
	if a == math.MinInt64 || b == math.MinInt64 {
		return 0, a == 0 || b == 0
	}
	abs := func(x int64) uint64 { return uint64(max(x, -x)) }
	hi, lo := bits.Mul64(abs(a), abs(b))
	return a * b, hi == 0 && lo <= math.MaxInt64
}

func (e Expr) float(n *node, v Vars) (float64, error) {
	switch n.op {
	case "num":
		return n.num, nil
	case "name":
		return v.float(n.name), nil
	case "%", "cdiv", "==", "!=", "<", "<=", ">", ">=":
		return 0, e.errorf(n, "%s is of integers", n.op)
	}
	args := make([]float64, len(n.args))
	for i, a := range n.args {
		var err error
		if args[i], err = e.float(a, v); err != nil {
			return 0, err
		}
	}
	a, b := args[0], args[len(args)-1]
	switch n.op {
	case "neg":
		return -a, nil
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		return a / b, nil
	}
	for _, x := range args {
		if (x < a) == (n.op == "min") {
			a = x
		}
	}
	return a, nil
}
