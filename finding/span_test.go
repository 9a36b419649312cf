package finding

import "testing"

// TestElements wants the elements that one pair of warps touched, over all findings that merge.
func TestElements(t *testing.T) {
	at := func(warp, other int, offset int64) Finding {
		f := Finding{Kind: "shared-race", Place: Place{Source: "k.cu:1:1", Warp: warp, Action: "read"}, Other: &Place{Source: "k.cu:2:1", Warp: other, Action: "write"}}
		f.Touch("shared", "m", offset, 4, "")
		f.Other.Touch("shared", "m", offset, 4, "")
		return f
	}
	var l List
	l.Add(at(1, 0, 8))
	if got := l.All()[0].Elements(); got != "element 2 of m (4 bytes each)" {
		t.Errorf("one access: %q", got)
	}
	l.Add(at(1, 0, 60), at(1, 0, 0), at(3, 2, 64), at(2, 3, 64), at(0, 1, 0))
	f := l.All()[0]
	if got := f.Elements(); len(l.All()) != 1 || got != "elements 0 to 15 of m (4 bytes each)" {
		t.Errorf("%d findings, %q", len(l.All()), got)
	}
	if len(f.Pairs) != 1 || f.Pairs[0] != (Pair{2, 3, Span{64, 64}}) || f.ElementsOf(f.Pairs[0]) != "element 16 of m (4 bytes each)" {
		t.Errorf("other pairs of warps: %+v", f.Pairs)
	}
	again := f
	again.Merge(&f) // as another schedule does
	if len(again.Pairs) != 1 {
		t.Errorf("merged pairs of warps: %+v", again.Pairs)
	}
	if f.Other.Span != (Span{0, 60}) {
		t.Errorf("the other access spans %v", f.Other.Span)
	}
	for _, p := range []Place{{Action: "read", Size: 4}, {Action: "read", Var: "m", Offset: 2, Size: 4}, {Action: "read", Var: "m", Size: 64}, {Var: "m", Size: 4}} {
		if got := p.Elements(); got != "" {
			t.Errorf("%+v: %q", p, got)
		}
	}
}
