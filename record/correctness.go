package record

import (
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// Correctness holds the errors of the outputs.
type Correctness struct {
	Tolerance Tolerance `json:"tolerance"`
	Cases     []Case    `json:"cases"`
	Refused   []Refusal `json:"refused,omitempty"`
	// Conditions is nil in old records.
	Conditions *Conditions `json:"conditions,omitempty"`
}

// Conditions says how far the cases meet the conditions on sizes in a kernel and in its call: a kernel can be
// wrong for one combination of sizes.
type Conditions struct {
	// Unsearched says why nobody looked for shapes that meet them, or not for all of them.
	Unsearched string `json:"unsearched,omitempty"`
	Shapes     int    `json:"shapes"` // the shapes that became cases because of their conditions
	// Open are conditions with a result that no case gives them, More the number of others.
	Open []OpenCondition `json:"open,omitempty"`
	More int             `json:"more,omitempty"`
}

// OpenCondition is a condition with a result that no case gives it.
type OpenCondition struct {
	Line  int           `json:"line,omitempty"` // of the PTX; 0 is the call
	Text  string        `json:"text"`           // the instruction, or the expression in the call
	Shape problem.Shape `json:"shape,omitzero"` // one that gives it the result, if a shape is known
}

// Tolerance is the largest error that is accepted. It is set before anything runs.
type Tolerance struct {
	Max      float64 `json:"max"`
	Mean     float64 `json:"mean"`
	BadAbove float64 `json:"bad_above"`
	BadShare float64 `json:"bad_share"`
	// Relative limits the kernel's error to this multiple of the error of a plain computation
	// in the same precision.
	Relative float64 `json:"relative"`
}

// Case is the result of one shape, seed and distribution.
type Case struct {
	Shape        problem.Shape `json:"shape"`
	Name         string        `json:"name,omitempty"`
	Seed         uint64        `json:"seed"`
	Distribution string        `json:"distribution"`
	Fresh        bool          `json:"fresh,omitempty"` // whether Seed was drawn for this record
	Scale        float64       `json:"scale,omitempty"` // the scale of the softmax; 0 is 1/√D
	// Window and Softcap are the values of a kernel that takes them as arguments.
	Window  problem.Window `json:"window,omitzero"`
	Softcap float64        `json:"softcap,omitempty"`
	// Batch holds the lengths of the sequences of a kernel that reads them from memory.
	Batch problem.Batch `json:"batch,omitzero"`
	// Sweep is set if the case stands for many lengths, of which it is the worst.
	Sweep *Sweep `json:"sweep,omitempty"`

	Device      string      `json:"device"`
	Errors      *ref.Errors `json:"errors,omitempty"` // against float64 on the original inputs
	Dequantised *ref.Errors `json:"dequantised,omitempty"`
	Plain       *ref.Errors `json:"plain,omitempty"` // the errors of a plain computation in the same precision
	// PlainDequantised is the error of the plain computation against float64 on the quantised
	// inputs: the error of rounding alone.
	PlainDequantised *ref.Errors `json:"plain_dequantised,omitempty"`
	// Logits is the largest error of a logit that the truncation in tensor cores can cause
	// on these inputs.
	Logits ref.Float `json:"logits,omitempty"`
	// WorstTile is the tile of rows with the largest ratio of its mean error, on the quantised
	// inputs, to that of the plain computation.
	WorstTile *TileError `json:"worst_tile,omitempty"`
	// WorstRow is the row with the largest ratio of its mean error to the sum of the plain
	// computation's mean errors of the row and of its tile. The error of the row alone could
	// happen to be small. With the inputs "equal", the sum is twice the error of the row.
	WorstRow *RowError   `json:"worst_row,omitempty"`
	LSE      *ref.Errors `json:"lse,omitempty"`
	Failure  string      `json:"failure,omitempty"` // why there are no errors: a fault, a timeout
	// The checks of the buffers.
	Unwritten  int  `json:"unwritten"`   // elements of O and of the LSE that no run wrote
	Overrun    bool `json:"overrun"`     // whether the guard bands were written
	InputsKept bool `json:"inputs_kept"` // whether the inputs are unchanged
	// CacheWrong reports whether K and V differ from what they are with the new rows, for a kernel
	// that appends rows.
	CacheWrong bool `json:"cache_wrong,omitempty"`
	// Repeatable reports whether a second run gave the same bits, apart from elements that no run
	// wrote. It is true if Varied is.
	Repeatable bool `json:"repeatable"`
	// Varied reports whether a second run of a kernel that declares that its bits vary gave other
	// bits. The errors are those of the worse run.
	Varied      bool    `json:"varied,omitempty"`
	OutputsHash string  `json:"outputs_hash"`    // SHA-256 of O
	Powers      []Power `json:"powers"`          // the impostors that must fail
	Map         []Tile  `json:"map,omitempty"`   // where the errors are, when the case fails
	Cause       string  `json:"cause,omitempty"` // the likely cause, from the pattern of errors
}

// Sweep is a series of small cases whose lengths leave every remainder of a tile. A record holds
// the worst of them only.
type Sweep struct {
	Launches int `json:"launches"`
	Lengths  int `json:"lengths"` // a launch has several if the kernel reads lengths from memory
	Tile     int `json:"tile"`    // keys
	MostQ    int `json:"most_q"`  // the largest number of queries
	MostKV   int `json:"most_kv"`
	Wrong    int `json:"wrong,omitempty"` // the number of launches with errors that are too large
}

// TileError is the mean error of a tile of rows over all heads.
type TileError struct {
	First int       `json:"first"` // row
	Mean  ref.Float `json:"mean"`
	Plain ref.Float `json:"plain"` // the error of the plain computation
}

// RowError is the mean error of a row.
type RowError struct {
	ref.Row
	Mean  ref.Float `json:"mean"`  // NaN or infinite if an output is
	Plain ref.Float `json:"plain"` // the errors of the plain computation: the sum of the row and of its tile of rows
}

// Power is an impostor that was judged on the inputs of a case. A case on which an impostor
// passes proves nothing.
type Power struct {
	Name   string `json:"name"` // "zeros", "mean-of-v", "swapped-heads", …
	Caught bool   `json:"caught"`
	Why    string `json:"why,omitempty"` // why the impostor does not apply: one head cannot be swapped
}

// Tile is the errors of one head and tile of rows, and the tile of keys that causes them if
// it is known.
type Tile struct {
	Batch   int     `json:"batch"`
	Head    int     `json:"head"`
	RowTile int     `json:"row_tile"`
	KVTile  int     `json:"kv_tile"` // -1 when not known
	Max     float64 `json:"max"`
	Bad     int     `json:"bad"`
}

// Of returns the problem of the case, for a kernel that computes p.
func (c *Case) Of(p problem.Attention) problem.Attention {
	p.Shape, p.Scale, p.Softcap = c.Shape, c.Scale, c.Softcap
	if c.Window.Limited() {
		p.Window = c.Window
	}
	if c.Batch != (problem.Batch{}) {
		p.Batch = c.Batch
	}
	return p
}
