package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
)

// TestRulesExplainEveryKind: each kind has texts for help, SARIF and editors.
func TestRulesExplainEveryKind(t *testing.T) {
	rules, kinds := check.Rules(), check.Kinds()
	if !slices.IsSorted(kinds) || len(rules) != len(kinds) || !slices.Contains(kinds, check.SharedRace) {
		t.Errorf("%d rules, kinds %v", len(rules), kinds)
	}
	for _, r := range append(rules, finding.Rules...) {
		if r.Short == "" || !strings.HasSuffix(r.Full, ".") || !strings.HasSuffix(r.Help, ".") {
			t.Errorf("%s is not explained: %+v", r.Kind, r)
		}
		if len(r.Short) > 78 {
			t.Errorf("%s: %d columns do not fit a help text", r.Kind, len(r.Short))
		}
	}
}
