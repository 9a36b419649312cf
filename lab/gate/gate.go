package gate

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/record"
)

// spec is one gate: its name and the function that judges a record.
type spec struct {
	name  record.GateName
	judge func(*judgement) record.Gate
}

// gates are all gates in the order in which they judge. A new gate is one file that defines
// its spec, and one line here.
var gates = []spec{
	resourcesGate,
	defectsGate,
	correctnessGate,
	performanceGate,
}

// judgement is a record while it is judged.
type judgement struct {
	r *record.Record
	// compared holds the comparisons with the baseline, computed from the samples. The
	// performance gate fills it.
	compared []compared
}

// Judge judges a record by the criteria that it holds. The caller adds the hash of the
// record and the time of the judgement to the verdict.
func Judge(r *record.Record) record.Verdict {
	j := &judgement{r: r}
	v := record.Verdict{Schema: record.Schema}
	stopped := ""
	for _, g := range gates {
		one := skip("not judged: %s", stopped)
		if stopped == "" {
			one = j.judge(g)
		}
		one.Name = g.name
		if stopped == "" && fails(one.Status) {
			stopped = fmt.Sprintf("the %s gate is %s", g.name, one.Status)
		}
		v.Gates = append(v.Gates, one)
	}
	j.decide(&v)
	return v
}

// judge judges by one gate. A measurement that ended early fails the gate that it ended in. The
// gate is void if attest itself failed, because the kernel is not to blame.
func (j *judgement) judge(g spec) record.Gate {
	switch e := j.r.Ended; {
	case e == nil:
		return g.judge(j)
	case e.Gate == g.name && e.Internal:
		return gateOf(record.Void, []string{e.Why}, "")
	case e.Gate == g.name:
		return gateOf(record.Red, []string{e.Why}, "")
	}
	return skip("not recorded: the measurement ended early")
}

func fails(s record.Status) bool { return s == record.Red || s == record.Void }

// decide sets the outcome from the gates.
func (j *judgement) decide(v *record.Verdict) {
	if i := slices.IndexFunc(v.Gates, func(g record.Gate) bool { return fails(g.Status) }); i >= 0 {
		g := &v.Gates[i]
		v.Outcome, v.Why = record.Reject, fmt.Sprintf("the %s gate is %s: %s", g.Name, g.Status, g.Summary)
		return
	}
	skipped := slices.DeleteFunc(slices.Clone(v.Gates), func(g record.Gate) bool { return g.Status != record.Skipped })
	baseline := j.r.Baseline
	switch {
	case baseline != nil && j.r.Kernel.Same(baseline):
		v.Outcome, v.Why = record.NoChange, fmt.Sprintf("it is the same kernel as %s", baseline.Name)
	case j.r.Build.Emulated() && needGPU(skipped):
		v.Outcome, v.Why = record.Correct, "correct, not timed: no GPU"
		if skipped[0].Name == record.ResourcesGate {
			v.Why += "; the resources gate was skipped"
		}
		if text := j.predicted(); text != "" {
			v.Why += "; " + text
		}
	case len(skipped) > 0:
		v.Outcome, v.Why = record.Defer, fmt.Sprintf("the %s gate was skipped: %s", skipped[0].Name, skipped[0].Summary)
	case baseline == nil:
		v.Outcome, v.Why = record.Merge, "all gates are green, and there is no baseline to beat"
	default:
		j.decideByTimes(v)
	}
}

// needGPU reports whether the performance gate was skipped, and no other gate except for
// resources, which only ptxas or a GPU knows exactly.
func needGPU(skipped []record.Gate) bool {
	last := len(skipped) - 1
	if last < 0 || skipped[last].Name != record.PerformanceGate {
		return false
	}
	return last == 0 || last == 1 && skipped[0].Name == record.ResourcesGate
}

// gateOf returns a gate from the reasons against a kernel. Without a reason the gate is
// green with the given summary; otherwise it has the status bad, and the first reason is
// its summary.
func gateOf(bad record.Status, reasons []string, green string) record.Gate {
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
