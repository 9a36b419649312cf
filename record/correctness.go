package record

import (
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// Correctness is how far outputs are from what they ought to be.
type Correctness struct {
	Tolerance Tolerance `json:"tolerance"`
	Cases     []Case    `json:"cases"`
	Refused   []Refusal `json:"refused,omitempty"`
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
	Shape        problem.Shape `json:"shape"`
	Name         string        `json:"name,omitempty"`
	Seed         uint64        `json:"seed"`
	Distribution string        `json:"distribution"`
	Device       string        `json:"device"`
	Errors       *ref.Errors   `json:"errors,omitempty"` // against float64 on the original inputs
	Dequantised  *ref.Errors   `json:"dequantised,omitempty"`
	Plain        *ref.Errors   `json:"plain,omitempty"` // of a plain computation in the same precision
	// PlainDequantised is the plain computation against float64 on the quantised
	// inputs: what rounding alone costs.
	PlainDequantised *ref.Errors `json:"plain_dequantised,omitempty"`
	// Logits is the most that a logit of these inputs is off by where tensor cores cut
	// products of one-byte numbers off.
	Logits ref.Float `json:"logits,omitempty"`
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
	First int       `json:"first"` // row
	Mean  ref.Float `json:"mean"`
	Plain ref.Float `json:"plain"` // of the plain computation
}

// RowError is the mean error of a row.
type RowError struct {
	ref.Row
	Mean  ref.Float `json:"mean"`  // NaN or infinite where an output is
	Plain ref.Float `json:"plain"` // of the plain computation, the row and its tile of rows added up
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
