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
		if err := s.Check(); err != nil || !fits(s) || s.Sq != s.Skv || slices.Contains(list[:i], n) {
			t.Errorf("%v: %v", s, err)
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
