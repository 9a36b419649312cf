// Package expr evaluates expressions over named sizes, such as a grid of
// "cdiv(Sq, 128)" blocks or a softmax scale of "scale*1.4426950408889634".
//
// An expression is plain text, so a kernel's contract can be stored as JSON and
// read by Go, C and Python. The grammar is, from the weakest operator to the
// strongest:
//
//	c ? a : b                  choice; only the chosen side is evaluated
//	a || b                     or;  b is evaluated only if a is false
//	a && b                     and; b is evaluated only if a is true
//	== != < <= > >=            comparisons; they give 1 or 0 and do not chain
//	+ -                        from left to right
//	* / %                      from left to right
//	-a !a                      negation; "not"
//	(a) min(a, …) max(a, …) cdiv(a, b)
//	12 0x1f 0.5 1e-3 Sq q.stride1
//
// cdiv(a, b) is a/b rounded up. A name consists of letters, digits, underscores
// and dots, and no part between dots starts with a digit.
//
// # Integers and floats
//
// Integers have 64 bits. An operation that overflows is an error. Division,
// remainder and cdiv refuse negative operands, because languages disagree about
// them, and division by zero is an error.
//
// A literal with a fraction or an exponent is a float, and a name may be bound to
// a float. If a float takes part in the value of an expression, the expression is
// computed in float64 as a whole: "scale*(1/D)" is scale divided by D. Otherwise it
// is computed with integers: "1/D" is 0. [Expr.Float] computes every expression in
// float64, so there "1/D" is the reciprocal of D. A condition, and an operand of %,
// cdiv, && or ||, is an expression of its own under this rule, and so is each
// comparison.
//
// # Limits
//
// A text has at most 4096 bytes, 256 numbers and names, and 32 levels of nesting.
// [Parse] refuses a text beyond them, so a text from a stranger is safe to parse.
package expr
