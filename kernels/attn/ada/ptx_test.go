package ada

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestPTX keeps the PTX of the designs under testdata, for readers and as a golden:
// without .loc, which changes whenever a line of Go moves.
func TestPTX(t *testing.T) {
	p := square(1, 8, 512, 64, problem.E4M3)
	for name, c := range map[string]Config{"throughput": Throughput(64, false), "latency": Latency(p, l4SMs, false), "ring": {Rows: 64, TileN: 32, Shares: 4, Stages: 3, BlocksPerSM: 1}, "widened": Throughput(64, true)} {
		k, err := New(p, c)
		if err != nil {
			t.Fatal(err)
		}
		kerneltest.Golden(t, name, k.PTX)
	}
}

// TestRefusals: Check gives the reason for each refusal.
func TestRefusals(t *testing.T) {
	square := square(1, 2, 100, 64, problem.E4M3)
	usual := Throughput(64, false)
	with := func(change func(*Config)) Config {
		c := usual
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		change func(*problem.Attention)
		config Config
		want   string
	}{
		"format":    {func(p *problem.Attention) { p.Format = problem.U8 }, usual, "use e4m3 or e5m2"},
		"dim":       {func(p *problem.Attention) { p.D = 80 }, usual, "use 64, 96, 128 or 256"},
		"scaling":   {func(p *problem.Attention) { p.Scaling = problem.PerToken }, usual, "use per-head or per-tensor"},
		"groups":    {func(p *problem.Attention) { p.Hq = 3 }, usual, "cannot share 2 heads of K and V evenly"},
		"rows":      {func(*problem.Attention) {}, with(func(c *Config) { c.Rows = 40 }), "a warp owns 16 rows"},
		"keys":      {func(*problem.Attention) {}, with(func(c *Config) { c.TileN = 48 }), "use 32, 64, 96 or 128"},
		"shares":    {func(*problem.Attention) {}, with(func(c *Config) { c.Shares = 3 }), "use 1, 2 or 4"},
		"threads":   {func(*problem.Attention) {}, with(func(c *Config) { c.Rows, c.Shares = 256, 4 }), "2048 threads"},
		"columns":   {func(p *problem.Attention) { p.D = 96 }, with(func(c *Config) { c.Shares = 4 }), "use fewer shares"},
		"stages":    {func(*problem.Attention) {}, with(func(c *Config) { c.Stages = 1 }), "use 2 to 8"},
		"memory":    {func(p *problem.Attention) { p.D = 256 }, with(func(c *Config) { c.TileN, c.BlocksPerSM = 128, 1 }), "bytes of shared memory"},
		"ahead":     {func(*problem.Attention) {}, with(func(c *Config) { c.Ahead, c.Shares = true, 2 }), "use one of both"},
		"whole":     {func(*problem.Attention) {}, with(func(c *Config) { c.Whole, c.Shares, c.Stages = true, 2, 3 }), "at most 128 keys for each"},
		"one share": {func(*problem.Attention) {}, with(func(c *Config) { c.Whole = true }), "use 2 or 4 warps"},
		"whole q":   {func(p *problem.Attention) { p.D = 256 }, with(func(c *Config) { c.Whole, c.Shares = true, 2 }), "Q does not fit"},
		"slots":     {func(p *problem.Attention) { p.Skv = 257 }, with(func(c *Config) { c.Whole, c.Shares, c.BlocksPerSM = true, 2, 1 }), "256 in all: use slots that are filled again"},
		"registers": {func(p *problem.Attention) { p.D = 128 }, with(func(c *Config) { c.Rows, c.BlocksPerSM = 128, 2 }), "registers and has 128"},
		"heads":     {func(p *problem.Attention) { p.Hq, p.Hkv = 70000, 70000 }, usual, "at most 65535 heads"},
		"queries":   {func(p *problem.Attention) { p.Sq, p.Causal = 65535*64+1, true }, usual, "take at most 4194240"},
		"sequence":  {func(p *problem.Attention) { p.Skv = 1<<23 + 1 }, usual, "at most 8388608 positions"},
	} {
		p := square
		c.change(&p)
		if _, err := New(p, c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
