package record

import (
	"slices"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// Performance holds the times of a kernel, its baseline and its rivals, taken in one run.
type Performance struct {
	Skipped   string  `json:"skipped,omitempty"`   // why nothing was timed
	Processes int     `json:"processes,omitempty"` // the number of processes that measured; each is one run of a shape
	Shapes    []Times `json:"shapes"`
	Ceiling   Ceiling `json:"ceiling"`
	// Notes list what was left out: rivals that are not installed, shapes that the kernel does
	// not support.
	Notes []string `json:"notes,omitempty"`
}

// Ceiling is the speed of the device, probed in the same run.
type Ceiling struct {
	Bandwidth float64 `json:"bandwidth_gbs"` // the bandwidth of memory in GB/s
	FLOPs     float64 `json:"tflops"`        // the rate of the tensor cores for the types of the kernel
	Launch    float64 `json:"launch_us"`     // the time of an empty kernel in a replayed graph
}

// Times is the times of one shape by one method.
type Times struct {
	Shape     problem.Shape     `json:"shape"`
	Name      string            `json:"name,omitempty"`
	Method    timing.Method     `json:"method"`
	Runs      []timing.Run      `json:"runs"` // one per process; candidate 0 is the kernel
	Names     []string          `json:"names"`
	Summaries []stats.Summary   `json:"summaries"`        // one per candidate, over all runs
	TFLOPs    []ref.Float       `json:"tflops"`           // 4·B·H·Sq·Skv·D over the median, half for causal
	Energy    []timing.Energy   `json:"energy,omitempty"` // one per candidate, if it was measured
	Baseline  *stats.Comparison `json:"baseline,omitempty"`
	Rivals    []Rival           `json:"rivals,omitempty"`
	Floor     float64           `json:"floor_us"`        // the least possible time: bytes, operations and a launch at the ceilings
	RMSE      float64           `json:"rmse,omitempty"`  // the RMSE of the kernel, on the inputs and rows that the rivals are compared on
	Rows      int               `json:"rows,omitempty"`  // how many rows of the first output were compared with the reference
	OutputsOK bool              `json:"outputs_ok"`      // whether the outputs of timed launches are right
	Wrong     string            `json:"wrong,omitempty"` // what is wrong with them
	// Compared is the number of timed launches of the kernel whose outputs were compared with
	// those of untimed launches on the same inputs. Old records compared only some of them.
	Compared int `json:"compared,omitempty"`
	// Drawn is the number of launches on sequences of drawn lengths whose outputs were compared with the
	// reference. Timed launches have full sequences.
	Drawn     int    `json:"drawn,omitempty"`
	Inputs    string `json:"inputs,omitempty"`    // the distribution of the inputs; no two launches have the same
	Predicted bool   `json:"predicted,omitempty"` // from the model of the emulator, not measured
}

// Rival is the comparison of the kernel with another library.
type Rival struct {
	Name       string           `json:"name"`
	Version    string           `json:"version"`
	Note       string           `json:"note,omitempty"` // how the rival computes, if it matters
	Comparison stats.Comparison `json:"comparison"`
	RMSE       float64          `json:"rmse"` // the RMSE of the rival, on the kernel's inputs
}

// ByHost reports whether the host's clock timed a candidate.
func (t *Times) ByHost(candidate string) bool {
	i := slices.Index(t.Names, candidate)
	return i >= 0 && slices.ContainsFunc(t.Runs, func(r timing.Run) bool {
		return i < len(r.Candidates) && r.Candidates[i].Method.ByHost()
	})
}
