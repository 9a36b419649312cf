package hopper

import (
	"regexp"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestPTX keeps the PTX of the designs under testdata, for readers and as a golden:
// without .loc, which changes whenever a line of Go moves.
func TestPTX(t *testing.T) {
	for name, c := range map[string]Config{"throughput": Throughput(64, 4).adapted(square(1, 1, 4096, 64, problem.E4M3)), "latency": Latency(64), "split-kv-cluster": SplitKeys(2)} {
		k, err := New(square(1, 1, leastCodesKeys, 64, problem.E4M3), c)
		if err != nil {
			t.Fatal(err)
		}
		kerneltest.Golden(t, name, k.PTX)
	}
}

// TestRefusals: Check gives the reason for each refusal.
func TestRefusals(t *testing.T) {
	square := square(1, 2, 100, 64, problem.E4M3)
	for name, c := range map[string]struct {
		change func(*problem.Attention)
		config Config
		want   string
	}{
		"format":    {func(p *problem.Attention) { p.Format = problem.U8 }, Throughput(64, 4), "use e4m3 or e5m2"},
		"groups":    {func(p *problem.Attention) { p.Hq = 3 }, Throughput(64, 4), "cannot share 2 heads of K and V evenly"},
		"dim":       {func(p *problem.Attention) { p.D = 80 }, Throughput(64, 4), "use 64, 96, 128, 192 or 256"},
		"lse":       {func(p *problem.Attention) { p.LSE = true }, Config{Sharing: Sharing{Split: 1}, Softmax: Softmax{SumsInV: true}, Schedule: Schedule{Warpgroups: 1, TileN: 128, Stages: 2, BlocksPerSM: 2}}, "the LSE wrong by up to 0.01"},
		"memory":    {func(p *problem.Attention) { p.D = 128 }, Config{Sharing: Sharing{Split: 1}, Schedule: Schedule{Warpgroups: 2, TileN: 192, Stages: 4, BlocksPerSM: 1}}, "bytes of shared memory"},
		"registers": {func(p *problem.Attention) { p.D = 128 }, Config{Sharing: Sharing{Split: 1}, Schedule: Schedule{Warpgroups: 4, TileN: 128, Stages: 2, BlocksPerSM: 1}}, "registers and has 112"},
		"split":     {func(*problem.Attention) {}, Config{Sharing: Sharing{Split: 4, SplitInBlock: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, BlocksPerSM: 1}}, "1 or 2"},
		"odd":       {func(*problem.Attention) {}, Config{Sharing: Sharing{Split: 1, SplitInBlock: true}, Schedule: Schedule{Warpgroups: 3, TileN: 128, Stages: 2, BlocksPerSM: 1}}, "use two or four warpgroups"},
		"stages":    {func(*problem.Attention) {}, Config{Sharing: Sharing{Split: 1, SplitInBlock: true}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 3, BlocksPerSM: 1}}, "a multiple of the warpgroups"},
		"heads":     {func(p *problem.Attention) { p.Hq, p.Hkv = 70000, 70000 }, Pair(), "take at most 65535 heads"},
		"queries":   {func(p *problem.Attention) { p.Sq, p.Causal = 65535*128+1, true }, Pair(), "take at most 8388480"},
		"clusters":  {func(*problem.Attention) {}, Config{Sharing: Sharing{Split: 2}, Schedule: Schedule{Warpgroups: 2, TileN: 128, Stages: 2, BlocksPerSM: 1}}, "must have 64 rows"},
	} {
		p := square
		c.change(&p)
		_, err := New(p, c.config)
		if err == nil || !regexp.MustCompile(regexp.QuoteMeta(c.want)).MatchString(err.Error()) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
