package check_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
)

// TestRulesExplainEveryKind: each kind has texts for help, SARIF and editors.
func TestRulesExplainEveryKind(t *testing.T) {
	if len(check.Rules) != len(check.Kinds) {
		t.Errorf("%d rules for %d kinds", len(check.Rules), len(check.Kinds))
	}
	for i, r := range append(check.Rules[:len(check.Rules):len(check.Rules)], finding.Rules...) {
		if i < len(check.Kinds) && r.Kind != check.Kinds[i] {
			t.Errorf("rule %d is of %s, want %s", i, r.Kind, check.Kinds[i])
		}
		if r.Short == "" || !strings.HasSuffix(r.Full, ".") || !strings.HasSuffix(r.Help, ".") {
			t.Errorf("%s is not explained: %+v", r.Kind, r)
		}
		if len(r.Short) > 78 {
			t.Errorf("%s: %d columns do not fit a help text", r.Kind, len(r.Short))
		}
	}
}
