package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/internal/targets"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// noon is a moment on the day of the campaign.
var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// aim sets the targets of a view. Their chip is the synthetic GPU.
func aim(t *testing.T, v *report.View, text string) {
	t.Helper()
	f, err := targets.Parse("targets.json", []byte(`{"chip": "synthetic GPU", `+text+`}`), v.Known())
	if err != nil {
		t.Fatal(err)
	}
	v.SetTargets(f, noon)
}

// onSM90 adds the figures of sm_90, which is the architecture of the synthetic GPU.
func onSM90(r *record.Record, source resources.Source) *record.Record {
	recordtest.Resources(r, 90, 44032, 0)
	u := r.Resources.Usage[0]
	u.Target, u.Registers.Value, u.Registers.Source = "sm_90", 96, source
	r.Resources.Usage = append(r.Resources.Usage, u)
	return r
}

// TestGoals compares targets of every metric with a campaign.
func TestGoals(t *testing.T) {
	exact, estimated := onSM90(timedOn(0, "x", 10), resources.Ptxas), onSM90(timedOn(0, "y", 10), resources.Estimate)
	exact.Kernel.Name, estimated.Kernel.Name = "exact", "estimated"
	v := view(t, campaign(0, 1), one(exact, record.Merge), one(estimated, record.Reject))
	for _, c := range []struct{ target, current, status string }{
		{`"metric": "time", "shape": "mission", "kernel": "stage5-persistent", "target": 21`, "20.5 µs", "met"},
		{`"metric": "time", "shape": "mission", "kernel": "stage3b", "target": 20`, "21.", "open"},
		{`"metric": "time", "shape": "mission", "kernel": "stage3b", "target": 20, "by": "2026-01-05"`, "21.", "open"},
		{`"metric": "time", "shape": "mission", "kernel": "stage3b", "target": 20, "by": "2026-01-04"`, "21.", "missed"},
		{`"metric": "time", "shape": "mission", "target": 11`, "10.", "met"}, // the fastest, which is exact
		{`"metric": "time", "shape": "mission", "kernel": "estimated", "target": 11`, "", "not measured"},
		{`"metric": "time", "shape": "mission", "target": 11, "chip": "L4"`, "", "not measured"},
		{`"metric": "time", "shape": "mission", "target": 11, "chip": "L4", "by": "2026-01-01"`, "", "overdue"},
		{`"metric": "time", "shape": "mission", "target": 11, "causal": true`, "", "not measured"},
		{`"metric": "time", "shape": "mission", "target": 11, "format": "u8"`, "", "not measured"},
		{`"metric": "time", "shape": "big64", "target": 11`, "", "not measured"},
		{`"metric": "tflops", "shape": "long", "target": 30`, "34.", "met"},
		{`"metric": "rival-speedup", "shape": "mission", "kernel": "stage3b", "target": 1`, "0.6", "open"},
		{`"metric": "rival-speedup", "shape": "mission", "kernel": "stage3b", "rival": "triton", "target": 0.8`, "0.8", "met"},
		{`"metric": "rival-speedup", "shape": "mission", "rival": "jax", "target": 1`, "", "not measured"},
		{`"metric": "ladder-speedup", "shape": "long", "target": 9`, "9.", "met"},
		{`"metric": "of-floor", "shape": "mission", "kernel": "stage3b", "target": 1`, "14.", "open"},
		{`"metric": "max-error", "kernel": "stage2", "target": 0.06`, "0.0120", "met"},
		{`"metric": "registers", "kernel": "exact", "target": 90`, "96", "open"}, // of sm_90, not of sm_89
		{`"metric": "registers", "kernel": "estimated", "target": 128`, "", "not measured"},
		{`"metric": "shared", "kernel": "exact", "target": 65536`, "43 KiB", "met"},
		{`"metric": "spills", "kernel": "exact", "target": 0`, "0 B", "met"},
		{`"metric": "verdict", "kernel": "stage2", "target": "MERGE"`, "MERGE", "met"},
		{`"metric": "verdict", "kernel": "stage4", "target": "MERGE"`, "REJECT", "open"},
		{`"metric": "verdict", "kernel": "hopper", "target": "MERGE"`, "", "not measured"},
	} {
		aim(t, v, `"targets": [{"name": "a", `+c.target+`}]`)
		g := v.Goals()[0]
		if string(g.Status) != c.status || !strings.HasPrefix(g.Current, c.current) || (g.Current == "") != (g.Record == "") {
			t.Errorf("%s: %q, %s, record %q; want %q, %s", c.target, g.Current, g.Status, g.Record, c.current, c.status)
		}
	}
}

// TestWorstConfiguration: a kernel with several configurations reaches a target of a kernel only
// if all of them do.
func TestWorstConfiguration(t *testing.T) {
	small, large := chosen(0, "64x128 stages-2", problem.Square(1, 8, 512, 64), 4), chosen(0, "128x128 stages-4", problem.Square(1, 8, 2048, 64), 16)
	recordtest.Correct(small, problem.Square(1, 8, 512, 64), 0.02)
	recordtest.Correct(large, problem.Square(1, 8, 2048, 64), 0.01)
	v := view(t, one(small, record.Merge), one(large, record.Reject))
	name := small.Kernel.Name
	aim(t, v, `"targets": [{"name": "a", "metric": "max-error", "kernel": "`+name+`", "target": 0.015}, {"name": "b", "metric": "verdict", "kernel": "`+name+`", "target": "MERGE"}]`)
	goals := v.Goals()
	if goals[0].Current != "0.0200" || goals[0].Status != targets.Open || goals[1].Current != "1 MERGE, 1 REJECT" || goals[1].Status != targets.Open {
		t.Errorf("%+v", goals)
	}
}

