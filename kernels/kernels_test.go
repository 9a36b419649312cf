package kernels

import (
	"slices"
	"strings"
	"testing"
)

// TestBase wants every kernel but the first to have one to beat: a stage before it,
// and for designs for Hopper the same, of which none is a design.
func TestBase(t *testing.T) {
	names := Names()
	for i, name := range names {
		base := Base(name)
		if (base == "") != (i == 0) || slices.Index(names, base) >= i {
			t.Errorf("%s builds on %q", name, base)
		}
		if strings.HasPrefix(name, "hopper") && base != "stage5-persistent" {
			t.Errorf("%s is judged against %s", name, base)
		}
		if i > 0 && !strings.HasPrefix(idea(name), base+" + ") {
			t.Errorf("%s: the idea is %q", name, idea(name))
		}
	}
	for name, want := range map[string]string{"stage3b": "stage2", "stage4": "stage3b", "stage5": "stage3b", "nothing": ""} {
		if got := Base(name); got != want {
			t.Errorf("%s builds on %q, want %q", name, got, want)
		}
	}
	if rungs := Ladder(); rungs[len(rungs)-1] != "hopper" || !slices.Contains(names, rungs[0]) {
		t.Errorf("the ladder is %v", rungs)
	}
}

func idea(name string) string {
	_, v, _ := Find(name)
	return v.Idea
}
