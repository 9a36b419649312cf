package record_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/GOATnote-Inc/attest/record"
)

// TestScoreAdd: each mutant is counted once by fate, by killer and by operator and region. The
// share is of the killed and the wrong ones only.
func TestScoreAdd(t *testing.T) {
	var s record.Score
	one := func(operator, region string, fate record.Fate, by string) record.Mutant {
		return record.Mutant{Operator: operator, Region: region, Fate: fate, By: by}
	}
	s.Add(one("swap", "loop", record.Equivalent, ""))
	if s.Share != 0 || s.Interval.High != 0 {
		t.Errorf("without killed and wrong mutants the share is %g in %+v, want 0", s.Share, s.Interval)
	}
	s.Add(one("swap", "loop", record.Killed, "defects"))
	if s.Share != 1 {
		t.Errorf("with one killed mutant the share is %g, want 1", s.Share)
	}
	wrong, accurate := one("swap", "loop", record.Survived, ""), one("swap", "end", record.Accurate, "")
	sync, failed := one("sync-remove", "loop", record.Equivalent, ""), one("swap", "end", record.Failed, "")
	for _, m := range []record.Mutant{
		one("swap", "end", record.Killed, "correctness"),
		one("drop", "loop", record.Killed, "defects"), wrong, accurate, sync, failed, one("drop", "loop", record.Refused, ""),
	} {
		s.Add(m)
	}
	if s.Tried != 9 || s.Share != 0.75 {
		t.Errorf("%d tried, share %g, want 9 and 0.75", s.Tried, s.Share)
	}
	if i := s.Interval; math.Abs(i.Low-0.3006) > 1e-4 || math.Abs(i.High-0.9544) > 1e-4 { // Wilson, 3 of 4
		t.Errorf("the interval is %+v", i)
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"fates", s.Fates, map[record.Fate]int{record.Killed: 3, record.Survived: 1, record.Equivalent: 2, record.Accurate: 1, record.Refused: 1, record.Failed: 1}},
		{"killers", s.Killers, map[string]int{"defects": 2, "correctness": 1}},
		{"survivors", s.Survivors, []record.Mutant{wrong, accurate, sync}},
		{"failures", s.Failures, []record.Mutant{failed}},
		{"tallies", s.Tallies, []record.Tally{
			{Operator: "swap", Region: "loop", Fates: map[record.Fate]int{record.Equivalent: 1, record.Killed: 1, record.Survived: 1}},
			{Operator: "swap", Region: "end", Fates: map[record.Fate]int{record.Killed: 1, record.Accurate: 1, record.Failed: 1}},
			{Operator: "drop", Region: "loop", Fates: map[record.Fate]int{record.Killed: 1, record.Refused: 1}},
			{Operator: "sync-remove", Region: "loop", Fates: map[record.Fate]int{record.Equivalent: 1}},
		}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestMutantText(t *testing.T) {
	m := record.Mutant{Line: 7, Before: "add", After: "sub"}
	if m.Change() != "add becomes sub" || m.Place() != "line 7" {
		t.Errorf("%q at %q", m.Change(), m.Place())
	}
	m = record.Mutant{Line: 7, Before: "bar.sync 0", Source: "k.go:12"}
	if m.Change() != "bar.sync 0 is removed" || m.Place() != "line 7 (k.go:12)" {
		t.Errorf("%q at %q", m.Change(), m.Place())
	}
}

func TestReadScore(t *testing.T) {
	if s, err := record.ReadScore([]byte(`{"schema":2,"tried":5}`)); err != nil || s.Tried != 5 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, text := range []string{`{"schema":3}`, `{"schema":2,"tried":"five"}`} {
		if s, err := record.ReadScore([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", text, s)
		}
	}
}
