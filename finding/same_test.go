package finding

import "testing"

// swap returns the race with its accesses exchanged.
func swap(f Finding) Finding {
	first := f.Place
	f.Place, f.Other = *f.Other, &first
	return f
}

// TestListMerges: what two schedules show is one finding, also when the accesses of
// a race are exchanged. An error replaces a warning.
func TestListMerges(t *testing.T) {
	a, b, elsewhere := race(), swap(race()), race()
	a.Severity, a.Schedule, b.Schedule, elsewhere.Schedule = Warning, 3, 4, 5
	elsewhere.Source = "k.cu:20:1"
	var l List
	l.Add(a)
	l.Add(b)
	l.Add(elsewhere, Finding{Kind: Schedule, Severity: Error, Message: "x"}, Finding{Kind: Schedule, Severity: Warning, Message: "y"})
	all := l.All()
	if len(all) != 4 {
		t.Fatalf("%d findings, want 4", len(all))
	}
	if f := all[0]; f.Count != 64 || f.Schedule != 3 || f.Severity != Error || f.Line != 8 {
		t.Errorf("the first was seen %d times, since schedule %d, as a %s at line %d", f.Count, f.Schedule, f.Severity, f.Line)
	}
	if errs, warnings := l.Count(); errs != 3 || warnings != 1 {
		t.Errorf("%d errors and %d warnings, want 3 and 1", errs, warnings)
	}
}

// TestListKeepsBothSides: within one schedule, a race with its accesses exchanged is
// a race of its own.
func TestListKeepsBothSides(t *testing.T) {
	a, b := race(), swap(race())
	var l List
	l.Add(a, b)
	a.Schedule, b.Schedule = 1, 1
	l.Add(b, a)
	if all := l.All(); len(all) != 2 || all[0].Count != 64 || all[1].Count != 64 {
		t.Errorf("%d findings, want 2 that were seen 64 times each", len(all))
	}
}

func TestSame(t *testing.T) {
	f := race()
	for name, c := range map[string]struct {
		change func(g *Finding)
		want   bool
	}{
		"another thread":      {func(g *Finding) { g.Warp, g.Lanes, g.Message, g.Address = 5, 1, "x", "s+0x8" }, true},
		"an unrolled loop":    {func(g *Finding) { g.Line += 10 }, true},
		"another source line": {func(g *Finding) { g.Source = "k.cu:3:5" }, false},
		"another caller":      {func(g *Finding) { g.Callers = []string{"k.cu:4:1"} }, false},
		"another kind":        {func(g *Finding) { g.Kind = "global-race" }, false},
		"another kernel":      {func(g *Finding) { g.Kernel = "l" }, false},
	} {
		g := race()
		c.change(&g)
		if Same(&f, &g) != c.want {
			t.Errorf("%s: same is %v", name, !c.want)
		}
	}
	g := race()
	f.Source, g.Source, g.Line = "", "", g.Line+1
	if Same(&f, &g) {
		t.Error("without a source, two lines of PTX are the same place")
	}
}

// TestMergeJoinsLanes: lanes of the same warps add up, and advice that repairs a
// race between warps replaces advice for one warp.
func TestMergeJoinsLanes(t *testing.T) {
	f, g := race(), race()
	g.Lanes, g.Other.Lanes = 1<<8, 1<<9
	f.Merge(&g)
	if f.Lanes != 0b100001111 || f.Other.Lanes != 1<<7|1<<9 || f.Count != 64 {
		t.Errorf("%v and %v, seen %d times", f.Lanes, f.Other.Lanes, f.Count)
	}
	f, g = race(), race()
	f.Other.Block, f.Other.Warp, f.Fix, g.Fix = f.Block, f.Warp, "bar.warp.sync", "bar.sync"
	if f.Merge(&g); f.Fix != "bar.sync" {
		t.Errorf("the advice is %q", f.Fix)
	}
}
