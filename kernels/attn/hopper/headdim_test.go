package hopper

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/problem"
)

// deepSeek are the heads of DeepSeek's models in prefill.
var deepSeek = problem.HeadDim{D: 192, DV: 128}

// heads returns a problem whose heads of V have another size than heads of K. Its other features depend on
// turn.
func heads(h problem.HeadDim, sq, skv, turn int) problem.Attention {
	p := mixed(0, sq, skv, turn)
	p.Shape = p.WithHeadDim(h)
	return p.Filled()
}

// TestValueHeadDim runs every design that computes 192/128, on lengths around the tile sizes, causal or not,
// with grouped heads.
func TestValueHeadDim(t *testing.T) {
	lengths := [][2]int{{1, 1}, {63, 65}, {64, 64}, {65, 127}, {129, 100}, {200, 300}, {130, 385}}
	designs := designed(heads(deepSeek, 1, 1, 0))
	if len(designs) < 5 {
		t.Errorf("only %d designs compute %v", len(designs), deepSeek)
	}
	for turn, n := range lengths {
		p := heads(deepSeek, n[0], n[1], turn)
		for i, c := range designed(p) {
			if !*full && (i+turn)%3 != 0 {
				continue
			}
			in := generate(t, "normal", p, uint64(turn))
			b := newBench(t, emulator(t, uint64(turn%3), nil), in)
			b.SMs = 3
			judge(t, in, b.run(c))
		}
	}
}

// TestValueHeadDims runs the design that Choose returns on other pairs of head dimensions, under the
// checkers.
func TestValueHeadDims(t *testing.T) {
	turn := 0
	for _, d := range headDims() {
		for _, dv := range headDims() {
			if turn++; d == dv || !*full && turn%4 != 0 {
				continue
			}
			p := heads(problem.HeadDim{D: d, DV: dv}, 130, 200, turn)
			c := Choose(p, 3)
			if turn%2 == 0 {
				c = widest(p.HeadDim()).adapted(p)
			}
			if err := c.Check(p); err != nil {
				t.Errorf("%v: %v", p, err)
				continue
			}
			checker := check.New()
			in := generate(t, "normal", p, uint64(turn))
			b := newBench(t, emulator(t, 0, checker), in)
			b.SMs = 2
			judge(t, in, b.run(c))
			for _, f := range checker.Findings() {
				t.Errorf("%v, %v: %v", p, c, f)
			}
		}
	}
}

// TestValueHeadDimDefects runs designs for 192/128 under the checkers, in orders of warps that differ much.
func TestValueHeadDimDefects(t *testing.T) {
	p := heads(deepSeek, 200, 400, 3)
	for i, c := range designed(p) {
		for j, schedule := range []uint64{0, 1000000, 2000001, 5000000} {
			if !*full && (i+j)%4 != 0 {
				continue
			}
			checker := check.New()
			b := newBench(t, emulator(t, schedule, checker), generate(t, "normal", p, 1))
			b.SMs = 2
			b.run(c)
			for _, f := range checker.Findings() {
				t.Errorf("%v, schedule %d: %v", c, schedule, f)
			}
		}
	}
}

// TestValueHeadDimDesign wants the large prefill of 192/128 to have the three warpgroups of D = 128: the
// output takes the registers, and its heads have 128 columns.
func TestValueHeadDimDesign(t *testing.T) {
	p := heads(deepSeek, 4096, 4096, 0)
	p.B, p.Hq, p.Hkv, p.Causal = 4, 16, 16, false
	if c := Choose(p, 132); c.Warpgroups != 3 || !c.Persistent || c.TileN != 128 {
		t.Errorf("%v for %v", c, p)
	}
	for _, dv := range []int{16, 80, 512} {
		p.DV = dv
		if err := Pair().Check(p); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("heads of V with %d columns", dv)) {
			t.Errorf("DV = %d: %v", dv, err)
		}
	}
	p = heads(deepSeek, 100, 100, 0)
	k, err := New(p, Pair().adapted(p))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(k.Supports, problem.ValueHeadDim) || k.Fixed["DV"] != "128" {
		t.Errorf("it supports %v, and its facts are %v", k.Supports, k.Fixed)
	}
}
