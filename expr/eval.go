package expr

import (
	"math"
	"math/bits"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Eval returns the value of e. It is a float if a float takes part in it, and an
// integer otherwise.
func (e Expr) Eval(env Env) (Value, error) {
	if err := e.exists(); err != nil {
		return Value{}, err
	}
	if e.root.float(env) != nil {
		x, err := e.real(e.root, env)
		return Float(x), err
	}
	n, err := e.int(e.root, env)
	return Int(n), err
}

// Int returns the value of e. It is an error if a float takes part in it.
func (e Expr) Int(env Env) (int64, error) {
	if err := e.exists(); err != nil {
		return 0, err
	}
	return e.whole(e.root, env, "")
}

// Float returns the value of e, computed in float64 throughout: "1/D" is the
// reciprocal of D.
func (e Expr) Float(env Env) (float64, error) {
	if err := e.exists(); err != nil {
		return 0, err
	}
	return e.real(e.root, env)
}

// Bool reports whether the value of e is an integer other than 0.
func (e Expr) Bool(env Env) (bool, error) {
	n, err := e.Int(env)
	return n != 0, err
}

func (e Expr) exists() error {
	if e.root == nil {
		return &Error{Msg: "there is no expression"}
	}
	return nil
}

// float returns the first number or name that makes the value of n a float, or nil
// if n is an integer. It looks at both sides of a choice, so that the type of an
// expression does not depend on the condition.
func (n *node) float(env Env) *node {
	args := n.args
	switch n.op {
	case "number":
		if n.val.float {
			return n
		}
	case "name":
		if env[n.name].float {
			return n
		}
	case "?":
		args = args[1:]
	case "neg", "+", "-", "*", "/", "min", "max":
	default:
		return nil // %, cdiv, comparisons and logic give integers
	}
	for _, a := range args {
		if f := a.float(env); f != nil {
			return f
		}
	}
	return nil
}

func (e Expr) lookup(n *node, env Env) (Value, error) {
	v, ok := env[n.name]
	switch {
	case !ok:
		return v, e.unknown(n, sorted.Keys(env))
	case v.float && (math.IsNaN(v.num) || math.IsInf(v.num, 0)):
		return v, e.errorf(n, "%s is %v", n.name, v.num)
	}
	return v, nil
}

// whole evaluates n, which must be an integer. by is the operator that demands it.
func (e Expr) whole(n *node, env Env, by string) (int64, error) {
	f := n.float(env)
	if f == nil {
		return e.int(n, env)
	}
	what := f.name
	if f.op == "number" {
		what = f.val.String()
	}
	if by != "" {
		return 0, e.errorf(f, "%s is a float, and %s takes integers", what, by)
	}
	return 0, e.errorf(f, "%s is a float, and an integer is needed", what)
}

// int evaluates n, which no float makes a float.
func (e Expr) int(n *node, env Env) (int64, error) {
	switch n.op {
	case "number":
		return n.val.int, nil
	case "name":
		v, err := e.lookup(n, env)
		return v.int, err
	case "?":
		side, err := e.side(n, env)
		if err != nil {
			return 0, err
		}
		return e.int(side, env)
	case "&&", "||", "!":
		yes, err := e.logic(n, env)
		return Bool(yes).int, err
	case "==", "!=", "<", "<=", ">", ">=":
		yes, err := e.compare(n, env)
		return Bool(yes).int, err
	}
	args := make([]int64, len(n.args))
	for i, a := range n.args {
		var err error
		if n.op == "%" || n.op == "cdiv" {
			args[i], err = e.whole(a, env, n.op)
		} else {
			args[i], err = e.int(a, env)
		}
		if err != nil {
			return 0, err
		}
	}
	switch n.op {
	case "/", "%", "cdiv":
		return e.divide(n, args[0], args[1])
	}
	r, ok := arithmetic(n.op, args)
	if !ok {
		return 0, e.errorf(n, "the result of %s overflows a 64-bit integer", sign(n.op))
	}
	return r, nil
}

// sign is an operator as the text has it.
func sign(op string) string {
	if op == "neg" {
		return "-"
	}
	return op
}

// side returns the operand of a choice that its condition selects.
func (e Expr) side(n *node, env Env) (*node, error) {
	yes, err := e.whole(n.args[0], env, "?")
	if yes != 0 {
		return n.args[1], err
	}
	return n.args[2], err
}

// logic evaluates &&, || and !, and only the operands that decide.
func (e Expr) logic(n *node, env Env) (bool, error) {
	a, err := e.whole(n.args[0], env, n.op)
	switch {
	case err != nil:
		return false, err
	case n.op == "!":
		return a == 0, nil
	case (a != 0) == (n.op == "||"):
		return a != 0, nil
	}
	b, err := e.whole(n.args[1], env, n.op)
	return b != 0, err
}

// compare evaluates a comparison, in float64 if one of its sides is a float.
func (e Expr) compare(n *node, env Env) (bool, error) {
	left, right := n.args[0], n.args[1]
	if left.float(env) == nil && right.float(env) == nil {
		a, err := e.int(left, env)
		if err != nil {
			return false, err
		}
		b, err := e.int(right, env)
		return ordered(n.op, a, b), err
	}
	a, err := e.real(left, env)
	if err != nil {
		return false, err
	}
	b, err := e.real(right, env)
	return ordered(n.op, a, b), err
}

func ordered[T int64 | float64](op string, a, b T) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

func (e Expr) divide(n *node, a, b int64) (int64, error) {
	switch {
	case b == 0:
		return 0, e.errorf(n, "division by zero")
	case a < 0 || b < 0:
		return 0, e.errorf(n, "%s of %d and %d: its operands must not be negative", n.op, a, b)
	case n.op == "%":
		return a % b, nil
	case n.op == "cdiv" && a%b != 0:
		return a/b + 1, nil
	}
	return a / b, nil
}

// arithmetic returns the result and whether it fits.
func arithmetic(op string, args []int64) (r int64, ok bool) {
	a, b := args[0], args[len(args)-1]
	switch op {
	case "neg":
		return -a, a != math.MinInt64
	case "+":
		return a + b, (a+b >= a) == (b >= 0)
	case "-":
		return a - b, (a-b <= a) == (b >= 0)
	case "*":
		return multiply(a, b)
	case "min":
		return slices.Min(args), true
	}
	return slices.Max(args), true
}

func multiply(a, b int64) (int64, bool) {
	// uint64(-a) is the magnitude of every negative a, that of the least one too.
	abs := func(x int64) uint64 {
		if x < 0 {
			return uint64(-x)
		}
		return uint64(x)
	}
	most := uint64(math.MaxInt64)
	if (a < 0) != (b < 0) {
		most++
	}
	hi, lo := bits.Mul64(abs(a), abs(b))
	return a * b, hi == 0 && lo <= most
}

// real evaluates n in float64.
func (e Expr) real(n *node, env Env) (float64, error) {
	switch n.op {
	case "number":
		return n.val.Float64(), nil
	case "name":
		v, err := e.lookup(n, env)
		return v.Float64(), err
	case "?":
		side, err := e.side(n, env)
		if err != nil {
			return 0, err
		}
		return e.real(side, env)
	case "neg", "+", "-", "*", "/", "min", "max":
	default:
		i, err := e.int(n, env)
		return float64(i), err
	}
	args := make([]float64, len(n.args))
	for i, a := range n.args {
		var err error
		if args[i], err = e.real(a, env); err != nil {
			return 0, err
		}
	}
	if n.op == "/" && args[1] == 0 {
		return 0, e.errorf(n, "division by zero")
	}
	x := realArithmetic(n.op, args)
	if math.IsInf(x, 0) {
		return 0, e.errorf(n, "the result of %s overflows a float", n.op)
	}
	return x, nil
}

func realArithmetic(op string, args []float64) float64 {
	a, b := args[0], args[len(args)-1]
	switch op {
	case "neg":
		return -a
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "min":
		return slices.Min(args)
	}
	return slices.Max(args)
}
