package record_test

import (
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// TestDefectsAdd: a finding keeps the shape and the schedule of the run that showed it
// first, and an error replaces a warning.
func TestDefectsAdd(t *testing.T) {
	small, large := problem.Square(1, 1, 33, 64), problem.Square(2, 2, 65, 64)
	race := finding.Finding{Kind: "shared-race", Severity: finding.Warning, Place: finding.At(ptx.Pos{Line: 7}), Schedule: 3}
	leak := finding.Finding{Kind: "async-leak", Severity: finding.Warning, Place: finding.At(ptx.Pos{Line: 9})}
	var d record.Defects
	d.Add(small, race)
	race.Severity, race.Schedule = finding.Error, 0
	d.Add(large, race, leak)
	if len(d.Found) != 2 || d.Errors != 1 || d.Warnings != 1 {
		t.Fatalf("%d errors and %d warnings in %+v", d.Errors, d.Warnings, d.Found)
	}
	if f := d.Found[0]; f.Severity != finding.Error || f.Shape != small || f.Schedule != 3 || f.Count != 2 {
		t.Errorf("a race that was a warning first: %+v", f)
	}
	if f := d.Found[1]; f.Shape != large || f.Count != 1 {
		t.Errorf("a leak: %+v", f)
	}
}
