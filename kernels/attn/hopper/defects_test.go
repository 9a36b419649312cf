package hopper

import (
	"regexp"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestNoDefects runs every variant under every checker, in several orders of warps.
func TestNoDefects(t *testing.T) {
	schedules, lengths := []uint64{1}, [][2]int{{100, 300}}
	if *full {
		schedules, lengths = []uint64{0, 1, 2, 3}, [][2]int{{1, 1}, {64, 128}, {100, 300}, {200, 500}}
	}
	turn := 0
	for _, d := range testedDims() {
		for i, c := range variants(d) {
			if d > 128 && i%3 != 0 && !*full {
				continue
			}
			for _, n := range lengths {
				for _, schedule := range schedules {
					turn++
					for _, defect := range defects(t, c.able(mixed(d, n[0], n[1], turn)), c, schedule, nil) {
						t.Errorf("%v, schedule %d: %v", c, schedule, defect)
					}
				}
			}
		}
	}
}

// defects returns the findings of the checkers in a kernel whose PTX spoil has changed.
func defects(t *testing.T, p problem.Attention, c Config, schedule uint64, spoil func(string) string) []finding.Finding {
	t.Helper()
	checker := check.New()
	b := newBench(t, emulator(t, schedule, checker), generate(t, "normal", p, 1))
	b.Spoil, b.SMs = spoil, 2
	b.run(c)
	return checker.Findings()
}

// TestDefectsAreFound spoils kernels in ways that a GPU mostly does not show. The checkers
// find each defect.
func TestDefectsAreFound(t *testing.T) {
	cut := func(what string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, what, "") }
	}
	for _, c := range []struct {
		name  string
		c     Config
		spoil func(string) string
	}{
		{"V is read by wgmma without a proxy fence", Throughput(64, 4), cut("fence.proxy.async.shared::cta;")},
		{"P·V is not waited for", Throughput(64, 4), func(s string) string {
			return strings.ReplaceAll(s, "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;")
		}},
		{"shares read before they have arrived", TwoPairs(), func(s string) string {
			return regexp.MustCompile(`mbarrier.init.shared(::cta)?.b64 (.*), 4;`).ReplaceAllString(s, "mbarrier.init.shared$1.b64 $2, 3;")
		}},
		{"shares sent before the others' barriers are there", SplitKeys(2), cut("barrier.cluster.wait;")},
		{"shares read before they have come", SplitKeys(2), func(s string) string {
			return regexp.MustCompile(`mbarrier.try_wait.parity.acquire.cluster(.*), 0;`).ReplaceAllString(s, "mbarrier.try_wait.parity.acquire.cluster$1, 1;")
		}},
	} {
		p := c.c.able(mixed(64, 100, 500, 1))
		if len(defects(t, p, c.c, 1, c.spoil)) == 0 {
			t.Errorf("%v: %s: nothing found", c.c, c.name)
		}
	}
}
