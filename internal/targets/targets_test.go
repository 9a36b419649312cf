package targets

import (
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

func day(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestParse(t *testing.T) {
	f, err := Parse("t.json", []byte(`{"chip": "my GPU",
		"targets": [
			{"name": "a", "metric": "time", "shape": "mission", "target": 3.5, "by": "2026-12-31", "chip": "l4", "causal": true, "format": "e4m3"},
			{"name": "b", "metric": "verdict", "kernel": "mine.ptx:attn", "target": "MERGE"},
			{"name": "c", "metric": "rival-speedup", "shape": "1,8,100,64", "rival": "torch", "target": 2, "kernel": "stage3a+swizzle"}],
		"milestones": [{"name": "m", "targets": ["a", "c"], "by": "2027-01-31"}],
		"ideas": [{"idea": "i", "kernel": "stage4", "expect": "2%,3%,4%", "why": "w"}, {"idea": "j"}]}`),
		Known{Devices: []string{"my GPU"}, Kernels: []string{"mine.ptx:attn"}})
	if err != nil {
		t.Fatal(err)
	}
	a, b := &f.Targets[0], &f.Targets[1]
	if a.Chip != "l4" || a.Value != 3.5 || a.Shape != (problem.Named{Name: "mission", Shape: problem.Square(1, 8, 512, 64)}) || !a.Causal || !a.By.Equal(day("2027-01-01")) {
		t.Errorf("%+v", a)
	}
	if b.Chip != "my GPU" || b.Outcome != record.Merge || f.Targets[2].Rival != "torch" || f.Targets[2].Kernel != "stage3a+swizzle" {
		t.Errorf("%+v, %+v", b, f.Targets[2])
	}
	if m := f.Milestones[0]; m.Name != "m" || len(m.Targets) != 2 || !m.By.Equal(day("2027-02-01")) {
		t.Errorf("%+v", m)
	}
	if i := f.Ideas[0]; *i.Expected != (record.Expected{Conservative: 0.02, Realistic: 0.03, Optimistic: 0.04}) || i.Chip != "my GPU" || f.Ideas[1].Expected != nil {
		t.Errorf("%+v", f.Ideas)
	}
}

// TestMistakes wants an error with the place and the cure for each mistake.
func TestMistakes(t *testing.T) {
	target := func(fields string) string { return `{"chip": "L4", "targets": [{"name": "a", ` + fields + `}]}` }
	for text, want := range map[string]string{
		`{"targets": 1}`:                                                                 "t.json:1:13: expected a list of targets, found the number 1",
		`{"milestones": []}`:                                                             `a file of targets has no field "targets"`,
		`{"target": []}`:                                                                 `unknown field "target" of a file of targets: the fields are chip, ideas, milestones, targets`,
		target(`"target": 3`):                                                            `target 1: a target has no field "metric"`,
		target(`"metric": "time"`):                                                       `target 1: a target has no field "target"`,
		target(`"metric": "speed"`):                                                      `target 1: there is no metric "speed": the metrics are time, tflops, rival-speedup, ladder-speedup, of-floor, max-error, registers, shared, spills, verdict`,
		target(`"chip": "H300"`):                                                         `target 1: unknown chip "H300": use one of A100, L4`,
		target(`"kernel": "stage9"`):                                                     `target 1: no kernel is called "stage9": use one of stage0`,
		target(`"metric": "time", "target": 3`):                                          `the metric time needs a field "shape"`,
		target(`"metric": "registers", "target": 3`):                                     `the metric registers needs a field "kernel"`,
		target(`"metric": "time", "shape": "tiny", "target": 3`):                         `no shape "tiny": give B,H,S,D`,
		target(`"metric": "time", "shape": "long", "target": "3 µs"`):                    `expected a number of at least 0, found the string "3 µs"`,
		target(`"metric": "verdict", "kernel": "stage4", "target": 3`):                   "expected a string, found the number 3",
		target(`"metric": "verdict", "kernel": "stage4", "target": "GOOD"`):              "expected one of MERGE, CORRECT",
		target(`"metric": "time", "shape": "long", "target": 3, "by": "soon"`):           `expected a day such as 2026-12-31, found the string "soon"`,
		target(`"metric": "time", "shape": "long", "target": 3, "rival": "torch"`):       "only the metric rival-speedup has a rival",
		`{"targets": [{"name": "a", "metric": "time", "shape": "long", "target": 3}]}`:   `a target belongs to a chip: give it a field "chip"`,
		`{"chip": "L4", "targets": [], "milestones": [{"name": "m", "targets": ["a"]}]}`: `milestone 1: there is no target "a"`,
		`{"chip": "L4", "targets": [], "milestones": [{"name": "m", "targets": []}]}`:    "a milestone has at least one target",
		`{"chip": "L4", "targets": [], "ideas": [{"idea": "i", "expect": "much"}]}`:      `idea 1: "much" is not a percentage: write it as +10%`,
		`{"chip": "L4", "targets": [], "ideas": [{"expect": "1%"}]}`:                     `an idea has no field "idea"`,
		target(`"metric": "time", "shape": "long", "target": 3}, {"name": "a", "metric": "time", "shape": "long", "target": 4`): `target 2: there are two targets "a"`,
	} {
		if _, err := Parse("t.json", []byte(text), Known{}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "t.json:1:") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestStatus(t *testing.T) {
	by := day("2027-01-01") // the last day is 2026-12-31
	before, after := by.Add(-time.Minute), by
	for _, c := range []struct {
		measured, reached bool
		by, now           time.Time
		want              Status
	}{
		{true, true, by, before, Met}, {true, true, by, after, Met}, {true, false, by, before, Open}, {true, false, by, after, Missed},
		{false, false, by, before, NotMeasured}, {false, false, by, after, Overdue}, {true, false, time.Time{}, after, Open}, {false, false, time.Time{}, after, NotMeasured},
	} {
		if got := StatusOf(c.measured, c.reached, c.by, c.now); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	m := &Milestone{By: by}
	for _, c := range []struct {
		all  []Status
		now  time.Time
		want Status
	}{
		{[]Status{Met, Met}, after, Met}, {[]Status{Met, Open}, before, Open}, {[]Status{Met, Missed}, after, Missed}, {[]Status{Met, NotMeasured}, before, Open},
		{[]Status{NotMeasured, NotMeasured}, before, NotMeasured}, {[]Status{Met, Overdue}, after, Overdue},
	} {
		if got := m.StatusOf(c.all, c.now); got != c.want {
			t.Errorf("%v at %v: %s, want %s", c.all, c.now, got, c.want)
		}
	}
}

// TestReached: for some metrics less is better, for others more.
func TestReached(t *testing.T) {
	for name, less := range map[string]bool{Time: true, TFLOPs: false, RivalSpeedup: false, LadderSpeedup: false, OfFloor: true, MaxError: true, Registers: true, Shared: true, Spills: true} {
		m, ok := Find(name)
		x := Target{Metric: m, Value: 10}
		if !ok || x.Reached(9) != less || x.Reached(11) == less || !x.Reached(10) {
			t.Errorf("%s: 9 %v, 11 %v", name, x.Reached(9), x.Reached(11))
		}
	}
}
