package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// ParseKinds reads the value of --check: all, none, or kinds of defects with commas between
// them.
func ParseKinds(value string) ([]finding.Kind, error) {
	switch value {
	case "all":
		return check.Kinds(), nil
	case "none", "":
		return nil, nil
	}
	var kinds []finding.Kind
	for name := range strings.SplitSeq(value, ",") {
		k := finding.Kind(strings.TrimSpace(name))
		if !slices.Contains(check.Kinds(), k) {
			hint := "use all, none or kinds that attest exec --help lists"
			if near := nearestKind(string(k)); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, fmt.Errorf("--check %s: there is no kind %q; %s", value, k, hint)
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// nearestKind returns the kind whose name is most like a misspelt one, or "".
func nearestKind(name string) string {
	var names []string
	for _, k := range check.Kinds() {
		names = append(names, string(k))
	}
	return term.Nearest(name, names)
}

// KindsHelp returns one line of help per kind of defect.
func KindsHelp() string {
	var b strings.Builder
	for _, r := range check.Rules() {
		fmt.Fprintf(&b, "  %-18s  %s\n", r.Kind, r.Short)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
