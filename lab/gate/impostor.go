package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/problem"
)

// The impostors: outputs that look like attention and are wrong. They are derived from the
// reference on the inputs of a case, and judged like the output of the kernel.
const (
	Zeros       = "zeros"
	Constant    = "constant"           // every element is the mean of O
	MeanOfV     = "mean-of-v"          // all weights are equal
	SwapHeads   = "swapped-heads"      // two neighbouring heads are exchanged
	ShiftRows   = "shifted-rows"       // each row is that of the next query
	MissingTile = "missing-last-tile"  // the last tile of keys is left out
	MissingKey  = "missing-last-key"   // the mask is off by one
	Tail        = "uninitialised-tail" // the last row is zeros
	TileOfKeys  = 32                   // the number of keys in a tile of MissingTile
	needed      = 4                    // the number of impostors that the cases must catch

	// mostEqual is the number of keys of equal weight of which one is missed.
	mostEqual = 512

	// tilesTwoBits is the largest number of tiles of which a missing one shows if weights have two bits: leaving
	// out a share x of the keys changes O by √x of its size, and rounding the weights changes it by 7 %.
	tilesTwoBits = 32

	mostCompared = 4096 // the largest number of rows that a case compares
)

// Equal is the distribution in which half of the rows have equal logits.
const Equal = "equal"

// EqualHalf is [Equal] with a V that is half as large, for weights of two bits.
const EqualHalf = "equal-half"

// HalfEqual reports whether half of the rows of a distribution have equal logits.
func HalfEqual(distribution string) bool { return distribution == Equal || distribution == EqualHalf }

// Biased is the distribution in which V has a mean other than zero.
const Biased = "biased-v"

// Sink is the distribution in which the first key has a quarter of the weight, and Flat the one in which all keys
// have nearly the same.
const (
	Sink = "sink"
	Flat = "flat"
)

// Impostors lists all impostors.
var Impostors = []string{Zeros, Constant, MeanOfV, SwapHeads, ShiftRows, MissingTile, MissingKey, Tail}

// Excuse returns why an impostor cannot be distinguished from the right output on a case, or
// "" when the case must catch it. A record cannot excuse an impostor; only this function can.
func Excuse(impostor string, p problem.Attention, distribution string) string {
	s, masked := p.Shape, p.Causal || p.Window.Limited() || p.Masked || p.Bias != "" || p.Ragged()
	if why, ok := blind[distribution]; ok && (len(why.to) == 0 || slices.Contains(why.to, impostor)) {
		return fmt.Sprintf("%s: %s", distribution, why.because)
	}
	rows := min(p.Rows(), mostCompared)
	looking := rows // the rows that may give weight to one of the last keys
	if masked {
		looking = min(rows, s.B*s.Hq*TileOfKeys/2)
	}
	coarse := p.Format.OneByte() && p.Format != problem.E4M3 && p.Format != problem.E5M2 // equal steps, however small a number is
	peaked := distribution == "one-hot" || distribution == "large-logits"                // each row of O is a row of V
	switch {
	case coarse && distribution == "subnormal":
		return "all rows of V that have weight may be rounded to zero"
	case impostor == MeanOfV && masked && distribution == Sink:
		return "few rows may see the first key"
	case coarse && distribution == "large-scales":
		return "all logits may be rounded to zero"
	case distribution == "sparse" && s.Skv < TileOfKeys:
		return "the rows of V that are seen may all be zero"
	case impostor == Tail && p.Format == problem.E5M2:
		return "a weight of two bits may be off by so much that a row of zeros is no worse"
	case impostor == SwapHeads && s.B*s.Hq < 2:
		return "there is one head"
	case impostor == ShiftRows && s.Sq < 2:
		return "there is one row"
	case impostor == MeanOfV && s.Skv < 2, impostor == MissingKey && s.Skv < 2:
		return "there is one key"
	case impostor == ShiftRows && s.Skv < TileOfKeys, impostor == SwapHeads && s.Hkv < s.Hq && s.Skv < TileOfKeys:
		return "rows that share a few keys may be equal"
	case impostor == SwapHeads && s.Hkv < s.Hq && (distribution == "rising" || distribution == "falling"):
		return "heads that share keys weigh the same keys"
	case impostor == SwapHeads && s.Hkv < s.Hq && HalfEqual(distribution):
		return "heads that share keys have equal outputs in half of the rows"
	case impostor == ShiftRows && peaked && rows < 3:
		return "two rows may weigh the same key"
	case impostor == MeanOfV && s.Skv < TileOfKeys && rows < 16:
		return "a few keys may have equal weights in a few rows"
	case impostor == MeanOfV && distribution == "steps" && s.Skv <= 16:
		return "most rows see keys of equal weight"
	case impostor == MissingTile && s.Skv <= TileOfKeys:
		return "there is one tile of keys"
	case impostor == MissingTile && peaked && looking*TileOfKeys < 8*s.Skv:
		return "there are too few rows for one of them to weigh the last tile of keys"
	case impostor == MissingTile && p.Format == problem.E5M2 && s.Skv > tilesTwoBits*TileOfKeys:
		return "one tile of many keys changes less than rounding to two bits does"
	case impostor == MissingTile && s.Skv > tilesThatWeigh(distribution, masked, rows)*TileOfKeys:
		return "one tile of many keys changes less than rounding does"
	case impostor == MissingKey && masked:
		return "few rows see the last key"
	case impostor == MissingKey && HalfEqual(distribution) && rows < 16:
		return "all logits of a few rows may differ"
	case impostor == MissingKey && HalfEqual(distribution) && s.Skv <= mostEqual:
		return ""
	case impostor == MissingKey && distribution != "one-hot":
		return "one key of many changes less than rounding does: one-hot inputs show it"
	case impostor == MissingKey && rows < 4*s.Skv:
		return "there are too few rows for one of them to weigh the last key"
	}
	return ""
}

