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
	Reject        Outcome = "REJECT"         // a gate is red
	Defer         Outcome = "DEFER"          // the run could not decide
	ValidNegative Outcome = "VALID-NEGATIVE" // right, measured, and not faster by enough
	NoChange      Outcome = "NO-CHANGE"      // the same kernel as the baseline
)

// Verdict is the judgement of a record.
type Verdict struct {
	Schema  int       `json:"schema"`
	Record  string    `json:"record"` // hash of the record that was judged
	Time    time.Time `json:"time"`
	Outcome Outcome   `json:"outcome"`
	Gates   []Gate    `json:"gates"` // in order; after a red one the rest are skipped
	Why     string    `json:"why"`   // in one line
	// Counters explain a valid negative: where the time went.
	Counters map[string]float64 `json:"counters,omitempty"`
}

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{Merge, Reject, Defer, ValidNegative, NoChange} }

// OK reports whether the kernel is free of faults: slower than its baseline is no fault.
func (v *Verdict) OK() bool { return v.Outcome != Reject }
