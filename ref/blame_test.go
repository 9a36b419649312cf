package ref

import (
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
)

// TestBlameKV makes the mistakes that kernels make, a tile left out or added twice, and
// checks that BlameKV names the tile.
func TestBlameKV(t *testing.T) {
	s := problem.Shape{B: 1, Hq: 2, Hkv: 1, Sq: 100, Skv: 100, D: 16}
	in := generate(t, "normal", 4, s)
	at := Row{0, 1, 70}
	blame := func(got []float64, opt Options) *Blame {
		t.Helper()
		b, err := BlameKV(in.Q, in.K, in.V, opt, at, got, 32)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, causal := range []bool{false, true} {
		opt := Options{Causal: causal}
		right, _ := plain(in.Q, in.K, in.V, opt, at)
		if b := blame(right, opt); b != nil {
			t.Errorf("a correct row is blamed: %v", b)
		}
		for tile := range 3 {
			for _, times := range []float64{0, 2} {
				b := blame(reweighed(in, opt, at, tile, times), opt)
				if b == nil || b.First != 32*tile || b.Last != 32*tile+31 || b.Twice != (times == 2) || b.After > 1e-12 {
					t.Errorf("tile %d %v times: %v", tile, times, b)
				}
			}
		}
		other, _ := plain(in.Q, in.K, in.V, opt, Row{0, 0, 70})
		if b := blame(other, opt); b != nil {
			t.Errorf("the row of another head is blamed on a tile: %v", b)
		}
	}
	if b := blame(reweighed(in, Options{}, at, 3, 0), Options{}); b == nil || !strings.Contains(b.String(), "keys 96 to 99 left out") {
		t.Errorf("the last tile: %v", b)
	}
	bad := make([]float64, s.D)
	bad[3] = math.NaN()
	if b := blame(bad, Options{}); b != nil {
		t.Errorf("a NaN is blamed on a tile: %v", b)
	}
	if _, err := BlameKV(in.Q, in.K, in.V, Options{}, at, bad[1:], 32); err == nil {
		t.Error("a row that is too short was accepted")
	}
	if _, err := BlameKV(in.Q, in.K, in.V, Options{}, Row{S: 100}, bad, 32); err == nil {
		t.Error("a row outside the shape was accepted")
	}
}

// reweighed returns a row of attention with the weights of one tile multiplied by times.
func reweighed(in *Inputs, opt Options, at Row, tile int, times float64) []float64 {
	s := in.Shape
	tiles, _ := splitRow(s, in.Q, in.K, in.V, Options{Scale: opt.scale(s), Causal: opt.Causal}, at, 32)
	sum := partial{o: make([]float64, s.D)}
	for i, t := range tiles {
		if i == tile {
			sum = sum.plus(t, times)
		} else {
			sum = sum.plus(t, 1)
		}
	}
	for i := range sum.o {
		sum.o[i] /= sum.l
	}
	return sum.o
}
