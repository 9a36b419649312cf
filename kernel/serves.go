package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Serves returns nil if the kernel computes the problem on the chip, or the reason why it
// does not.
func (k *Kernel) Serves(p Problem, c Chip) error {
	if err := k.Allows(p, c); err != nil {
		return err
	}
	return k.fits(p, c)
}

// Allows is Serves without the limits of launches, which [Kernel.Bind] checks.
func (k *Kernel) Allows(p Problem, c Chip) error {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Op() != k.Op {
		return fmt.Errorf("the kernel computes %s, not %s", k.Op, p.Op())
	}
	facts := p.Facts()
	for _, name := range sortedKeys(k.Fixed) {
		if facts[name] != k.Fixed[name] {
			return fmt.Errorf("%s is %s: this kernel is written for %s", name, cmp.Or(facts[name], "not given"), k.Fixed[name])
		}
	}
	for _, feature := range p.Uses() {
		if !slices.Contains(k.Supports, feature) {
			return fmt.Errorf("the problem uses %s, which this kernel does not support: it supports %s", feature, listed(k.Supports))
		}
	}
	env, err := k.env(p, c, nil)
	if err != nil {
		return err
	}
	for _, r := range k.Require {
		if err := r.Check(env); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error if the rule does not hold. The error has the rule's sentence, or
// its expression if there is none, and the values of the names in the rule.
func (r Rule) Check(env expr.Env) error {
	ok, err := r.Holds.Bool(env)
	if err != nil || ok {
		return err
	}
	why := r.Why
	if why == "" {
		why = fmt.Sprintf("the kernel needs %s", r.Holds)
	}
	var values []string
	for _, name := range r.Holds.Names() {
		values = append(values, fmt.Sprintf("%s is %v", name, env[name]))
	}
	if len(values) == 0 {
		return errors.New(why)
	}
	return fmt.Errorf("%s (%s)", why, strings.Join(values, ", "))
}

// fits refuses a chip that does not run the text or lacks shared memory.
func (k *Kernel) fits(p Problem, c Chip) error {
	if c == (Chip{}) {
		return nil
	}
	if t, err := k.Target(); err == nil {
		if err := c.Runs(t); err != nil {
			return err
		}
	}
	plan, err := k.Bind(p, c, Options{})
	if err != nil {
		return err
	}
	for _, s := range plan.Steps {
		if err := c.Holds(s.Shared); err != nil {
			return err
		}
	}
	return nil
}

func listed(features []string) string {
	if len(features) == 0 {
		return "no feature"
	}
	return strings.Join(features, ", ")
}

// Target returns the .target of the PTX.
func (k *Kernel) Target() (ptx.Target, error) {
	for line := range strings.Lines(k.PTX) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), ".target"); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
			name, _, _ = strings.Cut(name, "//")
			return ptx.ParseTarget(strings.TrimSpace(name))
		}
	}
	return ptx.Target{}, errors.New("the PTX has no .target")
}
