package ada

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
	// Config returns the design's configuration for a problem on a GPU with sms SMs. widen
	// selects products in f16.
	Config func(p problem.Attention, sms int, widen bool) Config
}

// Designs returns the named designs. The first, "ada", is the one that [Choose] picks for the
// problem.
func Designs() []Design {
	return []Design{
		{"ada", "FP8 mma.sync, cp.async loads, scores and P in registers, from sm_89 on; through f16 from sm_80 on; picks the design that is fastest for the shape", Choose},
		{"ada-throughput", "one warp per 16 query rows, for problems that fill the GPU", func(p problem.Attention, _ int, widen bool) Config { return Throughput(p.D, widen) }},
		{"ada-latency", "several warps split the keys of 16 query rows; a block has the rows that fill the GPU best", Latency},
	}
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
