package hopper

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
)

// inPlace returns the configurations under test that add P·V to O in place.
func inPlace(base Config) (all []Config) {
	base.TileMaxima, base.SumsInV, base.InPlace, base.ProductColumns = false, false, true, 0
	add := func(change func(*Config)) {
		c := base
		change(&c)
		all = append(all, c)
	}
	add(func(c *Config) {})
	add(func(c *Config) { c.LazyRescale = true })
	add(func(c *Config) { c.LazyRescale, c.PingPong = true, 0 })
	add(func(c *Config) { c.Overlap, c.PingPong = true, 0 })
	add(func(c *Config) { c.Overlap, c.LazyRescale, c.PingPong = true, true, 0 })
	add(func(c *Config) { c.Overlap, c.LazyRescale = true, true })
	add(func(c *Config) { c.Overlap, c.LazyRescale, c.PingPong = true, true, c.TileN })
	add(func(c *Config) { c.Overlap, c.OrderProducts, c.PingPong = true, true, 0 })
	add(func(c *Config) { c.Overlap, c.OrderProducts, c.LazyRescale, c.PingPong = true, true, true, 0 })
	return all
}

// TestInPlace runs the configurations that add P·V in place on lengths around the tile sizes, under the
// checkers and in several orders of warps.
func TestInPlace(t *testing.T) {
	turn := 0
	for _, base := range []Config{WideHeads(), balanced(WideHeads())} {
		for _, c := range inPlace(base) {
			for i, n := range [][2]int{{1, 1}, {65, 127}, {200, 129}, {130, 500}} {
				turn++
				if !*full && (turn+i)%3 != 0 {
					continue
				}
				p := c.able(mixed([]int{256, 192}[turn%2], n[0], n[1], turn))
				checker := check.New()
				in := generate(t, "normal", p, uint64(turn))
				b := newBench(t, emulator(t, uint64(turn%4), checker), in)
				b.SMs = 2
				judge(t, in, b.run(c))
				for _, f := range checker.Findings() {
					t.Errorf("%v, %v: %v", c, p, f)
				}
			}
		}
	}
}
