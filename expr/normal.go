package expr

import "strings"

// Normal returns e in its normal form: the same operations with fixed spacing, decimal
// numbers and only the parentheses that are needed. Two expressions that differ in
// spelling alone have the same normal form: "a * (b*c)" keeps its parentheses, because
// they change the order of the operations, and "(a*b) * c" becomes "a*b*c".
func (e Expr) Normal() Expr {
	if e.root == nil {
		return e
	}
	var w normalWriter
	root := w.write(e.root, 0)
	return Expr{w.String(), root}
}

// normalWriter writes an expression and copies its nodes, each with its new offset.
type normalWriter struct{ strings.Builder }

// strengths orders the operators from the weakest to the strongest, in the order of the
// parser's methods. What is not listed is a number, a name or a call.
var strengths = map[string]int{
	"?": 0, "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3,
	"+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "neg": 6, "!": 6,
}

const comparisonStrength = 3

// write writes n, in parentheses if its operator is weaker than least.
func (w *normalWriter) write(n *node, least int) *node {
	strength, isOperator := strengths[n.op]
	if isOperator && strength < least {
		w.WriteByte('(')
		defer w.WriteByte(')')
	}
	if isOperator && len(n.args) == 2 {
		return w.binary(n, strength)
	}
	out := &node{op: n.op, val: n.val, name: n.name, at: w.Len()}
	switch n.op {
	case "?":
		out.args = append(out.args, w.write(n.args[0], strength+1))
		out.at = w.Len() + 1
		w.WriteString(" ? ")
		out.args = append(out.args, w.write(n.args[1], 0))
		w.WriteString(" : ")
		out.args = append(out.args, w.write(n.args[2], 0))
	case "number":
		w.WriteString(n.val.String())
	case "name":
		w.WriteString(n.name)
	case "neg", "!":
		out.args = []*node{w.unary(n.op, n.args[0])}
	default:
		w.WriteString(n.op + "(")
		for i, arg := range n.args {
			if i > 0 {
				w.WriteString(", ")
			}
			out.args = append(out.args, w.write(arg, 0))
		}
		w.WriteByte(')')
	}
	return out
}

// unary writes a sign and its operand. The minus of a number is written as -(1), because
// the parser reads -1 as one number.
func (w *normalWriter) unary(op string, arg *node) *node {
	if op == "!" {
		w.WriteByte('!')
		return w.write(arg, strengths[op])
	}
	w.WriteByte('-')
	if arg.op != "number" {
		return w.write(arg, strengths[op])
	}
	w.WriteByte('(')
	defer w.WriteByte(')')
	return w.write(arg, 0)
}

// binary writes two operands with their operator. Operators of equal strength are read
// from left to right, so the right operand must be stronger. Comparisons do not chain, so
// there the left one must be stronger, too.
func (w *normalWriter) binary(n *node, strength int) *node {
	left := strength
	if strength == comparisonStrength {
		left++
	}
	out := &node{op: n.op, args: []*node{w.write(n.args[0], left)}}
	sign := " " + n.op + " "
	out.at = w.Len() + 1
	if strength == strengths["*"] {
		sign = n.op
		out.at = w.Len()
	}
	w.WriteString(sign)
	out.args = append(out.args, w.write(n.args[1], strength+1))
	return out
}