// tilesThatWeigh returns the largest number of tiles of keys with which one tile still changes
// the output by more than rounding does. With a mask, only the last rows of an output see the
// last tile. In a few rows the rounding of weights may happen to be as large as the change.
func tilesThatWeigh(distribution string, masked bool, rows int) int {
	switch {
	case distribution == "outliers" && masked:
		return 4
	case distribution == "outliers":
		return 16
	case masked:
		return 40
	case rows < 16:
		return 100
	case distribution == "uniform":
		return 250
	}
	return math.MaxInt32
}

// blind lists the distributions on which some impostors, or all, give the right output.
var blind = map[string]struct {
	to      []string
	because string
}{
	"zeros":      {nil, "O is zero"},
	"tiny":       {nil, "O is smaller than any tolerance"},
	"constant-v": {[]string{Constant, MeanOfV, SwapHeads, ShiftRows, MissingTile, MissingKey}, "all rows of V are equal"},
	"falling":    {[]string{ShiftRows, MissingTile, MissingKey}, "the first keys have all the weight"},
	Biased:       {[]string{MeanOfV, ShiftRows, SwapHeads, MissingTile, MissingKey}, "every row of O is nearly the mean of V"},
	Sink:         {[]string{ShiftRows, SwapHeads, MissingTile, MissingKey}, "all rows of a head are nearly equal"},
	Flat:         {[]string{MeanOfV, ShiftRows, SwapHeads, MissingTile, MissingKey}, "every row of O is nearly the mean of V"},
	"small-v":    {nil, "O is smaller than most tolerances"},
	"rising":     {[]string{ShiftRows}, "the last keys have all the weight, in every row"},
	"outliers":   {[]string{Tail}, "outliers change the errors more than a row does"},
	"steps":      {[]string{MissingTile, MissingKey}, "a few groups of keys have all the weight"},
	Equal:        {[]string{MeanOfV, ShiftRows}, "in half of the rows all weights are equal"},
	EqualHalf:    {[]string{MeanOfV, ShiftRows}, "in half of the rows all weights are equal"},
	"ties":       {[]string{MissingTile, MissingKey}, "the tiles of keys are equal"},
}
