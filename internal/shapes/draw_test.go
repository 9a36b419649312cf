package shapes

import (
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
)

// TestDraw wants shapes of all kinds: few heads and many, short lengths and long ones, grouped heads,
// lengths that no tile divides, all head dimensions; and the same shapes for the same seed.
func TestDraw(t *testing.T) {
	list := Draw(300, 7, problem.HeadDim{})
	if len(list) != 300 || !slices.Equal(list, Draw(300, 7, problem.HeadDim{})) || slices.Equal(list, Draw(300, 8, problem.HeadDim{})) {
		t.Fatalf("%d shapes, or a seed has no effect", len(list))
	}
	counts := map[string]int{}
	count := func(kind string, is bool) {
		if is {
			counts[kind]++
		}
	}
	for i, n := range list {
		s := n.Shape
		if err := s.Check(); err != nil || s.Sq != s.Skv || s.B*s.Hq > mostHeads || s.Q().Len() > mostElements || slices.Contains(list[:i], n) {
			t.Errorf("%v: %v", s, err)
		}
		if s.FLOP() > mostWork && s.B*s.Hq > 1 {
			t.Errorf("%v has %.3g operations", s, s.FLOP())
		}
		count("few heads", s.B*s.Hq <= 8)
		count("many heads", s.B*s.Hq >= 128)
		count("short", s.Skv <= 256)
		count("long", s.Skv >= 32768)
		count("odd", s.Skv%64 != 0)
		count("grouped", s.Hq != s.Hkv)
		count("D 256", s.D == 256)
	}
	for _, kind := range []string{"few heads", "many heads", "short", "long", "odd", "grouped", "D 256"} {
		if counts[kind] < 20 {
			t.Errorf("%s: only %d of 300 shapes", kind, counts[kind])
		}
	}
	heads := problem.HeadDim{D: 192, DV: 128}
	for _, n := range Draw(10, 1, heads) {
		if n.Shape.HeadDim() != heads {
			t.Errorf("%v has another head dimension", n.Shape)
		}
	}
}

// TestDrawDecode wants few queries, all numbers of sequences, and caches that are not too large.
func TestDrawDecode(t *testing.T) {
	list := DrawDecode(300, 7, problem.HeadDim{})
	if len(list) != 300 || !slices.Equal(list, DrawDecode(300, 7, problem.HeadDim{})) {
		t.Fatalf("%d shapes, or they differ for the same seed", len(list))
	}
	counts := map[string]int{}
	for i, n := range list {
		s := n.Shape
		if err := s.Check(); err != nil || s.Sq > 4 || s.Skv < leastCached || s.Skv > mostKeys || s.B > mostSequences || s.K().Len() > mostCachedSize || slices.Contains(list[:i], n) {
			t.Errorf("%v: %v", s, err)
		}
		for kind, is := range map[string]bool{"one sequence": s.B == 1, "many sequences": s.B >= 32, "long": s.Skv >= 32768, "grouped": s.Hq > s.Hkv, "not grouped": s.Hq == s.Hkv, "several queries": s.Sq > 1, "D 256": s.D == 256} {
			if is {
				counts[kind]++
			}
		}
	}
	for kind, n := range counts {
		if n < 20 {
			t.Errorf("%s: only %d of 300 shapes", kind, n)
		}
	}
	if len(counts) != 7 {
		t.Errorf("only %v", counts)
	}
}
