package attn

import (
	"sync"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// parsed holds the expressions of rules by their text. A family states its rules again for
// each configuration that it checks, and tuning checks many.
var parsed = struct {
	sync.Mutex
	rules map[string]expr.Expr
}{rules: map[string]expr.Expr{}}

// Rule returns a limit on the sizes of a problem: the expression that must hold, and the
// sentence for a problem beyond the limit. The sentence names the limit and says what to do;
// [kernel.Rule.Check] adds the problem's values.
func Rule(holds, why string) kernel.Rule {
	parsed.Lock()
	defer parsed.Unlock()
	e, ok := parsed.rules[holds]
	if !ok {
		e = expr.Must(holds)
		parsed.rules[holds] = e
	}
	return kernel.Rule{Holds: e, Why: why}
}

// CheckRules returns the error of the first rule that does not hold for the problem. A
// family checks the rules that its contract states, so that a limit is written once.
func CheckRules(rules []kernel.Rule, p problem.Attention) error {
	env := p.Names()
	for _, r := range rules {
		if err := r.Check(env); err != nil {
			return err
		}
	}
	return nil
}
