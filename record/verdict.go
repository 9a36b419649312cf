package record

import "time"

// Status is what a gate says.
type Status string

// What gates say. VOID is a gate that could not have failed, and counts as red.
const (
	Green   Status = "green"
	Red     Status = "red"
	Void    Status = "void"
	Skipped Status = "skipped" // with the reason; or a gate before it was red
)

// Gate is one gate's judgement.
type Gate struct {
	Name    string   `json:"name"` // "resources", "defects", "correctness", "performance"
	Status  Status   `json:"status"`
	Summary string   `json:"summary"` // one line
	Reasons []string `json:"reasons,omitempty"`
}

// Outcome is what becomes of a kernel.
type Outcome string

// The outcomes.
const (
	Merge         Outcome = "MERGE"
	Reject        Outcome = "REJECT"         // a gate is red
	Defer         Outcome = "DEFER"          // the run could not tell
	ValidNegative Outcome = "VALID-NEGATIVE" // right, measured, and does not pay
	NoChange      Outcome = "NO-CHANGE"      // the same PTX as the baseline
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

// OK reports whether nothing is wrong with the kernel.
func (v *Verdict) OK() bool { return v.Outcome != Reject }
