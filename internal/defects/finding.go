package defects

import (
	"slices"

	"attest/device/emu/check"
)

// The kinds that no checker finds: a run ends with them, or its results show them.
const (
	Fault    check.Kind = "fault"
	Timeout  check.Kind = "timeout"
	Schedule check.Kind = "schedule"
	Mismatch check.Kind = "mismatch"
)

// Finding is a defect as a run showed it.
type Finding struct {
	check.Defect
	Schedule uint64 // the seed of the order of warps that it was first seen with
}

// NoOne is the warp of an Access that is no thread's doing.
const NoOne = -1

// List is the findings of a launch, in the order of their discovery: the first is
// usually the cause. What several schedules show alike is one finding.
type List struct {
	all   []*Finding
	known map[key]*Finding
}

// key is what makes two defects the same one. Which access of a race comes second
// is up to the schedule, so the two lines are sorted.
type key struct {
	kind          check.Kind
	severity      check.Severity
	kernel        string
	first, second place
	message       string // of a defect without a place
}

type place struct{ line, column int32 }

func keyOf(d *check.Defect) key {
	k := key{kind: d.Kind, severity: d.Severity, kernel: d.Kernel}
	k.first = place{d.Access.Pos.Line, d.Access.Pos.Col}
	if d.Other != nil {
		k.second = place{d.Other.Pos.Line, d.Other.Pos.Col}
	}
	if k.first.line > k.second.line || k.first.line == k.second.line && k.first.column > k.second.column {
		k.first, k.second = k.second, k.first
	}
	if k.second.line == 0 {
		k.message = d.Message
	}
	return k
}

// Add adds what was found with a schedule.
func (l *List) Add(schedule uint64, found ...check.Defect) {
	if l.known == nil {
		l.known = map[key]*Finding{}
	}
	for _, d := range found {
		d.Count = max(d.Count, 1)
		k := keyOf(&d)
		if f := l.known[k]; f != nil {
			f.Count += d.Count
			continue
		}
		f := &Finding{d, schedule}
		l.known[k] = f
		l.all = append(l.all, f)
	}
}

// All are the findings.
func (l *List) All() []*Finding { return slices.Clone(l.all) }

// Count is the number of errors and of warnings.
func (l *List) Count() (errs, warnings int) {
	for _, f := range l.all {
		if f.Severity == check.Error {
			errs++
		} else {
			warnings++
		}
	}
	return errs, warnings
}
