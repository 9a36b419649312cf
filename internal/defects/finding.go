package defects

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/ptx"
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

// key is what makes two defects the same one.
type key struct {
	kind          check.Kind
	kernel        string
	first, second ptx.Pos
	message       string // of a defect without a place
}

func keyOf(d *check.Defect) key {
	k := key{kind: d.Kind, kernel: d.Kernel, first: d.Access.Pos}
	if d.Other != nil {
		k.second = d.Other.Pos
	}
	if !k.first.IsValid() {
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
		if f := l.find(k, schedule); f != nil {
			f.merge(d)
			continue
		}
		f := &Finding{d, schedule}
		l.known[k] = f
		l.all = append(l.all, f)
	}
}

// find is the finding that is the same defect, or nil. Which access of a race comes
// second is up to the schedule, so another schedule may have them the other way
// round. In one schedule that is another race: a loop has one on either side.
func (l *List) find(k key, schedule uint64) *Finding {
	if f := l.known[k]; f != nil {
		return f
	}
	k.first, k.second = k.second, k.first
	if f := l.known[k]; f != nil && k.first.IsValid() && f.Schedule != schedule {
		return f
	}
	return nil
}

// merge counts a defect that is known; an error outdoes a warning.
func (f *Finding) merge(d check.Defect) {
	d.Count += f.Count
	if d.Severity == check.Error && f.Severity != check.Error {
		f.Defect = d
	}
	f.Count = d.Count
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
