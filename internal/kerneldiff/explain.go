package kerneldiff

import (
	"fmt"
	"math"
	"slices"
)

// explain says which value of a row went wrong. Both slices are the weights of the row by key.
func (r *Report) explain(a, b []float64, eps rounding) *Difference {
	largest := slices.Max(b)
	first := 0
	for j := range a {
		if eps.differ(a[j], b[j], largest) {
			first = j
			break
		}
	}
	d := &Difference{Value: "S", Key: first, A: a[first], B: b[first]}
	if math.IsNaN(a[first]) {
		d.Value, d.Why = "P", "the weight is not a number: an element of O was never written, a logit is not finite, or the row sum is zero"
		return d
	}
	f := factors(a, b, r.TileKV, largest, eps)
	switch {
	case f.missing >= 0:
		d.Value, d.Why = "P", fmt.Sprintf("the weights of the keys %s are zero: the tile was left out, or a mask hides it", r.keys(f.missing, len(a)))
	case f.uniform && eps.differ(f.of[0], 1, 0.05):
		d.Value, d.Why = "l", fmt.Sprintf("all weights of the row are %.3gx: the logits and maxima agree, the row sum differs", f.of[0])
	case f.steps == 1:
		d.Value = "m"
		d.Why = fmt.Sprintf("the weights of the keys before %d are %.3gx those behind, relative to %s: what was added up before was rescaled wrongly when the maximum changed", f.at*r.TileKV, f.of[0]/f.of[len(f.of)-1], r.B)
	case f.single >= 0:
		d.Value, d.Why = "P", fmt.Sprintf("only the keys %s differ, all by the factor %.3g: this tile was counted another number of times, or with another maximum", r.keys(f.single, len(a)), f.of[f.single])
	default:
		d.Why = fmt.Sprintf("the weight of key %d is %.4g and should be about %.4g, and other keys are off by other factors. The logits differ: look at the load of Q and K, their scales and the product Q·Kᵀ", first, a[first], b[first])
		if b[first] > 0 && a[first] > 0 {
			d.Why += fmt.Sprintf(" (the logit is off by %.3g relative to the row)", math.Log(a[first]/b[first]))
		}
	}
	return d
}

// keys returns the keys of a tile as text.
func (r *Report) keys(tile, of int) string {
	return fmt.Sprintf("%d to %d", tile*r.TileKV, min((tile+1)*r.TileKV, of)-1)
}

// tileFactors are the factors between the weights of two rows, by tile of keys.
type tileFactors struct {
	of      []float64 // one per tile that has weights
	uniform bool      // all tiles have the same factor
	steps   int       // how often the factor changes from one tile to the next
	at      int       // the tile of the last change
	single  int       // the only tile whose factor is not 1, or -1
	missing int       // a tile without weights on one side, or -1
}

// factors compares tile by tile. A tile in which the factors of single keys differ makes steps
// -1: then the logits differ.
func factors(a, b []float64, tile int, largest float64, eps rounding) tileFactors {
	f := tileFactors{single: -1, missing: -1, uniform: true}
	off := 0
	for start := 0; start < len(b); start += tile {
		end := min(start+tile, len(b))
		var sumA, sumB float64
		for j := start; j < end; j++ {
			sumA, sumB = sumA+a[j], sumB+b[j]
		}
		if sumB < largest/8 { // too small to tell
			f.of = append(f.of, math.NaN())
			continue
		}
		if sumA < sumB/100 {
			f.missing = start / tile
			return f
		}
		c := sumA / sumB
		for j := start; j < end; j++ {
			if eps.differ(a[j], c*b[j], 2*largest) {
				f.steps, f.uniform = -1, false
				return f
			}
		}
		f.of = append(f.of, c)
		if eps.differ(c, 1, 0.05) {
			f.single, off = start/tile, off+1
		}
	}
	fill(f.of)
	for i := 1; i < len(f.of); i++ {
		if eps.differ(f.of[i], f.of[i-1], 0.05) {
			f.steps++
			f.at = i
			f.uniform = false
		}
	}
	if off != 1 || f.steps == 1 {
		f.single = -1
	}
	return f
}

// fill gives tiles without a factor that of their neighbour.
func fill(of []float64) {
	for i := 1; i < len(of); i++ {
		if math.IsNaN(of[i]) {
			of[i] = of[i-1]
		}
	}
	for i := len(of) - 2; i >= 0; i-- {
		if math.IsNaN(of[i]) {
			of[i] = of[i+1]
		}
	}
}
