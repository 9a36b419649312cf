package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/problem"
)

// The impostors: outputs that look like attention and are not. They are made from the
// reference on a case's own inputs and judged as the kernel is.
const (
	Zeros       = "zeros"
	Constant    = "constant"           // everywhere the mean of all of O
	MeanOfV     = "mean-of-v"          // weights that are all the same
	SwapHeads   = "swapped-heads"      // two neighbouring heads
	ShiftRows   = "shifted-rows"       // every row is the next one's
	MissingTile = "missing-last-tile"  // of keys
	MissingKey  = "missing-last-key"   // a mask that is off by one
	Tail        = "uninitialised-tail" // the last row is zeros
	TileOfKeys  = 32                   // keys of MissingTile
	needed      = 4                    // impostors that some case must catch

	mostCompared = 4096 // rows of an output
)

// Impostors are all of them, in order.
var Impostors = []string{Zeros, Constant, MeanOfV, SwapHeads, ShiftRows, MissingTile, MissingKey, Tail}

// Excuse says why an impostor cannot be told from the truth on a case, or "" when it
// must be. Nobody else may excuse one.
func Excuse(impostor string, s problem.Shape, distribution string, causal bool) string {
	if why, ok := blind[distribution]; ok && (len(why.to) == 0 || slices.Contains(why.to, impostor)) {
		return fmt.Sprintf("%s: %s", distribution, why.because)
	}
	rows := min(s.B*s.Hq*s.Sq, mostCompared)
	looking := rows // for one of the last keys, perhaps
	if causal {
		looking = min(rows, s.B*s.Hq*TileOfKeys/2)
	}
	peaked := distribution == "one-hot" || distribution == "large-logits" // a row of O is a row of V
	switch {
	case impostor == SwapHeads && s.B*s.Hq < 2:
		return "there is one head"
	case impostor == ShiftRows && s.Sq < 2:
		return "there is one row"
	case impostor == MeanOfV && s.Skv < 2, impostor == MissingKey && s.Skv < 2:
		return "there is one key"
	case impostor == ShiftRows && s.Skv < TileOfKeys, impostor == SwapHeads && s.Hkv < s.Hq && s.Skv < TileOfKeys:
		return "rows that share a few keys may come out alike"
	case impostor == SwapHeads && s.Hkv < s.Hq && (distribution == "rising" || distribution == "falling"):
		return "heads that share keys look for the same ones"
	case impostor == ShiftRows && peaked && rows < 3:
		return "two rows may look for the same key"
	case impostor == MeanOfV && s.Skv < TileOfKeys && rows < 16:
		return "a few keys may weigh the same in a few rows"
	case impostor == MissingTile && s.Skv <= TileOfKeys:
		return "there is one tile of keys"
	case impostor == MissingTile && peaked && looking*TileOfKeys < 8*s.Skv:
		return "too few rows for one to look for the last tile of keys"
	case impostor == MissingTile && s.Skv > tilesThatWeigh(distribution, causal)*TileOfKeys:
		return "one tile of keys of many weighs less than rounding does"
	case impostor == MissingKey && causal:
		return "only the last row sees the last key"
	case impostor == MissingKey && distribution != "one-hot":
		return "one key of many weighs less than rounding does: one-hot inputs show it"
	case impostor == MissingKey && rows < 4*s.Skv:
		return "too few rows for one to look for the last key"
	}
	return ""
}

// tilesThatWeigh is how many tiles of keys there may be for one of them to weigh more than
// rounding does. Of causal outputs only the last rows see the last.
func tilesThatWeigh(distribution string, causal bool) int {
	switch {
	case distribution == "outliers" && causal:
		return 4
	case distribution == "outliers":
		return 16
	case causal:
		return 40
	case distribution == "uniform":
		return 250
	}
	return math.MaxInt32
}

// blind are the distributions on which some impostors, or all, are right.
var blind = map[string]struct {
	to      []string
	because string
}{
	"zeros":      {nil, "O is zero"},
	"tiny":       {nil, "O is smaller than any tolerance"},
	"constant-v": {[]string{Constant, MeanOfV, SwapHeads, ShiftRows, MissingTile, MissingKey}, "all rows of V are equal"},
	"falling":    {[]string{ShiftRows, MissingTile, MissingKey}, "the first keys have all the weight"},
	"rising":     {[]string{ShiftRows}, "the last keys have all the weight, in every row"},
	"outliers":   {[]string{Tail}, "outliers weigh more than a row"},
	"ties":       {[]string{MissingTile, MissingKey}, "the tiles of keys are alike"},
}
