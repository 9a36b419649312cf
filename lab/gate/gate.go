package gate

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/record"
)

// Rules are what may be chosen. The zero value is the defaults.
type Rules struct {
	// MinEffect is how much faster than its baseline a kernel must be to be worth
	// having: 0.10 when zero.
	MinEffect float64
}

// Judge judges a record by the default rules. Hash of the record and time of the
// judgement are for the caller to add.
func Judge(r *record.Record) record.Verdict { return Rules{}.Judge(r) }

// Judge judges a record.
func (u Rules) Judge(r *record.Record) record.Verdict {
	if u.MinEffect == 0 {
		u.MinEffect = 0.10
	}
	v := record.Verdict{Schema: record.Schema}
	perf := &speed{Rules: u, r: r}
	stopped := ""
	for _, g := range []struct {
		name  record.GateName
		judge func() record.Gate
	}{
		{record.ResourcesGate, func() record.Gate { return judgeResources(r.Resources, r.Kernel.Target) }},
		{record.DefectsGate, func() record.Gate { return judgeDefects(r.Defects) }},
		{record.CorrectnessGate, func() record.Gate { return judgeCorrectness(r) }},
		{record.PerformanceGate, perf.judge},
	} {
		one := record.Gate{Status: record.Skipped, Summary: "not judged: " + stopped}
		if stopped == "" {
			one = g.judge()
		}
		one.Name = g.name
		if stopped == "" && (one.Status == record.Red || one.Status == record.Void) {
			stopped = fmt.Sprintf("%s is %s", g.name, one.Status)
		}
		v.Gates = append(v.Gates, one)
	}
	u.decide(r, perf, &v)
	return v
}

// decide finds the outcome from the gates.
func (u Rules) decide(r *record.Record, perf *speed, v *record.Verdict) {
	var skipped *record.Gate
	for i := range v.Gates {
		switch g := &v.Gates[i]; g.Status {
		case record.Red, record.Void:
			v.Outcome, v.Why = record.Reject, fmt.Sprintf("%s is %s: %s", g.Name, g.Status, g.Summary)
			return
		case record.Skipped:
			if skipped == nil {
				skipped = g
			}
		}
	}
	switch {
	case r.Baseline != nil && r.Kernel.Same(r.Baseline):
		v.Outcome, v.Why = record.NoChange, fmt.Sprintf("it is the same kernel as %s", r.Baseline.Name)
	case skipped != nil:
		v.Outcome, v.Why = record.Defer, fmt.Sprintf("%s was skipped: %s", skipped.Name, skipped.Summary)
	case r.Baseline == nil:
		v.Outcome, v.Why = record.Merge, "all gates are green, and there is no baseline to beat"
	default:
		perf.decide(v)
	}
}

// verdictOf makes a gate of reasons: the first is its summary when there are any.
func verdictOf(bad record.Status, reasons []string, green string) record.Gate {
	switch len(reasons) {
	case 0:
		return record.Gate{Status: record.Green, Summary: green}
	case 1:
		return record.Gate{Status: bad, Summary: reasons[0], Reasons: reasons}
	}
	return record.Gate{Status: bad, Summary: fmt.Sprintf("%s, and %d more", reasons[0], len(reasons)-1), Reasons: reasons}
}

func skip(format string, args ...any) record.Gate {
	return record.Gate{Status: record.Skipped, Summary: fmt.Sprintf(format, args...)}
}
