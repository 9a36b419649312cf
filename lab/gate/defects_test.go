package gate

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/cover"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestDefectsGate wants the exact line of the gate for what the checkers found and reached.
func TestDefectsGate(t *testing.T) {
	covered := func(lines, ran, outcomes, seen int, missed ...int) func(*record.Defects) {
		return func(d *record.Defects) {
			d.Coverage = &cover.Report{Lines: lines, Ran: ran, Outcomes: outcomes, Seen: seen, Missed: missed}
		}
	}
	const clean = "nothing found on 1,2,33,64 in 2 schedules"
	for _, c := range []struct {
		name   string
		change func(*record.Defects)
		status record.Status
		want   string // the whole summary
	}{
		{"clean", func(*record.Defects) {}, record.Green, clean},
		{"errors that are only counted", func(d *record.Defects) { d.Errors = 2 }, record.Red, "2 errors"},
		{"an error that is listed", func(d *record.Defects) {
			d.Errors, d.Found = 1, []record.Found{{Finding: finding.Finding{Kind: "k", Severity: finding.Error, Message: "m"}}}
		}, record.Red, "k at line 0: m"},
		{"warnings", func(d *record.Defects) { d.Warnings = 1 }, record.Green, clean + ", 1 warning"},
		{"three shapes", func(d *record.Defects) {
			d.Shapes = append(d.Shapes, problem.Square(3, 4, 17, 64), problem.Square(2, 2, 100, 64))
		}, record.Green, "nothing found on 3 shapes of up to 100 keys and 12 heads in 2 schedules"},
		{"two shapes", func(d *record.Defects) { d.Shapes = append(d.Shapes, problem.Square(3, 4, 17, 64)) }, record.Green,
			"nothing found on 1,2,33,64 3,4,17,64 in 2 schedules"},
		{"one schedule", func(d *record.Defects) { d.Schedules = d.Schedules[:1] }, record.Void, "one order of warps is not enough: run at least two schedules"},
		{"no shape", func(d *record.Defects) { d.Shapes = nil }, record.Void, "no shape was run, and 1 more"},
		{"partial queries", func(d *record.Defects) { d.Shapes[0].Skv = 64 }, record.Green, "nothing found on 1,2,33/64,64 in 2 schedules"},
		{"partial keys", func(d *record.Defects) { d.Shapes[0].Sq = 64 }, record.Green, "nothing found on 1,2,64/33,64 in 2 schedules"},
		{"90 % of the lines", covered(100, 90, 0, 0), record.Green, clean + "; 90 % of 100 lines, 100 % of 0 branch outcomes ran"},
		{"a missed line", covered(10, 9, 0, 0, 7), record.Green, clean + "; 90 % of 10 lines, 100 % of 0 branch outcomes ran; warning: 1 line of the PTX never ran: 7"},
		{"89 % of the lines", covered(100, 89, 0, 0, 7), record.Void,
			"only 89 % of 100 lines, 100 % of 0 branch outcomes ran under the checkers, 90 % of the lines are needed: 1 line of the PTX never ran: 7; give a shape that reaches them"},
		{"60 % of 10 outcomes", covered(9, 9, 10, 6), record.Green, clean + "; 100 % of 9 lines, 60 % of 10 branch outcomes ran"},
		{"50 % of 10 outcomes", covered(9, 9, 10, 5), record.Void,
			"only 100 % of 9 lines, 50 % of 10 branch outcomes ran under the checkers, 60 % of the outcomes are needed; give shapes that differ more"},
		{"0 % of 9 outcomes", covered(9, 9, 9, 0), record.Green, clean + "; 100 % of 9 lines, 0 % of 9 branch outcomes ran"},
	} {
		r := green(0.8, 0.002)
		c.change(r.Defects)
		if g := Judge(r).Gates[1]; g.Status != c.status || g.Summary != c.want {
			t.Errorf("%s: %s: %s\nwant %s: %s", c.name, g.Status, g.Summary, c.status, c.want)
		}
	}
}

// TestMissedLines: lines up to three apart are one range, and there are at most six ranges.
func TestMissedLines(t *testing.T) {
	for _, c := range []struct {
		lines []int
		want  string
	}{
		{[]int{5}, ": 5"},
		{[]int{5, 8, 12}, ": 5-8, 12"},
		{[]int{5, 6, 9, 20, 21}, ": 5-9, 20-21"},
		{[]int{10, 20, 30, 40, 50, 60}, ": 10, 20, 30, 40, 50, 60"},
		{[]int{10, 20, 30, 40, 50, 60, 70, 80}, ": 10, 20, 30, 40, 50, 60, …"},
	} {
		got := missedLines(&record.Defects{Coverage: &cover.Report{Missed: c.lines}})
		if !strings.HasSuffix(got, "never ran"+c.want) {
			t.Errorf("%v: %s, want %s", c.lines, got, c.want)
		}
	}
}
