package expr

import "slices"

// Conditions returns the parts of e that are true or false: comparisons, combinations of them, and
// conditions of choices.
func (e Expr) Conditions() (list []Expr) {
	e.root.each(func(n *node) {
		if slices.Contains([]string{"==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"}, n.op) {
			list = append(list, Expr{e.text, n})
		}
		if n.op == "?" {
			list = append(list, Expr{e.text, n.args[0]})
		}
	})
	return list
}

// Integers returns the integers in the text of e.
func (e Expr) Integers() (list []int64) {
	e.root.each(func(n *node) {
		if n.op == "number" && !n.val.float {
			list = append(list, n.val.int)
		}
	})
	return list
}
