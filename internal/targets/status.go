package targets

import "time"

// Status says how far a target or a milestone is.
type Status string

// The statuses.
const (
	Met         Status = "met"
	Open        Status = "open"         // measured and not reached, and the date has not passed
	Missed      Status = "missed"       // measured and not reached, and the date has passed
	NotMeasured Status = "not measured" // and the date has not passed
	Overdue     Status = "overdue"      // not measured, and the date has passed
)

// Late reports whether a deadline has passed. The zero deadline never passes.
func Late(by, now time.Time) bool { return !by.IsZero() && !now.Before(by) }

// StatusOf returns the status of a target.
func StatusOf(measured, reached bool, by, now time.Time) Status {
	switch late := Late(by, now); {
	case measured && reached:
		return Met
	case measured && late:
		return Missed
	case measured:
		return Open
	case late:
		return Overdue
	}
	return NotMeasured
}

// Reached reports whether a number reaches the target.
func (t *Target) Reached(current float64) bool {
	if t.Metric.Less {
		return current <= t.Value
	}
	return current >= t.Value
}

// StatusOf returns the status of a milestone by those of its targets: it is met when all of
// them are met.
func (m *Milestone) StatusOf(all []Status, now time.Time) Status {
	met, unmeasured := 0, 0
	for _, s := range all {
		switch s {
		case Met:
			met++
		case NotMeasured, Overdue:
			unmeasured++
		}
	}
	switch late := Late(m.By, now); {
	case met == len(all):
		return Met
	case late && unmeasured > 0:
		return Overdue
	case late:
		return Missed
	case unmeasured == len(all):
		return NotMeasured
	}
	return Open
}
