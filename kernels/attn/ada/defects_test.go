package ada

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestDefectsAreFound spoils kernels in ways that a GPU mostly does not show. The checkers find
// each defect.
func TestDefectsAreFound(t *testing.T) {
	loose := Config{Rows: 32, TileN: 32, Shares: 1, Stages: 3, BlocksPerSM: 1}
	shared := Config{Rows: 32, TileN: 32, Shares: 2, Stages: 2, BlocksPerSM: 1}
	for _, c := range []struct {
		name  string
		c     Config
		spoil func(string) string
	}{
		{"a tile is read before its copies have landed", loose, func(s string) string {
			return strings.ReplaceAll(s, "cp.async.wait_group 1;", "cp.async.wait_group 2;")
		}},
		{"Q is read before it has landed", loose, func(s string) string {
			return strings.Replace(s, "cp.async.wait_group 2;", "cp.async.wait_group 3;", 1)
		}},
		{"no barrier between rounds", loose, func(s string) string { return strings.ReplaceAll(s, "bar.sync 0;", "") }},
		{"parts are read before they have been sent", shared, func(s string) string {
			i := strings.LastIndex(s, "bar.sync")
			j := i + strings.Index(s[i:], ";") + 1
			return s[:i] + s[j:]
		}},
		{"parts overwrite keys that another warp still reads", shared, func(s string) string {
			i := strings.LastIndex(s, "bar.sync 0;")
			return s[:i] + s[i+len("bar.sync 0;"):]
		}},
	} {
		checker := check.New()
		b := newBench(t, emulator(t, c.c, 1, checker), generate(t, "normal", square(1, 1, 200, 64, problem.E4M3), 1))
		b.Spoil = c.spoil
		b.run(c.c)
		if len(checker.Findings()) == 0 {
			t.Errorf("%v: %s: nothing found", c.c, c.name)
		}
	}
}
