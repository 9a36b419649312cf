package problem

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestWithStrides turns strides into gaps and refuses strides that are not possible.
func TestWithStrides(t *testing.T) {
	p := Attention{Shape: Shape{B: 2, Hq: 4, Hkv: 2, Sq: 3, Skv: 50, D: 64, DV: 128}, Layout: BSHD, Keys: Paged, Queries: Packed, Batch: Batch{PageSize: 16, Pages: 9}}.Filled()
	for _, x := range []struct {
		tensor  string
		strides []int
		want    Gap
	}{
		{"k", []int{16 * 2 * 64, 2 * 64, 64}, Gap{}},
		{"k", []int{16 * 2 * 128, 2 * 128, 128}, Gap{0, 0, 64}},
		{"v", []int{16*300 + 7, 300, 140}, Gap{7, 20, 12}},
		{"q", []int{4*80 + 1, 80}, Gap{0, 1, 16}},
		{"o", []int{4 * 128, 128}, Gap{}},
	} {
		got, err := p.WithStrides(x.tensor, x.strides...)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range got.Gaps.named() {
			if want := (Gap{}); g.tensor == x.tensor && *g.Gap != x.want || g.tensor != x.tensor && *g.Gap != want {
				t.Errorf("strides %v of %s: the gaps of %s are %v", x.strides, x.tensor, g.tensor, *g.Gap)
			}
		}
		text, err := json.Marshal(got)
		var back Attention
		if err != nil || json.Unmarshal(text, &back) != nil || back != got {
			t.Errorf("%s: %v becomes %v", text, got, back)
		}
	}
	for want, strides := range map[string][]int{
		"overlap": {16 * 2 * 64, 2 * 64, 63}, "give 3": {64}, "use 0 to": {1 << 40, 128, 64},
	} {
		if _, err := p.WithStrides("k", strides...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("strides %v: %v, want %q", strides, err, want)
		}
	}
	if _, err := p.WithStrides("x", 1); err == nil || !strings.Contains(err.Error(), "use q, k, v or o") {
		t.Error(err)
	}
	p.Gaps.O[0] = 1
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "packed") {
		t.Errorf("a gap between packed sequences: %v", err)
	}
}

// TestGapFacts: the facts of a problem with gaps give a problem with gaps of all kinds.
func TestGapFacts(t *testing.T) {
	p := Attention{Shape: Square(1, 1, 1, 64), Queries: Packed}.Filled()
	p.Gaps.K[2] = 16
	back, err := FromFacts(p.Facts())
	if err != nil || !back.Strided() || back.Gaps.Q[0] != 0 || back.Gaps.K != (Gap{48, 16, 64}) {
		t.Errorf("%+v, %v", back.Gaps, err)
	}
	if uses := p.Uses(); uses[len(uses)-1] != StridedRows {
		t.Error(uses)
	}
}
