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
	s := problem.Shape{B: 1, Hq: 2, Hkv: 1, Sq: 100, Skv: 100, D: 16, DV: 24}
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
				if b == nil || b.First != 32*tile || b.Last != 32*tile+31 || b.Twice != (times == 2) || !(b.After <= 1e-12) {
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
	bad := make([]float64, s.DV)
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
	o, _ := weighted(in.Q, in.K, in.V, opt, at, func(key int) float64 {
		if key/32 == tile {
			return times
		}
		return 1
	})
	return o
}

// TestBlameOptions: the tiles have the weights of the options, and the sink keeps its own.
func TestBlameOptions(t *testing.T) {
	s := problem.Shape{B: 2, Hq: 2, Hkv: 2, Sq: 40, Skv: 64, D: 16}
	in := generate(t, "normal", 4, s)
	at := Row{1, 1, 30}
	mask := &Mask{s.Sq, s.Skv, make([]bool, s.B*s.Sq*s.Skv)}
	for i := range mask.Visible {
		mask.Visible[i] = i*i%11 > 3
	}
	for _, opt := range []Options{{Softcap: 2}, {Sinks: []float64{0, 3}}, {Sinks: []float64{0, -3}}, {Mask: mask}, {Scale: 0.7}, {Window: problem.NewWindow(40, 5)}} {
		for tile := range 2 {
			for _, times := range []float64{0, 2} {
				b, err := BlameKV(in.Q, in.K, in.V, opt, at, reweighed(in, opt, at, tile, times), 32)
				if err != nil || b == nil || b.First != 32*tile || b.Last != 32*tile+31 || b.Twice != (times == 2) || !(b.After <= 1e-12) {
					t.Errorf("%+v, tile %d %v times: %v, %v", opt, tile, times, b, err)
				}
			}
		}
	}
	for tile, ok := range map[int]bool{0: false, 1: true} {
		if _, err := BlameKV(in.Q, in.K, in.V, Options{}, at, make([]float64, s.D), tile); (err == nil) != ok {
			t.Errorf("tiles of %d keys: %v", tile, err)
		}
	}
	twice := Blame{First: 32, Last: 63, Twice: true, Before: 0.5, After: 0.001}
	if want := "keys 32 to 63 counted twice would explain it: the error falls from 0.5 to 0.001"; twice.String() != want {
		t.Errorf("%s, want %s", &twice, want)
	}
}
