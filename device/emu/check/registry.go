package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// checker is a family of checks as it registers itself. A new checker is one file:
// an init function that calls register, and types with the hooks of hooks.go that
// the checker needs. No other file changes.
type checker struct {
	kinds []kind         // reported and explained by this checker
	also  []finding.Kind // reported too, and explained by another checker
	// start prepares the checker for a launch. It returns nil when the launch has
	// nothing to find for the checker.
	start func(l *launch) part
	// follows is set if the checker follows the values of loads: see follow.go.
	follows bool
}

// kind explains a kind of findings.
type kind struct {
	finding.Rule        // for help texts, editors and SARIF
	why, fix     string // the cause and the fix of a finding that does not bring its own
}

var (
	registry  []checker
	explained = map[finding.Kind]*kind{}
)

// register adds a checker. It panics when two checkers explain the same kind.
func register(c checker) {
	registry = append(registry, c)
	for i := range c.kinds {
		k := &c.kinds[i]
		if explained[k.Kind] != nil {
			panic(fmt.Sprintf("two checkers explain %s", k.Kind))
		}
		explained[k.Kind] = k
	}
}

// reports reports whether the checker finds some of the kinds.
func (c *checker) reports(kinds map[finding.Kind]bool) bool {
	return slices.ContainsFunc(c.kinds, func(k kind) bool { return kinds[k.Kind] }) ||
		slices.ContainsFunc(c.also, func(k finding.Kind) bool { return kinds[k] })
}

// Rules returns the explanations of all kinds, in the order of their names.
func Rules() []finding.Rule {
	var all []finding.Rule
	for _, k := range explained {
		all = append(all, k.Rule)
	}
	sorted.By(all, func(a, b finding.Rule) int { return cmp.Compare(a.Kind, b.Kind) })
	return all
}

// Kinds returns all kinds that the checkers report, in the order of their names.
func Kinds() []finding.Kind {
	var all []finding.Kind
	for _, r := range Rules() {
		all = append(all, r.Kind)
	}
	return all
}
