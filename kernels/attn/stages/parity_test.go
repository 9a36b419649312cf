package stages

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// parity is the presets that must agree, as the package says.
var parity = []struct {
	first  string
	others []string
	u8     bool // only with u8
}{
	{"stage0", []string{"stage1"}, true},
	{"stage2", []string{"stage3a", "xor-swizzle", "stage3b", "stage4", "stage5", "stage5-persistent"}, false},
}

// checkParity compares the presets that must agree, on one device.
func checkParity(t *testing.T, dev device.Device, p problem.Attention, seed uint64) {
	b := newBench(t, dev, normal(t, p, seed))
	run := func(name string) result {
		preset, err := FindPreset(name, p.D)
		if err != nil {
			t.Fatal(err)
		}
		return b.run(preset.Config, ptx.SM89)
	}
	for _, group := range parity {
		if group.u8 && p.Format != problem.U8 {
			continue
		}
		want := run(group.first)
		for _, other := range group.others {
			if !run(other).Same(want) {
				t.Errorf("%s differs from %s", other, group.first)
			}
		}
	}
}

func TestParity(t *testing.T) {
	for _, d := range []int{64, 128} {
		for i := range 3 {
			p := variant(problem.Attention{Shape: problem.Square(1, 2, 150, d)}, i)
			p.LSE = true
			t.Run(fmt.Sprintf("d%d/%s", d, p.Format), func(t *testing.T) {
				checkParity(t, emulator(t, ptx.SM90, 0), p, 5)
			})
		}
	}
}

// toggles are changes to a Config, and whether they may change bits.
var toggles = []struct {
	name    string
	from    string
	change  func(*Config)
	changes bool
}{
	{"lut", "stage3b", func(c *Config) { c.LUT = true }, false},
	{"lut", "stage5", func(c *Config) { c.LUT = true }, false},
	{"lut", "stage0", func(c *Config) { c.LUT = true }, false},
	{"1 stage", "stage3b", func(c *Config) { c.Stages = 1 }, false},
	{"no cp.async", "stage3b", func(c *Config) { c.Stages = 0 }, false},
	{"1 producer", "stage5", func(c *Config) { c.Producers = 1 }, false},
	{"swizzle", "stage0", func(c *Config) { c.Swizzle = true }, false},
	{"swizzle", "stage3b", func(c *Config) { c.Swizzle = true }, false},
	{"swizzle", "stage5", func(c *Config) { c.Swizzle = true }, false},
	{"swizzle", "stage3a", func(c *Config) { c.Swizzle = true }, false},
	{"persistent", "stage0", func(c *Config) { c.Persistent = true }, false},
	{"persistent", "stage2", func(c *Config) { c.Persistent = true }, false},
	{"persistent", "stage4", func(c *Config) { c.Persistent = true }, false},
	{"48 rows", "stage3b", func(c *Config) { c.TileM = 48 }, false},
	{"128 rows", "stage5", func(c *Config) { c.TileM = 128 }, false},
	{"64 rows", "stage0", func(c *Config) { c.TileM = 64 }, false},
	{"64 rows", "stage2", func(c *Config) { c.TileM = 64 }, false},
	{"scalar scores", "stage2", func(c *Config) { c.TensorQK = false }, false}, // u8
	{"fast exp", "stage0", func(c *Config) { c.FastExp = true }, true},
	{"fast exp", "stage5", func(c *Config) { c.FastExp = true }, true},
	{"32 keys", "stage2", func(c *Config) { c.TileN = 32 }, true},
	{"32 keys", "stage5", func(c *Config) { c.TileN = 32 }, true},
	{"96 keys", "stage3b", func(c *Config) { c.TileN = 96 }, true},
	{"96 keys", "stage0", func(c *Config) { c.TileN = 96 }, true},
}

// TestToggles turns one field on at a time. All results are right, and fields that only move
// data give the same bits.
func TestToggles(t *testing.T) {
	for _, d := range []int{64, 128} {
		t.Run(fmt.Sprintf("d%d", d), func(t *testing.T) { testToggles(t, d) })
	}
}

func testToggles(t *testing.T, d int) {
	in := normal(t, problem.Attention{Shape: problem.Square(1, 2, 150, d), Format: problem.U8, LSE: true}, 6)
	b := newBench(t, emulator(t, ptx.SM90, 0), in)
	before := map[string]result{}
	for _, toggle := range toggles {
		if d == 128 && toggle.name != "swizzle" && !*full {
			continue
		}
		t.Run(toggle.from+" with "+toggle.name, func(t *testing.T) {
			preset, err := FindPreset(toggle.from, d)
			if err != nil {
				t.Fatal(err)
			}
			c := preset.Config
			toggle.change(&c)
			if c == preset.Config {
				t.Skip("the preset is so already")
			}
			if _, ok := before[toggle.from]; !ok {
				before[toggle.from] = b.run(preset.Config, ptx.SM89)
			}
			r := b.run(c, ptx.SM89)
			judge(t, r, in.Q, in.K, in.V, exact(in.P))
			if equal := r.Same(before[toggle.from]); equal == toggle.changes {
				t.Errorf("same bits as before: %t", equal)
			}
		})
	}
}

// TestSchedules runs the warps in several orders, which must not matter.
func TestSchedules(t *testing.T) {
	in := normal(t, problem.Attention{Shape: problem.Square(1, 2, 97, 64), Format: problem.E4M3, LSE: true}, 7)
	for _, preset := range Presets(64) {
		t.Run(preset.Name, func(t *testing.T) {
			want := newBench(t, emulator(t, ptx.SM90, 0), in).run(preset.Config, ptx.SM90)
			for schedule := uint64(1); schedule < 4; schedule++ {
				if !newBench(t, emulator(t, ptx.SM90, schedule), in).run(preset.Config, ptx.SM90).Same(want) {
					t.Errorf("schedule %d gives other bits", schedule)
				}
			}
		})
	}
}
