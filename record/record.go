package record

import (
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// Schema is the version of the form of records. Readers refuse newer ones.
const Schema = 1

// Record is everything that was measured of one kernel in one campaign.
type Record struct {
	Schema      int          `json:"schema"`
	Kernel      Kernel       `json:"kernel"`
	Baseline    *Kernel      `json:"baseline,omitempty"` // what performance is compared with
	Build       Build        `json:"build"`
	Resources   *Resources   `json:"resources,omitempty"`
	Defects     *Defects     `json:"defects,omitempty"`
	Correctness *Correctness `json:"correctness,omitempty"`
	Performance *Performance `json:"performance,omitempty"`
	Counters    *Counters    `json:"counters,omitempty"`
}

// Counters are what the kernel and its baseline do on the emulator: why one of them is
// faster, or is not.
type Counters struct {
	Shape    string             `json:"shape"`
	Kernel   map[string]float64 `json:"kernel"`
	Baseline map[string]float64 `json:"baseline,omitempty"`
}

// Kernel is a kernel, known by the hash of what is run.
type Kernel struct {
	Name   string            `json:"name"`             // preset, or file and entry
	Entry  string            `json:"entry"`            // of the PTX
	SHA256 string            `json:"sha256"`           // of the PTX text, in hex
	Config map[string]string `json:"config,omitempty"` // the toggles, as they were built
	Target string            `json:"target"`           // .target of the PTX
	Format string            `json:"format"`           // of Q, K and V: "u8", "e4m3", …
	Output string            `json:"output"`           // of O: "f16", "bf16"
}

// Build is where and with what a campaign ran.
type Build struct {
	Time    time.Time   `json:"time"`
	Attest  string      `json:"attest"` // version of this tool
	Git     Git         `json:"git"`
	Go      string      `json:"go"`
	OS      string      `json:"os"` // "linux/amd64"
	Device  device.Info `json:"device"`
	Driver  string      `json:"driver,omitempty"` // of the GPU
	Ptxas   string      `json:"ptxas,omitempty"`  // version, when it was used
	Command []string    `json:"command,omitempty"`
}

// Git is the state of the sources.
type Git struct {
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"`
	Dirty  bool   `json:"dirty"`
}

// Resources is what the kernel takes on a target, and what it may.
type Resources struct {
	Usage     []resources.Usage  `json:"usage"` // a target each
	Advice    []resources.Advice `json:"advice,omitempty"`
	Notes     []string           `json:"notes,omitempty"`
	Dynamic   int                `json:"dynamic_shared"` // bytes, of the largest launch
	Occupancy *device.Occupancy  `json:"occupancy,omitempty"`
	Budget    Budget             `json:"budget"`
}

// Budget is what a kernel may take.
type Budget struct {
	Registers int `json:"registers"`
	Shared    int `json:"shared"` // bytes, static and dynamic
	Spills    int `json:"spills"` // bytes
}

// Defects is what the checkers found.
type Defects struct {
	Schedules []uint64 `json:"schedules"` // seeds that were tried
	Shapes    []string `json:"shapes"`
	Refused   []string `json:"refused,omitempty"` // shapes that the kernel does not serve, and why
	Errors    int      `json:"errors"`
	Warnings  int      `json:"warnings"`
	Found     []Defect `json:"found"`
	// Depends says that bits differed between schedules.
	Depends bool `json:"depends_on_schedule"`
}

// Defect is a finding, with the two texts that older records have in place of its
// threads and its other access.
type Defect struct {
	finding.Finding
	Who       string `json:"who"`                  // the threads
	OtherLine int    `json:"other_line,omitempty"` // the line of PTX of the other access
}

// Correctness is how far outputs are from what they ought to be.
type Correctness struct {
	Tolerance Tolerance `json:"tolerance"`
	Cases     []Case    `json:"cases"`
	// Refused are shapes of the plan that the kernel does not serve, with the reason.
	Refused []string `json:"refused,omitempty"`
}

// Tolerance is what errors may be. It is fixed before anything is run.
type Tolerance struct {
	Max      float64 `json:"max"`
	Mean     float64 `json:"mean"`
	BadAbove float64 `json:"bad_above"`
	BadShare float64 `json:"bad_share"`
	// Relative is how many times the error of a plain computation in the same
	// precision the kernel's may be.
	Relative float64 `json:"relative"`
}

// Case is one shape, seed and distribution.
type Case struct {
	Shape        string      `json:"shape"` // "1,8,512,64"
	Name         string      `json:"name,omitempty"`
	Seed         uint64      `json:"seed"`
	Distribution string      `json:"distribution"`
	Device       string      `json:"device"`
	Errors       *ref.Errors `json:"errors,omitempty"` // against float64 on the original inputs
	Dequantised  *ref.Errors `json:"dequantised,omitempty"`
	Plain        *ref.Errors `json:"plain,omitempty"` // of a plain computation in the same precision
	// PlainDequantised is the plain computation against float64 on the quantised
	// inputs: what rounding alone costs.
	PlainDequantised *ref.Errors `json:"plain_dequantised,omitempty"`
	// Logits is the most that a logit of these inputs is off by where tensor cores cut
	// products of one-byte numbers off.
	Logits float64 `json:"logits,omitempty"`
	// WorstTile is the tile of rows whose mean error over the quantised inputs is the most
	// times that of the plain computation there.
	WorstTile *TileError `json:"worst_tile,omitempty"`
	// WorstRow is the same of single rows. What it is measured by is the plain
	// computation's errors of the row and of its tile, added up: those of one row alone
	// may happen to be small.
	WorstRow *RowError   `json:"worst_row,omitempty"`
	LSE      *ref.Errors `json:"lse,omitempty"`
	Failure  string      `json:"failure,omitempty"` // why there are no errors: a fault, a timeout
	// What a harness must not be fooled by.
	Unwritten   int     `json:"unwritten"`       // elements that still have the poison
	Overrun     bool    `json:"overrun"`         // the guard bands were written
	InputsKept  bool    `json:"inputs_kept"`     // inputs are unchanged
	Repeatable  bool    `json:"repeatable"`      // a second run gave the same bits
	OutputsHash string  `json:"outputs_hash"`    // SHA-256 of O
	Powers      []Power `json:"powers"`          // impostors that must fail
	Map         []Tile  `json:"map,omitempty"`   // where errors are, when the case fails
	Cause       string  `json:"cause,omitempty"` // what the pattern of errors suggests
}

// TileError is the mean errors of a tile of rows, in all heads.
type TileError struct {
	First int     `json:"first"` // row
	Mean  float64 `json:"mean"`
	Plain float64 `json:"plain"` // of the plain computation
}

// RowError is the mean error of a row.
type RowError struct {
	ref.Row
	Mean  float64 `json:"mean"`
	Plain float64 `json:"plain"` // of the plain computation, there and in the tile of rows
}

// Power is an impostor judged on a case's own inputs. If it would pass, the case
// proves nothing.
type Power struct {
	Name   string `json:"name"` // "zeros", "mean-of-v", "swapped-heads", …
	Caught bool   `json:"caught"`
	Why    string `json:"why,omitempty"` // it does not apply: one head cannot be swapped
}

// Tile is the errors of one head and tile of rows, and the tile of keys that is to
// blame when that is known.
type Tile struct {
	Batch   int     `json:"batch"`
	Head    int     `json:"head"`
	RowTile int     `json:"row_tile"`
	KVTile  int     `json:"kv_tile"` // -1 when not known
	Max     float64 `json:"max"`
	Bad     int     `json:"bad"`
}

// Performance is times, of the candidate against its baseline and rivals, in one run.
type Performance struct {
	Skipped string  `json:"skipped,omitempty"` // why nothing was timed
	Shapes  []Times `json:"shapes"`
	Ceiling Ceiling `json:"ceiling"`
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
	Shape     string            `json:"shape"`
	Name      string            `json:"name,omitempty"`
	Method    timing.Method     `json:"method"`
	Runs      []timing.Run      `json:"runs"` // one a process; candidate 0 is the kernel
	Names     []string          `json:"names"`
	Summaries []stats.Summary   `json:"summaries"` // a candidate each, over all runs
	TFLOPs    []float64         `json:"tflops"`    // 4·B·H·Sq·Skv·D over the median
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
