package hopper

import (
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestBalancedBits: whatever the number of blocks, and with it the parts of an item, the result is
// right, the checkers find nothing, and the bits are the same in every order of warps.
func TestBalancedBits(t *testing.T) {
	for turn, c := range []Config{balanced(Throughput(64, 3)), balanced(Throughput(64, 4)), balanced(Throughput(128, 3)), balanced(ManyItems()), balanced(WideHeads())} {
		p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 3, Hkv: 1 + turn%2*2, Sq: 300, Skv: 700, D: []int{64, 64, 128, 128, 256}[turn]}, Format: problem.E4M3, LSE: turn == 4, Causal: turn%2 == 0}
		c = c.adapted(p)
		in := generate(t, "normal", p, uint64(turn))
		counts := []int{4 + turn}
		if *full {
			counts = []int{1, 2, 3, 4, 5, 7, 11, 64, 132}
		}
		for _, sms := range counts {
			var first result
			for schedule := range uint64(2) {
				checker := check.New()
				b := newBench(t, emulator(t, schedule, checker), in)
				b.SMs = sms
				r := b.run(c)
				for _, d := range checker.Findings() {
					t.Errorf("%v on %d SMs, schedule %d: %v", c, sms, schedule, d)
				}
				if schedule == 0 {
					first = r
					judge(t, in, r)
				} else if !first.Same(r) {
					t.Errorf("%v on %d SMs: schedule %d gives other bits", c, sms, schedule)
				}
			}
		}
	}
}

// TestBalancedDefects: without the order that the counter gives, a warp may read parts before they
// are written. The checkers find it.
func TestBalancedDefects(t *testing.T) {
	c := balanced(ManyItems())
	p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: 128, Skv: 1000, D: 64}, Format: problem.E4M3}
	spoil := func(s string) string { return strings.ReplaceAll(s, "atom.acq_rel.gpu", "atom.relaxed.gpu") }
	var found bool
	for schedule := range uint64(4) {
		for _, f := range defects(t, p, c, schedule, spoil) {
			found = found || strings.Contains(string(f.Kind), "race")
		}
	}
	if !found {
		t.Error("a relaxed counter is not found")
	}
}

// TestBalancedAgain: a launch leaves its counters as it found them, so that the next one is right.
func TestBalancedAgain(t *testing.T) {
	c := balanced(Throughput(64, 3))
	in := generate(t, "normal", square(1, 2, 600, 64, problem.E4M3), 3)
	b := newBench(t, emulator(t, 0, nil), in)
	b.SMs = 5
	k, err := New(in.P, c)
	if err != nil {
		t.Fatal(err)
	}
	_, work := b.Load(k)
	var first result
	for i := range 3 {
		if err := work.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		switch r := b.Read(); {
		case i == 0:
			first = r
			judge(t, in, r)
		case !r.Same(first):
			t.Errorf("launch %d has other bits", i)
		}
	}
}

// TestBalancedDivision: Config.divide and the contract's expressions agree, the shares cover the
// tiles that are to be divided, none is longer than an item without a mask, and no item has more parts
// than mostShares allows.
func TestBalancedDivision(t *testing.T) {
	configs := []Config{balanced(Throughput(64, 3)), balanced(Throughput(64, 4)), balanced(Throughput(128, 3)), balanced(WideHeads())}
	for i, c := range configs {
		for _, sms := range []int{1, 2, 58, 114, 132} {
			for heads := 1; heads < 70; heads += 3 {
				for _, n := range [][2]int{{1, 1}, {192, 128}, {192, 192}, {193, 257}, {385, 385}, {1000, 3000}, {4371, 4371}, {64, 100000}, {1537, 2001}} {
					for _, causal := range []bool{false, true} {
						p := problem.Attention{Shape: problem.Shape{B: 1, Hq: heads, Hkv: heads, Sq: n[0], Skv: n[1], D: []int{64, 64, 128, 256}[i]}, Format: problem.E4M3, Causal: causal && n[0] <= n[1]}
						checkDivision(t, c, p.Filled(), sms)
					}
				}
			}
		}
	}
}

func checkDivision(t *testing.T, c Config, p problem.Attention, sms int) {
	t.Helper()
	names := p.Names()
	names["SMs"] = expr.Int(int64(sms))
	for _, l := range c.lets(p.Causal) {
		v, err := l.Value.Int(names)
		if err != nil {
			t.Fatal(err)
		}
		names[l.Name] = expr.Int(v)
	}
	value := func(name string) int {
		v, err := expr.Must(name).Int(names)
		if err != nil {
			t.Fatal(err)
		}
		return int(v)
	}
	d, blocks, whole, left := c.divide(p, sms), value("blocks"), "cdiv(items, blocks)", "0"
	total := 0 // tiles that are to be divided
	if p.Causal {
		total = value("B*H*per_head")
	} else {
		whole, left = "items/blocks", "left"
		total = value("left*tiles")
	}
	got := fmt.Sprint(value("tiles"), value(whole), value(left), value("quota"))
	switch want := fmt.Sprint(d.tiles, d.whole, d.left, d.quota); {
	case got != want:
		t.Fatalf("%v, %v on %d SMs: the contract divides %s, divide %s", c, p, sms, got, want)
	case d.quota*blocks < total || !p.Causal && d.quota > d.tiles:
		t.Fatalf("%v, %v on %d SMs: %d shares of %d tiles for %d tiles in all, %d of an item", c, p, sms, blocks, d.quota, total, d.tiles)
	case d.quota > 0 && d.tiles/d.quota > mostShares:
		t.Fatalf("%v, %v on %d SMs: an item of %d tiles in shares of %d", c, p, sms, d.tiles, d.quota)
	}
}
