package stages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestNoDefects runs every preset under every checker, in several orders of warps.
func TestNoDefects(t *testing.T) {
	schedules, lengths := []uint64{1}, []int{97}
	if *full {
		schedules, lengths = []uint64{0, 1, 2, 3}, []int{1, 64, 97, 200}
	}
	for _, d := range []int{64, 128} {
		for _, preset := range Presets(d) {
			for _, s := range lengths {
				for _, schedule := range schedules {
					t.Run(fmt.Sprintf("%s/d%d/s%d/schedule%d", preset.Name, d, s, schedule), func(t *testing.T) {
						p := problem.Attention{Shape: problem.Square(1, 2, s, d), Format: problem.E4M3, LSE: true}
						for _, defect := range defects(t, p, preset.Config, schedule, nil) {
							t.Error(defect)
						}
					})
				}
			}
		}
	}
	if !*full {
		return
	}
	for _, toggle := range toggles {
		c := config(t, toggle.from)
		toggle.change(&c)
		p := problem.Attention{Shape: problem.Square(1, 2, 97, 64), Format: problem.U8}
		for _, defect := range defects(t, p, c, 1, nil) {
			t.Errorf("%s with %s: %v", toggle.from, toggle.name, defect)
		}
	}
}

// defects returns the findings of the checkers in a kernel whose PTX spoil has changed.
func defects(t *testing.T, p problem.Attention, c Config, schedule uint64, spoil func(string) string) []finding.Finding {
	t.Helper()
	checker := check.New()
	dev, err := emu.New(ptx.SM90, emu.Options{Schedule: schedule, Observer: checker})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, dev, normal(t, p, 1))
	b.Spoil = spoil
	b.run(c, ptx.SM89)
	return checker.Findings()
}

// TestDefectsAreFound spoils kernels with mistakes of earlier versions. The checkers find
// each, even if the results are right.
func TestDefectsAreFound(t *testing.T) {
	cut := func(what string, n int) func(string) string { // all but the n-th
		return func(text string) string {
			at := 0
			for range n {
				at += strings.Index(text[at:], what) + len(what)
			}
			at += strings.Index(text[at:], what)
			return text[:at] + text[at+len(what):]
		}
	}
	for _, c := range []struct {
		name, preset string
		spoil        func(string) string
	}{
		{"the last tiles are not waited for", "stage4", func(s string) string {
			return strings.ReplaceAll(s, "cp.async.wait_group 2;", "cp.async.wait_group 3;")
		}},
		{"no barrier before decoded tiles are overwritten", "stage3b", cut("bar.sync 0;", 0)},
		{"no barrier after decoding", "stage3b", cut("bar.sync 0;", 1)},
		{"no barrier between scores and softmax", "stage2", cut("bar.sync 0;", 2)},
		{"no barrier between softmax and P·V", "stage2", cut("bar.sync 0;", 3)},
	} {
		p := problem.Attention{Shape: problem.Square(1, 1, 200, 64), Format: problem.E4M3}
		if len(defects(t, p, config(t, c.preset), 1, c.spoil)) == 0 {
			t.Errorf("%s: %s: nothing found", c.preset, c.name)
		}
	}
}
