package hopper

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// everyProblem visits problems of many sizes, measured ones and others, with every
// combination of features: all of them with -full, and otherwise every 36th number of heads.
func everyProblem(visit func(problem.Attention)) {
	step := 36
	if *full {
		step = 1
	}
	for _, d := range testedDims() {
		for _, s := range []int{1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 384, 512, 777, 1024, 1536, 2048, 3000, 4096, 16384, 20000} {
			for heads := 1; heads <= 256; heads += step {
				for turn := range 16 {
					p := square(1, heads, s, d, problem.E4M3)
					p.Causal, p.LSE = turn&1 != 0, turn&2 != 0
					if turn&4 != 0 {
						p.Format, p.Output = problem.E5M2, problem.BF16
					}
					if turn&8 != 0 {
						p.B, p.Hq, p.Hkv, p.Skv = heads, 8, 1, s+77
					}
					visit(p)
				}
			}
		}
	}
}

// TestChooseEverywhere: for every problem, Choose returns a configuration that computes it
// with a launch that the driver accepts. All these kernels can be built.
func TestChooseEverywhere(t *testing.T) {
	type text struct {
		c                  Config
		d                  int
		lse, causal, group bool
	}
	built := map[text]bool{}
	everyProblem(func(p problem.Attention) {
		for _, sms := range []int{132, 114, 1} {
			if sms != 132 && p.Hq%12 != 1 {
				continue // every number of heads on an H200, some on others
			}
			c := Choose(p, sms)
			if err := c.Check(p); err != nil {
				t.Fatalf("%v on %d SMs: %v", p, sms, err)
			}
			if c.SumsInV && !c.TileMaxima && p.Skv > 2048 {
				t.Fatalf("%v on %d SMs: the column of %v would miss many weights", p, sms, c)
			}
			grid := gridOf(t, c, p, sms)
			if grid[0] < 1 || grid[1] < 1 || grid[1] > maxGridY || grid[0]%c.Split != 0 {
				t.Fatalf("%v on %d SMs: %v is launched as %v", p, sms, c, grid)
			}
			if covers := grid[0] / c.Split * grid[1] * c.rows(); !c.Persistent && covers < p.B*p.Hq*p.Sq {
				t.Fatalf("%v on %d SMs: %v covers %d rows", p, sms, c, covers)
			}
			one := text{c, p.D, p.LSE, p.Causal, p.Hq != p.Hkv}
			if built[one] {
				continue
			}
			built[one] = true
			k, err := New(p, c)
			if err == nil {
				err = k.Serves(p, kernel.Chip{SMs: sms, SharedMax: sharedLimit})
			}
			if err != nil {
				t.Fatalf("%v on %d SMs: %v", p, sms, err)
			}
		}
	})
	if len(built) < 20 {
		t.Errorf("%d texts: the problems are too much alike", len(built))
	}
}

// gridOf returns the grid of a configuration's launch, in blocks.
func gridOf(t *testing.T, c Config, p problem.Attention, sms int) (grid [2]int) {
	t.Helper()
	names := p.Names()
	names["SMs"] = expr.Int(int64(sms))
	for _, l := range c.lets(p.Causal) {
		n, err := l.Value.Int(names)
		if err != nil {
			t.Fatal(err)
		}
		names[l.Name] = expr.Int(n)
	}
	for i, e := range c.grid(p) {
		n, err := e.Int(names)
		if err != nil {
			t.Fatal(err)
		}
		grid[i] = int(n)
	}
	return grid
}

// TestDesigns: every named design computes small and large problems, with and without the
// features that make it turn SumsInV off.
func TestDesigns(t *testing.T) {
	for _, design := range Designs() {
		for _, d := range testedDims() {
			for _, lse := range []bool{false, true} {
				p := square(2, 8, 300, d, problem.E4M3)
				p.LSE = lse
				if err := design.Config(p, 132).Check(p); err != nil && !strings.Contains(design.Idea, "only for D") && !(d == 96 && strings.Contains(design.Idea, "not for D = 96")) {
					t.Errorf("%s, %v: %v", design.Name, p, err)
				}
			}
		}
		if got, err := FindDesign(design.Name); err != nil || got.Idea != design.Idea {
			t.Errorf("%s is not found: %v", design.Name, err)
		}
	}
	if _, err := FindDesign("hopper-fast"); err == nil || !strings.Contains(err.Error(), "there are hopper, hopper-throughput") {
		t.Error(err)
	}
}

// TestBusy: the last item ends when a count by hand says so. 512 rows have items of 1, 1, 2, 2, 3, 3, 4 and 4 tiles
// under a causal mask.
func TestBusy(t *testing.T) {
	p := square(1, 1, 512, 128, problem.E4M3)
	p.Causal = true
	one, many := Latency(128), Latency(128)
	many.Persistent = true
	pair := Latency(128)
	pair.Split = 2 // clusters with 1, 1, 1, 1, 2, 2, 2 and 2 tiles
	for _, x := range []struct {
		c                     Config
		sms, item, tile, want int64
	}{
		{one, 8, 100, 10, 140},
		{one, 7, 1, 10, 41},                               // two items of 1 tile end before the longest item
		{one, 7, 100, 10, 220},                            // after the longest item
		{one, 3, 0, 10, 70},                               // 4+2+1, 4+2+1 and 3+3
		{many, 7, 1, 10, 41},                              // the two of 1 tile have the same block
		{many, 3, 0, 10, 70},                              // the same, dealt out forwards, backwards and forwards
		{pair, 16, 100, 10, 120},                          // a cluster on each pair of SMs
		{pair, 14, 100, 10, 220},                          // two clusters of 1 tile on a pair
		{one, 1, 100, 10, 1000}, {many, 1, 100, 10, 1000}, // all
	} {
		if got := x.c.work(p, int(x.sms)).busy(x.item, x.tile); got != x.want {
			t.Errorf("%v on %d SMs, %d per item and %d per tile: busy for %d, want %d", x.c, x.sms, x.item, x.tile, got, x.want)
		}
	}
}
