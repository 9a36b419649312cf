package hopper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/problem"
)

// Design is a way to a configuration that has a name.
type Design struct {
	Name string
	Idea string // what it is for
	// Config is the design's configuration for a problem on a GPU of so many SMs.
	Config func(p problem.Attention, sms int) Config
}

// Designs are those with names: first hopper, which is what [Choose] takes, then each by
// itself. Some refuse heads of 128: [Config.Check] says so.
func Designs() []Design {
	of := func(c func(headDim int) Config) func(problem.Attention, int) Config {
		return func(p problem.Attention, _ int) Config { return c(p.D).without(p) }
	}
	return []Design{
		{"hopper", "FP8 straight to wgmma, tiles by TMA, warpgroups with roles, sm_90a alone; the design by the shape", Choose},
		{"hopper-throughput", "256 query rows a block, with heads of 128 192, blocks that stay: for what fills the card", of(widest)},
		{"hopper-three", "192 query rows a block, blocks that stay", of(func(d int) Config { return Throughput(d, 3) })},
		{"hopper-pair", "128 query rows a block, two warpgroups that take turns", of(func(int) Config { return Pair() })},
		{"hopper-two-pairs", "128 query rows a block, the keys of each 64 over two warpgroups; heads of 64", of(func(int) Config { return TwoPairs() })},
		{"hopper-latency", "64 query rows a block, two blocks an SM", of(Latency)},
		{"hopper-halves", "64 query rows a block, the keys over its two warpgroups", of(func(int) Config { return SplitKeys(1) })},
		{"hopper-halves-cluster", "the keys over two warpgroups in each of a cluster of two", of(func(int) Config { return SplitKeys(2) })},
	}
}

// widest is the throughput design with as many warpgroups as there are registers for.
func widest(headDim int) Config {
	if headDim == 64 {
		return Throughput(64, 4)
	}
	return Throughput(headDim, 3)
}

// FindDesign is the design of a name.
func FindDesign(name string) (Design, error) {
	all := Designs()
	i := slices.IndexFunc(all, func(d Design) bool { return d.Name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, d := range all {
			names[i] = d.Name
		}
		return Design{}, fmt.Errorf("no design %q: there are %s", name, strings.Join(names, ", "))
	}
	return all[i], nil
}

// without is the configuration less what the problem forbids. Weights that are 0 in e4m3 are
// not in a column of sums: without maxima of their own for each tile these become many where
// there are many keys, and with outliers their sum is missed.
func (c Config) without(p problem.Attention) Config {
	c.SumsInV = c.SumsInV && !p.LSE && (c.TileMaxima || p.Skv <= maxSumsInVKeys)
	return c
}
