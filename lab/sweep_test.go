package lab

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// sweeping returns a plan for the correctness gate with a sweep.
func sweeping() Plan {
	p := correctnessOnly()
	p.Cases, p.Depth, p.Counters, p.Targets = p.Cases[:2], RingsAndEdge, problem.Shape{}, nil
	return p
}

// sweepOf runs the sweep over a kernel.
func sweepOf(t testing.TB, s *Subject, first bool) (record.Case, *record.Sweep) {
	t.Helper()
	m, err := newMeasurement(s, sweeping(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	l, err := load(m.dev, s, fewSMs, m.p.Seed)
	if err != nil {
		t.Fatal(err)
	}
	table := &table{loaded: l}
	defer table.clear(true)
	_, found, facts, err := m.runSweep(context.Background(), table, first)
	if err != nil {
		t.Fatal(err)
	}
	return found, facts
}

// column matches a comparison with a constant, which in a mask is one column of a tile.
var column = regexp.MustCompile(`setp\.gt\.s32 %p\d+, %r\d+, (\d+);`)

// columns returns the places of the comparisons of masks: those from package part.
func columns(t *testing.T, ptx string) (places [][]int) {
	t.Helper()
	mask := regexp.MustCompile(`\.file (\d+) ".*/part/mask\.go"`).FindStringSubmatch(ptx)
	if mask == nil {
		t.Fatal("the kernel has no mask of package part")
	}
	for _, at := range column.FindAllStringSubmatchIndex(ptx, -1) {
		if loc := strings.LastIndex(ptx[:at[0]], ".loc "); loc >= 0 && strings.HasPrefix(ptx[loc:], ".loc "+mask[1]+" ") {
			places = append(places, at)
		}
	}
	return places
}

// TestChecklist24EveryColumn judges kernels whose mask is wrong in one column of a tile, for one
// remainder: the comparison is with the next column or with the one before.
func TestChecklist24EveryColumn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		name   string
		causal bool
	}{{"stage3b", false}, {"hopper-latency", false}, {"hopper-latency", true}, {"ada-throughput", true}, {"ada", true}} {
		s, err := Preset(c.name, problem.Attention{Causal: c.causal}, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		places := columns(t, s.PTX)
		if len(places) < 16 {
			t.Fatalf("%s compares %d columns", s.Name, len(places))
		}
		for i, at := range places {
			if !*full && i%64 != 11 {
				continue
			}
			for _, by := range []string{" + 1", " - 1"} {
				k := copyOf(s.Kernel)
				k.PTX = k.PTX[:at[2]] + "(" + k.PTX[at[2]:at[3]] + by + ")" + k.PTX[at[3]:]
				wrong, err := NewSubject(k)
				if err != nil {
					t.Fatal(err)
				}
				if _, facts := sweepOf(t, wrong, true); facts.Wrong == 0 {
					t.Errorf("%s, causal %v: nobody notices %s in %d cases", s.Name, c.causal, k.PTX[at[0]:at[1]+len(by)+2], facts.Lengths)
				}
			}
		}
	}
}

// swept measures two cases and the sweep.
func swept(t testing.TB, s *Subject) (record.Case, record.Gate) {
	t.Helper()
	m, err := newMeasurement(s, sweeping(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	m.p.Cases = m.p.Cases[:2]
	if err := m.correctness(context.Background()); err != nil {
		t.Fatal(err)
	}
	c := m.r.Correctness.Cases
	if len(c) != 3 {
		t.Fatalf("%d cases", len(c))
	}
	return c[2], gate.Judge(m.r).Gates[2]
}

// TestSweep wants a record to hold the worst case of a sweep only, and the first wrong one if a
// kernel is wrong for one remainder.
func TestSweep(t *testing.T) {
	c, g := swept(t, preset(t, "stage3b"))
	if c.Sweep == nil || *c.Sweep != (record.Sweep{Launches: 128, Lengths: 128, Tile: 64, MostQ: 128, MostKV: 128}) {
		t.Errorf("sweep %+v", c.Sweep)
	}
	if want := "a sweep of 128 lengths up to 128 keys leaves every remainder of a tile of 64"; g.Status != record.Green || !strings.Contains(g.Summary, want) {
		t.Errorf("%s: %s", g.Status, g.Summary)
	}
	c, g = swept(t, hiding(t, "ld.param.u32 %z0, [seq];\nand.b32 %z0, %z0, 63;\nsetp.eq.u32 %z, %z0, 41;", "sub.u32 %r2, %r2, 1;"))
	if c.Sweep.Wrong != 2 || c.Shape.Skv != 41 {
		t.Errorf("%+v on %v", c.Sweep, c.Shape)
	}
	if want := "(2 of the 128 launches of the sweep are wrong, this is the first)"; g.Status != record.Red || !strings.Contains(strings.Join(g.Reasons, "\n"), want) {
		t.Errorf("%s: %q", g.Status, g.Reasons)
	}
}

// TestChecklist24HiddenByRemainder judges kernels that are wrong for one remainder, and only in the
// second sequence or the second head, or only in the softmax.
func TestChecklist24HiddenByRemainder(t *testing.T) {
	const remainder = "ld.param.u32 %z0, [seq];\nand.b32 %z0, %z0, 63;\nsetp.eq.u32 %z, %z0, 23;\n"
	for name, c := range map[string]struct{ condition, deed string }{
		"the scale of the softmax":     {remainder, "mov.f32 %f0, 0f00000000;"},
		"a key of the second sequence": {remainder + "ld.param.u32 %z1, [batch];\nsetp.ge.and.u32 %z, %z1, 2, %z;", "sub.u32 %r2, %r2, 1;"},
		"a key of the second head":     {remainder + "ld.param.u32 %z1, [heads];\nsetp.ge.and.u32 %z, %z1, 2, %z;", "sub.u32 %r2, %r2, 1;"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, facts := sweepOf(t, hiding(t, c.condition, c.deed), true); facts.Wrong == 0 {
				t.Errorf("%+v", facts)
			}
		})
	}
}

// TestRaggedSweep wants kernels that read lengths from memory to get many lengths in one launch.
func TestRaggedSweep(t *testing.T) {
	s, err := Preset("decode", problem.Attention{Keys: problem.Paged}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMeasurement(s, sweeping(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	lengths := map[int]bool{}
	for _, c := range m.lengths {
		for _, n := range s.varied(c.vary).At(c.Shape).KeyLengths() {
			lengths[n] = true
		}
	}
	tile := structureOf(s.Kernel).sweptTile()
	for n := 1; n <= tile; n++ {
		if !lengths[n] {
			t.Errorf("no sequence has %d keys", n)
		}
	}
	if len(m.lengths) > 2*tile/raggedBatch {
		t.Errorf("%d launches", len(m.lengths))
	}
	if _, facts := sweepOf(t, s, false); facts.Wrong > 0 || facts.Lengths != 2*tile {
		t.Errorf("%+v", facts)
	}
}
