package execrun

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	emucount "github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// parseKinds reads the value of --check: all, none, or kinds with commas.
func parseKinds(value string) ([]finding.Kind, error) {
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
			hint := "all, none and the kinds that attest exec --help lists are understood"
			if near := nearest(string(k)); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, fmt.Errorf("--check %s: there is no kind %q; %s", value, k, hint)
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// nearest returns the kind whose name is most like a misspelt one, or "".
func nearest(name string) string {
	var names []string
	for _, k := range check.Kinds() {
		names = append(names, string(k))
	}
	return term.Nearest(name, names)
}

// KindsHelp returns one line of help per kind.
func KindsHelp() string {
	var b strings.Builder
	for _, r := range check.Rules() {
		fmt.Fprintf(&b, "  %-18s  %s\n", r.Kind, r.Short)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// watch is what the flags ask to observe. It is an observe.Observer that makes a checker
// and a counter for each launch, so that each has its own results.
type watch struct {
	kinds   []finding.Kind
	count   bool
	checker *check.Checker
	counter *emucount.Counter
}

// observer returns the watch, or nil when there is nothing to watch for.
func (w *watch) observer() observe.Observer {
	if len(w.kinds) == 0 && !w.count {
		return nil
	}
	return w
}

// Launch is called by the emulator.
func (w *watch) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	var all []observe.Observer
	if len(w.kinds) > 0 {
		w.checker = check.New(w.kinds...)
		all = append(all, w.checker)
	}
	if w.count {
		w.counter = emucount.New()
		all = append(all, w.counter)
	}
	return observe.Tee(all...).Launch(info)
}

// take returns what the last launch showed.
func (w *watch) take() (found []finding.Finding, counts *emucount.Counts) {
	if w.checker != nil {
		found = w.checker.Findings()
	}
	if w.counter != nil {
		counts = w.counter.Launches()[0]
	}
	w.checker, w.counter = nil, nil
	return found, counts
}
