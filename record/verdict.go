package record

import "time"

// Status is the result of a gate.
type Status string

// The statuses of a gate. A void gate could not have failed, and counts as red.
const (
	Green   Status = "green"
	Red     Status = "red"
	Void    Status = "void"
	Skipped Status = "skipped" // the summary says why
)

// GateName names a gate.
type GateName string

// The gates, in the order in which they are judged.
const (
	ResourcesGate   GateName = "resources"
	DefectsGate     GateName = "defects"
	CorrectnessGate GateName = "correctness"
	PerformanceGate GateName = "performance"
)

// Gate is the judgement of one gate.
type Gate struct {
	Name    GateName `json:"name"`
	Status  Status   `json:"status"`
	Summary string   `json:"summary"` // one line
	Reasons []string `json:"reasons,omitempty"`
}

// Outcome is the decision on a kernel.
type Outcome string

// The outcomes.
const (
	Merge         Outcome = "MERGE"
	Correct       Outcome = "CORRECT"        // correct, and not timed: there is no GPU
	Reject        Outcome = "REJECT"         // a gate is red or void
	Defer         Outcome = "DEFER"          // the run could not decide
	ValidNegative Outcome = "VALID-NEGATIVE" // correct, timed, and not faster by enough
	NoChange      Outcome = "NO-CHANGE"      // the same kernel as the baseline
)

// Verdict is the judgement on a record.
type Verdict struct {
	Schema  int       `json:"schema"`
	Record  string    `json:"record"` // hash of the record that was judged
	Time    time.Time `json:"time"`
	Outcome Outcome   `json:"outcome"`
	Gates   []Gate    `json:"gates"` // the gates in order; after a red one the rest are skipped
	Why     string    `json:"why"`   // one line
	// Counters explain a valid negative: they show where the time goes.
	Counters map[string]float64 `json:"counters,omitempty"`
}

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	return []Outcome{Merge, Correct, ValidNegative, NoChange, Defer, Reject}
}

// OK reports whether no fault was found. A kernel that is slower than its baseline has no
// fault.
func (v *Verdict) OK() bool { return v.Outcome != Reject }

// Ready reports whether all gates were judged and the kernel can be merged, or is the same
// kernel as its baseline.
func (v *Verdict) Ready() bool { return v.Outcome == Merge || v.Outcome == NoChange }
