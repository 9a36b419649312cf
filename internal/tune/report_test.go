package tune

import (
	"bytes"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
)

func TestReport(t *testing.T) {
	s := &State{
		Goal: Goal{Kernel: "stage3b", Format: "e4m3", Target: "sm_89", Measure: Predicted, Device: "L4"},
		Trials: []Trial{
			{Name: "start", SHA256: "a", Green: true, Micros: 20, Ratio: 1},
			{Name: "red", SHA256: "b", Why: "the defects gate is red: 1 error"},
			{Name: "fast", SHA256: "c", Green: true, Micros: 15, Ratio: 0.75},
		},
	}
	var out bytes.Buffer
	newReport(s, true, "s.json").show(&cli.Env{Out: &out, Color: term.Never}, problem.Named{Name: "small", Shape: problem.Square(1, 1, 32, 64)}, 3)
	for _, want := range []string{
		"stage3b  e4m3, sm_89, small (1,1,32,64)\n", "3 configurations tried, 2 green; times are PREDICTED for L4\n",
		"1  15.0              1.333×  fast\n", "1 not green, the first is red: the defects gate is red: 1 error\n", "--budget 6 continues from s.json\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// TestMeasured wants the ratio of one run, and 1 where there is no baseline.
func TestMeasured(t *testing.T) {
	var trial Trial
	if err := measured(&trial, &record.Record{}); err == nil {
		t.Error("a record without times has a time")
	}
	times := record.Times{Summaries: []stats.Summary{{P50: 7}}}
	rec := &record.Record{Performance: &record.Performance{Shapes: []record.Times{times}}}
	if err := measured(&trial, rec); err != nil || trial.Micros != 7 || trial.Ratio != 1 {
		t.Errorf("%+v, %v", trial, err)
	}
	rec.Performance.Shapes[0].Baseline = &stats.Comparison{Ratio: 0.5}
	if err := measured(&trial, rec); err != nil || trial.Ratio != 0.5 {
		t.Errorf("%+v, %v", trial, err)
	}
}
