package stages

import (
	"reflect"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestRefusals has a case for every reason that Check gives.
func TestRefusals(t *testing.T) {
	fine := problem.Attention{Shape: problem.Square(1, 8, 512, 64), Format: problem.E4M3}
	for _, c := range []struct {
		preset string
		change func(*problem.Attention, *Config)
		target ptx.Target
		want   string
	}{
		{"stage0", func(p *problem.Attention, _ *Config) { p.B = 0 }, ptx.SM89, "at least 1"},
		{"stage0", func(p *problem.Attention, _ *Config) { p.D = 256 }, ptx.SM89, "use 64 or 128"},
		{"stage0", func(p *problem.Attention, _ *Config) { p.Sq, p.Skv = 1<<24, 1<<24 }, ptx.SM89, "fit 32 bits"},
		{"stage0", func(p *problem.Attention, _ *Config) { p.B, p.Sq, p.Skv = 1<<29, 1, 1 }, ptx.SM89, "1073741824 tiles of 16 query rows: divide the batch"},
		{"stage0", func(p *problem.Attention, _ *Config) { p.Format = "e3m4" }, ptx.SM89, "format \"e3m4\" is not known"},
		{"stage0", func(p *problem.Attention, _ *Config) { p.Output = "f64" }, ptx.SM89, "output \"f64\" is not known"},
		{"stage0", func(_ *problem.Attention, c *Config) { c.Stages = 4 }, ptx.SM89, "1, 2 or 3"},
		{"stage5", func(_ *problem.Attention, c *Config) { c.Producers = 3 }, ptx.SM89, "0, 1 or 2"},
		{"stage1", func(_ *problem.Attention, c *Config) { c.FusedSoftmax = true }, ptx.SM89, "tensor cores for both"},
		{"stage3b", func(_ *problem.Attention, c *Config) { c.ReuseScores = true }, ptx.SM89, "no score buffer"},
		{"stage1", func(_ *problem.Attention, c *Config) { c.ReuseScores = true }, ptx.SM89, "P is f32"},
		{"stage2", func(_ *problem.Attention, c *Config) { c.Producers = 1 }, ptx.SM89, "without fused softmax"},
		{"stage5", func(_ *problem.Attention, c *Config) { c.Stages = 0 }, ptx.SM89, "without cp.async"},
		{"stage3b", func(_ *problem.Attention, c *Config) { c.TileM = 40 }, ptx.SM89, "steps of 16"},
		{"stage2", func(_ *problem.Attention, c *Config) { c.TileM = 48 }, ptx.SM89, "32 or 64"},
		{"stage2", func(_ *problem.Attention, c *Config) { c.TileN = 48 }, ptx.SM89, "KV tiles of 48"},
		{"xor-swizzle", func(_ *problem.Attention, c *Config) { c.TileN = 96 }, ptx.SM89, "power of two"},
		{"stage0", func(*problem.Attention, *Config) {}, ptx.Target{SM: 75}, "least is sm_80"},
		{"stage0", func(*problem.Attention, *Config) {}, ptx.SM86, "least is sm_89"},
		{"stage5", func(p *problem.Attention, c *Config) { p.D, c.TileN = 128, 128 }, ptx.SM89, "bytes of shared memory, but sm_89 has only 101376"},
	} {
		preset, err := FindPreset(c.preset, 64)
		if err != nil {
			t.Fatal(err)
		}
		p, config := fine, preset.Config
		c.change(&p, &config)
		err = config.Check(p, c.target)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.preset, err, c.want)
		}
		if _, buildErr := New(p, config, c.target); buildErr == nil {
			t.Errorf("%s was built although %v", c.preset, err)
		}
	}
	for _, d := range []int{64, 128} {
		for _, preset := range Presets(d) {
			p := fine
			p.D = d
			if err := preset.Config.Check(p, ptx.SM89); err != nil {
				t.Errorf("%s, D=%d: %v", preset.Name, d, err)
			}
		}
	}
	if _, err := FindPreset("stage9", 64); err == nil || !strings.Contains(err.Error(), "stage0") {
		t.Errorf("a preset that does not exist: %v", err)
	}
}

// TestEveryToggle changes each field of Config. Each change shows in the PTX and in the name.
func TestEveryToggle(t *testing.T) {
	changes := map[string]struct {
		from   string
		change func(*Config)
	}{
		"TileM":         {"stage3b", func(c *Config) { c.TileM = 32 }},
		"TileN":         {"stage3b", func(c *Config) { c.TileN = 32 }},
		"Stages":        {"stage3b", func(c *Config) { c.Stages = 1 }},
		"VectorDequant": {"stage3b", func(c *Config) { c.VectorDequant = false }},
		"Swizzle":       {"stage3b", func(c *Config) { c.Swizzle = true }},
		"LUT":           {"stage3b", func(c *Config) { c.LUT = true }},
		"TensorQK":      {"stage2", func(c *Config) { c.TensorQK = false }},
		"TensorPV":      {"stage2", func(c *Config) { c.TensorPV = false }},
		"ReuseScores":   {"stage2", func(c *Config) { c.ReuseScores = true }},
		"FusedSoftmax":  {"stage2", func(c *Config) { c.FusedSoftmax = true }},
		"Producers":     {"stage5", func(c *Config) { c.Producers = 1 }},
		"Persistent":    {"stage5", func(c *Config) { c.Persistent = true }},
		"FastExp":       {"stage5", func(c *Config) { c.FastExp = true }},
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		toggle, ok := changes[f.Name]
		if !ok {
			t.Errorf("%s is not changed by this test", f.Name)
			continue
		}
		before := config(t, toggle.from)
		after := before
		toggle.change(&after)
		if after.String() == before.String() {
			t.Errorf("%s does not show in %q", f.Name, after)
		}
		if text(t, after) == text(t, before) {
			t.Errorf("%s changes nothing in the PTX", f.Name)
		}
	}
}

func text(t *testing.T, c Config) string {
	t.Helper()
	k, err := New(problem.Attention{Shape: problem.Square(1, 1, 1, 64), Format: problem.U8}, c, ptx.SM89)
	if err != nil {
		t.Fatal(err)
	}
	return k.PTX
}