// TestEmulatorReachesNoTarget: numbers of the emulator never count, whatever its device is called.
func TestEmulatorReachesNoTarget(t *testing.T) {
	r := onSM90(timedOn(0, "a", 1), resources.Ptxas)
	recordtest.Correct(r, r.Performance.Shapes[0].Shape, 0.01)
	gpu := view(t, one(r, record.Merge))
	emulated := *r
	emulated.Build.Device.Driver = "emu"
	cpu := view(t, one(&emulated, record.Merge))
	for _, target := range []string{
		`"metric": "time", "shape": "mission", "target": 5`, `"metric": "registers", "kernel": "stage1", "target": 128`,
		`"metric": "max-error", "kernel": "stage1", "target": 1`, `"metric": "verdict", "kernel": "stage1", "target": "MERGE"`,
	} {
		text := `"targets": [{"name": "a", ` + target + `}]`
		aim(t, gpu, text)
		if g := gpu.Goals()[0]; g.Status != targets.Met {
			t.Errorf("%s on a GPU: %+v", target, g)
		}
		f, err := targets.Parse("t", []byte(`{"chip": "synthetic GPU", `+text+`}`), gpu.Known())
		if err != nil {
			t.Fatal(err)
		}
		cpu.SetTargets(f, noon)
		if g := cpu.Goals()[0]; g.Status != targets.NotMeasured || g.Current != "" {
			t.Errorf("%s on the emulator: %+v", target, g)
		}
	}
}

// TestTargetTables wants targets, milestones and the ladder in the terminal, in COMPARE.md, on the
// status page and on the HTML page.
func TestTargetTables(t *testing.T) {
	v := view(t, campaign(0, 1))
	aim(t, v, `"targets": [{"name": "fast", "metric": "time", "shape": "mission", "target": 25}, {"name": "faster", "metric": "time", "shape": "mission", "target": 10, "by": "2026-01-01"}],
		"milestones": [{"name": "both", "targets": ["fast", "faster"], "by": "2026-02-01"}]`)
	var terminal bytes.Buffer
	v.WriteText(&terminal, term.Style{})
	page := html(t, v)
	wellFormed(t, page)
	for where, text := range map[string]string{"terminal": terminal.String(), "COMPARE.md": v.Compare(), "STATUS.md": v.StatusPage(), "HTML page": page} {
		for _, want := range []string{"≤ 25 µs", "missed", "both", "1 of 2", "2026-02-01"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", where, want, text)
			}
		}
	}
	if r := v.Reached(); len(r) != 1 || r[0].Status != targets.Open || r[0].Met != 1 || len(r[0].Left) != 1 {
		t.Errorf("a milestone with a target that is not met: %+v", r)
	}
	if !strings.Contains(v.TargetsKey(), "As of 2026-01-05.") {
		t.Error(v.TargetsKey())
	}
	if without := html(t, view(t, campaign(0, 1))); strings.Contains(without, `id="targets"`) || !strings.Contains(without, `id="ladder"`) {
		t.Error("a page without targets has the section, or lacks the ladder")
	}
}

// TestClimb wants the speedup of each stage over stage1 and over the kernel that it builds on.
func TestClimb(t *testing.T) {
	climbs := view(t, campaign(0, 1)).Climbs()
	if len(climbs) != 2 || climbs[0].Title() != "mission 1,8,512,64 on synthetic GPU" {
		t.Fatalf("%+v", climbs)
	}
	var got []string
	for _, s := range climbs[0].Steps {
		over := "-"
		if s.Over != nil {
			over = fmt.Sprintf("%.1f", *s.Over)
		}
		got = append(got, fmt.Sprintf("%s %.1f %s %s %v", s.Kernel, *s.First, s.Predecessor, over, s.SameRun))
	}
	// The campaign compares stage5-persistent with stage3b, so its predecessor, which was
	// rejected, has no time. The rejected stages are not rungs.
	want := []string{
		"stage0 0.2  - false", "stage1 1.0 stage0 5.0 true", "stage2 2.8 stage1 2.8 true", "stage3a 2.8 stage2 1.0 true",
		"xor-swizzle 2.7 stage2 0.9 true", "stage3b 7.6 stage2 2.7 true", "stage5-persistent 8.0 stage5 - false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	table := climbs[0].Table().Markdown()
	if !strings.Contains(table, "over stage1") || !strings.Contains(table, "| 1.00× |") {
		t.Error(table)
	}
}

// TestClimbTwoRuns: without a comparison in one run the ratio of two medians is marked, and so
// are different formats.
func TestClimbTwoRuns(t *testing.T) {
	stage1, stage2 := timedOn(0, "a", 20), timedOn(0, "b", 10)
	stage2.Kernel.Name, stage2.Kernel.Format = "stage2", "u8"
	v := view(t, one(stage1, record.Merge), one(stage2, record.Merge))
	climbs := v.Climbs()
	if len(climbs) != 1 || climbs[0].Steps[1].SameRun || !strings.Contains(climbs[0].Table().Markdown(), "× stage1, two runs |") {
		t.Errorf("%+v", climbs)
	}
	if !strings.Contains(v.ClimbKey(), "The formats differ") {
		t.Error(v.ClimbKey())
	}
}
