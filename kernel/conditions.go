package kernel

import "github.com/GOATnote-Inc/attest/expr"

// decides calls visit for each expression of a kernel that decides how it is launched.
func (k *Kernel) decides(visit func(expr.Expr)) {
	for _, l := range k.Let {
		visit(l.Value)
	}
	for i := range k.Launches {
		l := &k.Launches[i]
		for _, list := range [][]expr.Expr{l.Grid, l.Block, l.Cluster, {l.Shared, l.When}} {
			for _, e := range list {
				visit(e)
			}
		}
		for j := range l.Args {
			visit(l.Args[j].Value)
		}
	}
	for i := range k.Operands {
		for _, e := range append(append([]expr.Expr{}, k.Operands[i].Dims...), k.Operands[i].Strides...) {
			visit(e)
		}
	}
}

// Constants returns the integers in the expressions that decide how the kernel is launched.
func (k *Kernel) Constants() (list []int64) {
	k.decides(func(e expr.Expr) { list = append(list, e.Integers()...) })
	for _, r := range k.Require {
		list = append(list, r.Holds.Integers()...)
	}
	return list
}

// Conditions returns all comparisons and conditions in the expressions that decide how the kernel is
// launched, always in the same order.
func (k *Kernel) Conditions() (list []expr.Expr) {
	k.decides(func(e expr.Expr) { list = append(list, e.Conditions()...) })
	return list
}

// Outcomes returns the results of [Kernel.Conditions] for a problem. One that cannot be computed is false.
func (k *Kernel) Outcomes(p Problem, c Chip) (list []bool, err error) {
	env, err := k.env(p, c, nil)
	if err != nil {
		return nil, err
	}
	for _, condition := range k.Conditions() {
		yes, err := condition.Bool(env)
		list = append(list, yes && err == nil)
	}
	return list, nil
}
