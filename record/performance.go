package record

import (
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// Performance is times, of the candidate against its baseline and rivals, in one run.
type Performance struct {
	Skipped   string  `json:"skipped,omitempty"`   // why nothing was timed
	Processes int     `json:"processes,omitempty"` // how many processes measured; each is one of a shape's runs
	Shapes    []Times `json:"shapes"`
	Ceiling   Ceiling `json:"ceiling"`
	// Notes say what was left out: rivals that are not installed, shapes that are not
	// served.
	Notes []string `json:"notes,omitempty"`
}

// Ceiling is what the device was found able to do, in the same run.
type Ceiling struct {
	Bandwidth float64 `json:"bandwidth_gbs"` // of memory, GB/s
	FLOPs     float64 `json:"tflops"`        // of the tensor cores, by the kernel's types
	Launch    float64 `json:"launch_us"`     // an empty kernel in a replayed graph
}

// Times is one shape, timed.
type Times struct {
	Shape     problem.Shape     `json:"shape"`
	Name      string            `json:"name,omitempty"`
	Method    timing.Method     `json:"method"`
	Runs      []timing.Run      `json:"runs"` // one per process; candidate 0 is the kernel
	Names     []string          `json:"names"`
	Summaries []stats.Summary   `json:"summaries"` // one per candidate, over all runs
	TFLOPs    []ref.Float       `json:"tflops"`    // 4·B·H·Sq·Skv·D over the median
	Baseline  *stats.Comparison `json:"baseline,omitempty"`
	Rivals    []Rival           `json:"rivals,omitempty"`
	Floor     float64           `json:"floor_us"`            // by bytes, operations and launch at the ceilings
	RMSE      float64           `json:"rmse,omitempty"`      // of the kernel, on the inputs and rows that rivals' are of
	OutputsOK bool              `json:"outputs_ok"`          // outputs of timed launches are right
	Wrong     string            `json:"wrong,omitempty"`     // what was not right about them
	Inputs    string            `json:"inputs,omitempty"`    // distribution of what was computed with; new numbers every round
	Predicted bool              `json:"predicted,omitempty"` // from the emulator's model: never a claim
}

// Rival is the kernel against something that is not ours.
type Rival struct {
	Name       string           `json:"name"`
	Version    string           `json:"version"`
	Note       string           `json:"note,omitempty"` // how it computes, if there is something to say
	Comparison stats.Comparison `json:"comparison"`
	RMSE       float64          `json:"rmse"` // of the rival, on the kernel's inputs
}
