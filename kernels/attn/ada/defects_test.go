package ada

import (
	"regexp"
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
	whole := Config{Rows: 32, TileN: 64, Shares: 2, Stages: 2, BlocksPerSM: 1, Whole: true}
	// without removes the n-th barrier from the end.
	without := func(n int) func(string) string {
		return func(s string) string {
			at := regexp.MustCompile(`bar\.sync [^;]*;`).FindAllStringIndex(s, -1)
			i := at[len(at)-n]
			return s[:i[0]] + s[i[1]:]
		}
	}
	for _, c := range []struct {
		name  string
		c     Config
		spoil func(string) string
	}{
		{"a tile is read before its copies have landed", loose, func(s string) string {
			i := strings.LastIndex(s, "cp.async.wait_group 1;")
			return s[:i] + strings.Replace(s[i:], "1;", "2;", 1)
		}},
		{"the first keys are read before they have landed", loose, func(s string) string {
			return strings.Replace(s, "cp.async.wait_group 1;", "cp.async.wait_group 2;", 1)
		}},
		{"no barrier between rounds", loose, func(s string) string { return strings.ReplaceAll(s, "bar.sync 0;", "") }},
		{"parts are read before they have been sent", shared, without(1)},
		{"parts overwrite keys that another warp still reads", shared, without(2)},
		{"parts are read before they have been sent, without a ring", whole, without(1)},
		{"an mbarrier completes before all threads have copied", whole, func(s string) string {
			return regexp.MustCompile(`selp\.u32 ([^,]*), 128, 2,`).ReplaceAllString(s, "selp.u32 $1, 127, 2,")
		}},
		{"a warp says that its sums are there before all lanes have written theirs", whole, func(s string) string {
			return strings.ReplaceAll(s, "bar.warp.sync 4294967295;", "")
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
