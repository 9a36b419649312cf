package record

import "github.com/GOATnote-Inc/attest/problem"

// Accuracy compares the errors of a kernel with those of rivals that compute from the same bytes.
type Accuracy struct {
	Cases []AccuracyCase `json:"cases"`
	Notes []string       `json:"notes,omitempty"` // the rivals that are missing
}

// AccuracyCase holds the errors on one shape and distribution of the inputs.
type AccuracyCase struct {
	Shape        problem.Shape `json:"shape"`
	Name         string        `json:"name,omitempty"`
	Distribution string        `json:"distribution"`
	Seed         uint64        `json:"seed"`
	Rows         int           `json:"rows"` // the rows of O that were compared, spread evenly over heads and sequence
	Kernel       Deviation     `json:"kernel"`
	Rivals       []Deviation   `json:"rivals"`
}

// Deviation is how far an output is from attention in float64.
type Deviation struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // of a rival
	Note    string `json:"note,omitempty"`    // how a rival computes, if it matters
	Why     string `json:"why,omitempty"`     // why there are no errors: the rival does not support the case
	// Total is the error against the inputs before quantisation, and Added the error against the
	// quantised inputs: what the kernel itself adds.
	Total Spread `json:"total"`
	Added Spread `json:"added"`
}

// Spread is the root mean square of an error and its largest magnitude. An output that is not finite has
// [math.MaxFloat64] in both.
type Spread struct {
	RMSE float64 `json:"rmse"`
	Max  float64 `json:"max"`
}
