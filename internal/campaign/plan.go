package campaign

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/timing"
)

// PlanNames are the values of --plan, the shortest plan first.
var PlanNames = []string{"smoke", "quick", "full"}

// Plan returns a plan by its name.
func Plan(name string) lab.Plan {
	switch name {
	case "full":
		return lab.Full()
	case "quick":
		return lab.Quick()
	}
	return lab.Smoke()
}

// Methods returns every combination of the values of --mode and --cache. An empty list stands for
// all values.
func Methods(modes, caches []string) (list []timing.Method, err error) {
	if len(modes) == 0 {
		modes = []string{string(timing.Graph), string(timing.Event)}
	}
	if len(caches) == 0 {
		caches = []string{string(timing.Warm), string(timing.Cold)}
	}
	for _, m := range modes {
		if m != string(timing.Graph) && m != string(timing.Event) {
			return nil, fmt.Errorf("--mode %s: use graph or event", m)
		}
		for _, c := range caches {
			if c != string(timing.Warm) && c != string(timing.Cold) {
				return nil, fmt.Errorf("--cache %s: use warm or cold", c)
			}
			list = append(list, timing.Method{Mode: timing.Mode(m), Cache: timing.Cache(c)})
		}
	}
	return list, nil
}

// bothModes returns the methods graph and event for each state of the cache.
func bothModes(caches ...timing.Cache) (list []timing.Method) {
	for _, mode := range []timing.Mode{timing.Graph, timing.Event} {
		for _, cache := range caches {
			list = append(list, timing.Method{Mode: mode, Cache: cache})
		}
	}
	return list
}
