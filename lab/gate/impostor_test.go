package gate

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
)

// TestExcuse has each excuse on both sides of its limit. Where one impostor is excused, zeros
// must not be, except on inputs whose output is zero.
func TestExcuse(t *testing.T) {
	shape := func(b, hq, hkv, sq, skv int) problem.Shape {
		return problem.Shape{B: b, Hq: hq, Hkv: hkv, Sq: sq, Skv: skv, D: 64}
	}
	full := func(s problem.Shape) problem.Attention { return problem.Attention{Shape: s} }
	causal := func(s problem.Shape) problem.Attention { return problem.Attention{Shape: s, Causal: true} }
	for _, c := range []struct {
		impostor     string
		p            problem.Attention
		distribution string
		want         string // a part of the excuse; "" for none
	}{
		{SwapHeads, full(shape(1, 1, 1, 64, 64)), "normal", "one head"},
		{SwapHeads, full(shape(1, 2, 2, 64, 64)), "normal", ""},
		{SwapHeads, full(shape(2, 1, 1, 64, 64)), "normal", ""},
		{SwapHeads, full(shape(1, 2, 2, 64, 31)), "normal", ""},
		{SwapHeads, full(shape(1, 2, 1, 64, 31)), "normal", "share a few keys"},
		{SwapHeads, full(shape(1, 2, 1, 64, 32)), "normal", ""},
		{SwapHeads, full(shape(1, 2, 1, 64, 64)), "rising", "heads that share keys"},
		{SwapHeads, full(shape(1, 2, 1, 64, 64)), "falling", "heads that share keys"},
		{SwapHeads, full(shape(1, 2, 2, 64, 64)), "rising", ""},

		{SwapHeads, full(shape(1, 2, 2, 64, 64)), Biased, "nearly the mean"},
		{MeanOfV, full(shape(1, 2, 2, 64, 64)), Biased, "nearly the mean"},
		{ShiftRows, full(shape(1, 2, 2, 64, 64)), Biased, "nearly the mean"},
		{MissingTile, full(shape(1, 2, 2, 64, 64)), Biased, "nearly the mean"},
		{MissingKey, full(shape(1, 2, 2, 64, 64)), Biased, "nearly the mean"},
		{Constant, full(shape(1, 2, 2, 64, 64)), Biased, ""},
		{Tail, full(shape(1, 2, 2, 64, 64)), Biased, ""},
		{Tail, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.U8}, "subnormal", "rounded to zero"},
		{Tail, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.U8}, "normal", ""},
		{MeanOfV, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.U8}, "large-scales", "rounded to zero"},
		{MeanOfV, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.E5M2}, "large-scales", ""},
		{Tail, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.E4M3}, "subnormal", ""},
		{Tail, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.E5M2}, "normal", "two bits"},
		{ShiftRows, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.E5M2}, "normal", ""},
		{MeanOfV, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.E5M2}, EqualHalf, "equal"},
		{Tail, problem.Attention{Shape: shape(1, 2, 2, 64, 64), Format: problem.F16}, "subnormal", ""},

		{ShiftRows, full(shape(1, 2, 2, 1, 64)), "normal", "one row"},
		{ShiftRows, full(shape(1, 1, 1, 2, 64)), "normal", ""},
		{ShiftRows, full(shape(1, 1, 1, 64, 31)), "normal", "share a few keys"},
		{ShiftRows, full(shape(1, 1, 1, 64, 32)), "normal", ""},
		{ShiftRows, full(shape(1, 1, 1, 2, 64)), "one-hot", "the same key"},
		{ShiftRows, full(shape(1, 1, 1, 2, 64)), "large-logits", "the same key"},
		{ShiftRows, full(shape(1, 1, 1, 3, 64)), "one-hot", ""},

		{MeanOfV, full(shape(1, 1, 1, 64, 1)), "normal", "one key"},
		{MeanOfV, full(shape(1, 1, 1, 64, 2)), "normal", ""},
		{MeanOfV, full(shape(1, 1, 1, 15, 31)), "normal", "a few rows"},
		{MeanOfV, full(shape(1, 1, 1, 16, 31)), "normal", ""},
		{MeanOfV, full(shape(1, 1, 1, 15, 32)), "normal", ""},

		{MissingTile, full(shape(1, 1, 1, 64, 32)), "normal", "one tile of keys"},
		{MissingTile, full(shape(1, 1, 1, 64, 33)), "normal", ""},
		{MissingTile, full(shape(1, 1, 1, 15, 64)), "one-hot", "too few rows"},
		{MissingTile, full(shape(1, 1, 1, 16, 64)), "one-hot", ""},
		{MissingTile, full(shape(1, 1, 1, 15, 64)), "normal", ""},
		{MissingTile, causal(shape(1, 1, 1, 64, 64)), "one-hot", ""},
		{MissingTile, causal(shape(1, 1, 1, 65, 65)), "one-hot", "too few rows"},
		{MissingTile, causal(shape(1, 2, 2, 128, 128)), "large-logits", ""},
		{MissingTile, causal(shape(2, 1, 1, 128, 128)), "large-logits", ""},
		{MissingTile, causal(shape(1, 2, 2, 129, 129)), "large-logits", "too few rows"},
		{MissingTile, full(shape(1, 1, 1, 64, 512)), "outliers", ""},
		{MissingTile, full(shape(1, 1, 1, 64, 513)), "outliers", "less than rounding"},
		{MissingTile, causal(shape(1, 1, 1, 64, 128)), "outliers", ""},
		{MissingTile, causal(shape(1, 1, 1, 64, 129)), "outliers", "less than rounding"},
		{MissingTile, causal(shape(1, 1, 1, 64, 1280)), "normal", ""},
		{MissingTile, causal(shape(1, 1, 1, 64, 1281)), "normal", "less than rounding"},
		{MissingTile, full(shape(1, 1, 1, 64, 8000)), "uniform", ""},
		{MissingTile, full(shape(1, 1, 1, 64, 8001)), "uniform", "less than rounding"},
		{MissingTile, full(shape(1, 1, 1, 64, 100000)), "normal", ""},
		{MissingTile, full(shape(1, 1, 1, 15, 3200)), "normal", ""},
		{MissingTile, problem.Attention{Shape: shape(1, 1, 1, 64, 1024), Format: problem.E5M2}, "normal", ""},
		{MissingTile, problem.Attention{Shape: shape(1, 1, 1, 64, 1025), Format: problem.E5M2}, "normal", "two bits"},
		{MissingTile, full(shape(1, 1, 1, 15, 3201)), "normal", "less than rounding"},
		{MissingTile, full(shape(1, 1, 1, 16, 3201)), "normal", ""},

		{MissingKey, full(shape(1, 1, 1, 64, 1)), "one-hot", "one key"},
		{MissingKey, full(shape(1, 1, 1, 8, 2)), "one-hot", ""},
		{MissingKey, full(shape(1, 1, 1, 8, 2)), "normal", "one-hot inputs show it"},
		{MissingKey, full(shape(1, 4, 4, 64, 64)), "one-hot", ""},
		{MissingKey, full(shape(1, 1, 1, 255, 64)), "one-hot", "too few rows"},
		{MissingKey, full(shape(1, 1, 1, 9000, 1024)), "one-hot", ""},
		{MissingKey, full(shape(1, 1, 1, 9000, 1025)), "one-hot", "too few rows"}, // 4096 are compared
		{MissingKey, causal(shape(1, 4, 4, 64, 64)), "one-hot", "few rows see"},
		{MissingKey, problem.Attention{Shape: shape(1, 4, 4, 64, 64), Window: problem.NewWindow(3, 3)}, "one-hot", "few rows see"},
		{MissingKey, problem.Attention{Shape: shape(1, 4, 4, 64, 64), Masked: true}, "one-hot", "few rows see"},
		{MissingKey, problem.Attention{Shape: shape(1, 4, 4, 64, 64), Keys: problem.Paged}, "one-hot", "few rows see"},

		{MissingKey, full(shape(1, 4, 4, 64, 64)), "steps", "a few groups of keys"},
		{MeanOfV, full(shape(1, 8, 8, 64, 16)), "steps", "keys of equal weight"},
		{MeanOfV, full(shape(1, 8, 8, 64, 17)), "steps", ""},
		{MissingKey, full(shape(1, 4, 4, 64, 64)), "ties", "ties: the tiles of keys are equal"},
		{MeanOfV, full(shape(1, 2, 2, 64, 64)), Sink, ""},
		{MeanOfV, causal(shape(1, 2, 2, 64, 64)), Sink, "the first key"},
		{ShiftRows, full(shape(1, 2, 2, 64, 64)), Sink, "nearly equal"},
		{Tail, full(shape(1, 2, 2, 64, 64)), Sink, ""},
		{MeanOfV, full(shape(1, 2, 2, 64, 64)), Flat, "nearly the mean"},
		{Constant, full(shape(1, 2, 2, 64, 64)), Flat, ""},
		{Tail, full(shape(1, 2, 2, 64, 64)), Flat, ""},
		{Tail, full(shape(1, 2, 2, 64, 64)), LargeV, ""},
		{MissingTile, full(shape(1, 2, 2, 64, 64)), LargeV, ""},
		{Tail, full(shape(1, 1, 1, 1, 1)), "outliers", "outliers change the errors"},
		{Tail, full(shape(1, 1, 1, 1, 1)), "normal", ""},
		{Zeros, full(shape(1, 4, 4, 64, 64)), "zeros", "O is zero"},
		{Tail, full(shape(1, 4, 4, 64, 64)), "tiny", "smaller than any tolerance"},
	} {
		got := Excuse(c.impostor, c.p, c.distribution)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s on %v, %s: %q, want %q", c.impostor, c.p.Shape, c.distribution, got, c.want)
		}
		if c.distribution == "zeros" || c.distribution == "tiny" || strings.Contains(c.want, "rounded to zero") {
			continue
		}
		if got := Excuse(Zeros, c.p, c.distribution); got != "" {
			t.Errorf("zeros on %v, %s: %q", c.p.Shape, c.distribution, got)
		}
	}
}
