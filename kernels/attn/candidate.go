package attn

import (
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
)

// Candidate is a configuration that a family may choose, and the rule of the choice as data, so
// that a program in another language makes the same choice. Of the candidates that compute a
// problem and whose When holds, the family chooses the one with the lowest Cost, and the first
// one among equals.
//
// The expressions have the names of the problem, SMs, and the names of Let. They are computed
// in integers, which are exact in every language.
type Candidate struct {
	Variant string
	Config  Config
	When    expr.Expr // a condition on the sizes; the zero expression always holds
	Let     []kernel.Binding
	Cost    expr.Expr // the zero expression is 0
	// Tiles adds the name busy to those of Cost. It is nil if Cost does without.
	Tiles *Tiles
	// Keys is a number of queries and keys that the kernel computes, or 0 if it computes any. The text does not
	// depend on it.
	Keys int
	// Always reports that the candidate, with the others of its family for which it holds, computes every
	// problem that the families behind this one compute, so that they are never asked.
	Always bool
}

// Tiles describes how a kernel divides its work, for a time that expressions cannot compute
// because it needs a loop: how long the place for a block is busy that ends last. Let has the times of the
// beginning and the end of an item and of one of its KV tiles, as item and tile, and the items of a place, as rounds.
type Tiles struct {
	Rows       int  `json:"rows"` // query rows of a block
	Keys       int  `json:"keys"` // keys of a tile
	Split      int  `json:"split"`
	PerSM      int  `json:"per_sm"` // blocks that share an SM
	Persistent bool `json:"persistent"`
	Causal     bool `json:"causal"`
	// Counted is the number of blocks up to which the items of a causal problem are followed
	// block by block.
	Counted int `json:"counted"`
}

// Let returns a binding that the program itself wrote.
func Let(name, value string) kernel.Binding {
	return kernel.Binding{Name: name, Value: expr.Must(value)}
}
