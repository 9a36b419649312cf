package decode

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// schedules are orders of warps: permuted, reversed, one warp far ahead, one warp far behind,
// short turns.
var schedules = []uint64{0, 1, 1000000, 2000001, 3000002, 4000000}

// TestNoDefects runs configurations under every checker, in several orders of warps.
func TestNoDefects(t *testing.T) {
	orders := schedules[2:3]
	if *full {
		orders = schedules
	}
	turn := 0
	for _, d := range headDims {
		for _, rows := range []int{3, 20, 50} {
			p := attends(1, rows, 1, 1, 400, d)
			p.LSE = true
			for _, c := range configs(p) {
				turn++
				if !*full && turn%8 != 0 {
					continue
				}
				for _, schedule := range orders {
					for _, defect := range defects(t, p, c, schedule, nil) {
						t.Errorf("%v, %v, schedule %d: %v", p, c, schedule, defect)
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
	b := newBench(t, emulator(t, ptx.SM90, schedule, checker), generate(t, "normal", p, 1))
	b.Spoil, b.SMs = spoil, 2
	b.run(c)
	return checker.Findings()
}

// TestDefectsAreFound spoils kernels in ways that a GPU mostly does not show. The checkers find
// each defect.
func TestDefectsAreFound(t *testing.T) {
	change := func(from, to string, n int) func(string) string { // the n-th
		return func(text string) string {
			at := 0
			for range n {
				at += strings.Index(text[at:], from) + len(from)
			}
			at += strings.Index(text[at:], from)
			return text[:at] + to + text[at+len(from):]
		}
	}
	one, four := attends(1, 4, 1, 1, 530, 128), attends(1, 40, 1, 1, 530, 128)
	ragged, tokens, bf16 := attends(2, 4, 1, 1, 530, 128), one, one
	ragged.Keys = problem.Padded
	tokens.Scaling = problem.PerToken
	bf16.FormatQ = problem.BF16
	for _, c := range []struct {
		name  string
		p     problem.Attention
		spoil func(string) string
	}{
		{"tiles are not waited for", one, change("cp.async.wait_group 1;", "cp.async.wait_group 2;", 0)},
		{"the warp is not waited for", one, change("bar.warp.sync", "// bar.warp.sync", 0)},
		{"the team is not waited for", four, change("bar.sync 0;", "", 1)},
		{"queries read before they are written", one, change("bar.sync 0;", "", 0)},
		{"results written into rings that are in use", one, change("bar.sync 0;", "", 1)},
		{"results of warps read before they are written", one, change("bar.sync 0;", "", 2)},
		{"partial results not written before the block arrives", one, change("bar.sync 0;", "", 3)},
		{"the flag read before it is written", one, change("bar.sync 0;", "", 4)},
		{"the schedule read before it is written", ragged, change("bar.sync 0;", "", 0)},
		{"tiles with scales are not waited for", tokens.Filled(), change("cp.async.wait_group 1;", "cp.async.wait_group 2;", 0)},
		{"narrowed queries read before they are written", bf16, change("bar.sync 0;", "", 0)},
		{"arrival without release and acquire", one, change("acq_rel", "relaxed", 0)},
	} {
		config := Default(c.p, h200)
		config.Stages = 3
		found := false
		for _, schedule := range schedules {
			if found = len(defects(t, c.p, config, schedule, c.spoil)) > 0; found {
				break
			}
		}
		if !found {
			t.Errorf("%s: nothing found", c.name)
		}
	}
}
