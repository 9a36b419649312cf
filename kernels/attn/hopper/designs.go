package hopper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/problem"
)

// Design is a named configuration.
type Design struct {
	Name string
	Idea string // what it is for
	// Config returns the design's configuration for a problem on a GPU with sms SMs.
	Config func(p problem.Attention, sms int) Config
}

// Designs returns the named designs. The first, "hopper", is the one that [Choose] picks
// for the problem. Some of the others support only small head dimensions;
// [Config.Check] says which.
func Designs() []Design {
	of := func(c func(h problem.HeadDim) Config) func(problem.Attention, int) Config {
		return func(p problem.Attention, _ int) Config { return c(p.HeadDim()).adapted(p) }
	}
	return []Design{
		{"hopper", "FP8 wgmma, TMA loads, warp specialisation, only for sm_90a; picks the design that is fastest for the shape", Choose},
		{"hopper-throughput", "persistent blocks of 256 query rows (192 for D up to 128, 128 for larger D), for problems that fill the GPU", of(widest)},
		{"hopper-three", "persistent blocks of 192 query rows; only for D up to 128", of(func(h problem.HeadDim) Config { return Throughput(h.V(), 3) })},
		{"hopper-balanced", "hopper-throughput, with its work divided evenly: the keys of some items are split over blocks", of(func(h problem.HeadDim) Config { return balanced(widest(h)) })},
		{"hopper-pair", "128 query rows per block, two warpgroups in ping-pong", of(func(problem.HeadDim) Config { return Pair() })},
		{"hopper-many", "persistent blocks of 128 query rows, for many short sequences; only for D up to 192", of(func(problem.HeadDim) Config { return ManyItems() })},
		{"hopper-two-pairs", "128 query rows per block, two warpgroups split the keys of each 64 rows; only for D = 64", of(func(problem.HeadDim) Config { return TwoPairs() })},
		{"hopper-latency", "64 query rows per block, two blocks per SM (one for D > 64)", of(func(h problem.HeadDim) Config { return Latency(max(h.D, h.V())) })},
		{"hopper-split-kv", "64 query rows per block, its two warpgroups split the keys", of(func(problem.HeadDim) Config { return SplitKeys(1) })},
		{"hopper-split-kv-cluster", "64 query rows per cluster of two blocks, the four warpgroups split the keys; not for D = 96", of(func(problem.HeadDim) Config { return SplitKeys(2) })},
	}
}

// widest returns the throughput design with as many warpgroups as there are registers for. The output
// takes most registers, so the heads of V decide.
func widest(h problem.HeadDim) Config {
	switch dv := h.V(); {
	case dv == 64:
		return Throughput(64, 4)
	case dv <= 128:
		return Throughput(dv, 3)
	}
	return WideHeads()
}

// FindDesign returns the design with a name.
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

// adapted returns the configuration for a problem: without SumsInV where the problem forbids it,
// and with smaller tiles for wide heads. Sums in V do not include weights that round to 0 in e4m3.
// Unless each tile has its own maxima, many weights round to 0 when there are many keys and
// outliers among them, and the sum is too small. With wide heads there are no registers for sums in V, and
// little shared memory, so warpgroups that split keys have tiles of 64 keys. A share of the weights is computed
// as codes by kernels with sums in V, and by those for wide heads with maxima per tile and without an LSE.
func (c Config) adapted(p problem.Attention) Config {
	c.SumsInV = c.SumsInV && !p.LSE && p.DimV() <= maxSumsInVDim && (c.TileMaxima || p.Skv <= maxSumsInVKeys)
	wide := p.DimV() > maxSumsInVDim
	if c.Codes = 0; c.SumsInV || wide && c.TileMaxima && !p.LSE {
		c = c.coded(p)
	}
	if !wide {
		return c
	}
	if c.sharers() > 1 {
		c.TileN = 64
		c.PingPong = min(c.PingPong, c.TileN)
	}
	if c.registersNeeded(p) > c.registers().consumer {
		c.ProductColumns = 64
	}
	return c
}

// The numbers of keys from which weights are computed as codes, and from which more of them are.
const (
	leastCodesKeys = 1024
	manyCodesKeys  = 2048
)

// coded returns the configuration with as many codes as keep the error of normal inputs below that of a
// softmax with running maxima, whose row sums are not rounded. With more keys, maxima per tile are a
// larger advantage, so more weights may be codes.
func (c Config) coded(p problem.Attention) Config {
	switch {
	case p.Skv < leastCodesKeys:
		return c
	case p.Skv < manyCodesKeys:
		c.Codes = 4
	case p.DimV() <= 64:
		c.Codes = 3
	default:
		c.Codes = 2
		switch { // fewer exponentials are left, so the best hand-over comes at another place
		case c.rowTiles() > 2 && p.DimV() > 96:
			c.PingPong = max(c.PingPong, 64)
		case p.DimV() > maxSumsInVDim && !p.Causal:
			c.PingPong = min(c.PingPong, 64)
		}
	}
	c.Polynomial = 0
	return c
}
