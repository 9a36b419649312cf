package decode

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Family is the family of kernels for few queries and many keys.
type Family struct{}

// Name returns "decode".
func (Family) Name() string { return "decode" }

// base is the kernel that this family has to beat.
const base = "hopper"

// designs are the named configurations.
var designs = []struct {
	name, idea string
	config     func(problem.Attention, kernel.Chip) Config
}{
	{"decode", "few queries, many keys: the heads of a group share a tile, all blocks split the keys", Decode},
	{"prefill", "many queries against a cache as servers keep it: pages, lengths, windows, masks", Prefill},
	{"decode-invariant", "the bits of a sequence's output do not depend on the rest of the batch", Invariant},
	{"prefill-invariant", "many queries, and bits that do not depend on the rest of the batch", PrefillInvariant},
}

// Variants returns the named configurations.
func (Family) Variants() (list []attn.Variant) {
	for _, d := range designs {
		list = append(list, attn.Variant{Name: d.name, Idea: base + " + " + d.idea, Base: base, ByShape: true, ByChip: true})
	}
	return list
}

// Configure returns the configuration of a variant for a problem.
func (Family) Configure(variant string, p problem.Attention, c kernel.Chip) (attn.Config, error) {
	var names []string
	for _, d := range designs {
		if d.name == variant {
			return attn.Encode(d.config(p, c)), nil
		}
		names = append(names, d.name)
	}
	return "", fmt.Errorf("no design %q: there are %s", variant, strings.Join(names, ", "))
}

// fewest is the number of keys per query row from which this family is preferred to kernels
// for many queries.
const fewest = 4

// Choose returns "decode" for problems with few queries and many keys. If no other family
// computes a problem, it returns "decode" or "prefill", by the number of queries.
func (f Family) Choose(p problem.Attention, c kernel.Chip) (string, error) {
	p = p.Filled()
	others := othersCompute(p, c)
	name := designs[0].name
	switch many := rows(p) > mostRows; {
	case others && p.Skv < fewest*rows(p):
		return "", fmt.Errorf("%d keys for %d query rows: this family is for at least %d keys per row", p.Skv, rows(p), fewest)
	case others && many:
		return "", fmt.Errorf("%d query rows per head of K and V: this family is for at most %d", rows(p), mostRows)
	case many:
		name = designs[1].name
	}
	config, err := f.Configure(name, p, c)
	if err == nil {
		err = f.Check(p, c, config)
	}
	return name, err
}

// Candidates returns the configurations that Choose may return for problems like p: those of
// "decode", by the number of row tiles, and that of "prefill".
func (f Family) Candidates(p problem.Attention, c kernel.Chip) (list []attn.Candidate) {
	p = p.Filled()
	others := othersCompute(p, c)
	const number = "Sq*(H/Hkv)" // of query rows, as rows returns it
	add := func(design, rows int, when string) {
		p := p
		p.Sq, p.Hq, p.Hkv = rows, 1, 1
		if others {
			when += fmt.Sprintf(" && Skv >= %d*%s", fewest, number)
		}
		one := func(own Config, when string) {
			if config := attn.Encode(own); f.Check(p, c, config) == nil {
				list = append(list, attn.Candidate{Variant: designs[design].name, Config: config, When: expr.Must(when)})
			}
		}
		if design == 0 {
			own := Default(p, c)
			for _, d := range divisions(own, p, c) {
				one(d.Config, fmt.Sprintf("%s && %s", when, d.when))
			}
			one(own, when)
			return
		}
		one(designs[design].config(p, c), when)
	}
	least := 0
	for most := warpRows; most <= mostRows; most *= 2 {
		add(0, most, fmt.Sprintf("%s > %d && %s <= %d", number, least, number, most))
		least = most
	}
	if !others {
		add(1, mostRows+1, fmt.Sprintf("%s > %d", number, mostRows))
	}
	return list
}

// othersCompute reports whether other families compute problems like p on a chip.
func othersCompute(p problem.Attention, c kernel.Chip) bool {
	scalings := []problem.Scaling{problem.PerHead, problem.PerTensor}
	if c.Target.Runs(ptx.SM90a) {
		return attn.CheckHeads(p, headDims, scalings...) == nil
	}
	return attn.CheckSupported(p, []int{64, 96, 128, 256}, scalings...) == nil
}

// Check returns the reason why a configuration cannot compute a problem on a chip, or nil.
func (Family) Check(p problem.Attention, c kernel.Chip, config attn.Config) error {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return err
	}
	p = p.Filled()
	if err := own.Check(p, target(p, c)); err != nil {
		return err
	}
	return c.Holds(own.plan(p).total)
}

// Build writes the kernel for the chip's target, or for the lowest target that can run it.
func (Family) Build(p problem.Attention, c kernel.Chip, config attn.Config) (*kernel.Kernel, error) {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return nil, err
	}
	p = p.Filled()
	p.Shape, p.Batch = problem.Square(1, 1, 1, 0).WithHeadDim(p.HeadDim()), problem.Batch{} // the text does not depend on sizes; the contract limits them
	return New(p, own, target(p, c))
}

// target returns the chip's target, or the lowest target that can run the kernel.
func target(p problem.Attention, c kernel.Chip) ptx.Target {
	switch {
	case c.Target != (ptx.Target{}):
		return c.Target
	case p.Format == problem.E4M3:
		return ptx.SM89
	}
	return ptx.SM80
}

// Axes returns the fields of Config.
func (Family) Axes() []attn.Axis {
	return attn.AxesOf[Config](map[string]attn.Field{
		"row_tiles":     {What: "tiles of 16 query rows, one warp of a team each", Values: []int{1, 2, 4}},
		"warps":         {What: "warps of a block", Values: []int{4, 8}},
		"tile_n":        {What: "keys per tile", Values: []int{16, 32, 64, 128}},
		"stages":        {What: "tiles of keys in the ring of a team", Values: []int{2, 3, 4, 5, 6}},
		"blocks_per_sm": {What: "blocks that share an SM", Values: []int{1, 2, 3, 4}},
		"row_blocks":    {What: "any number of query rows, in tiles"},
		"any_pages":     {What: "pages of any number of rows, each of which is looked up"},
		"dependent":     {What: "programmatic dependent launch: the start overlaps the end of the launch before"},
		"chunk":         {What: "keys per block, for bits that do not depend on the batch; 0 fills the GPU", Values: []int{0, 512, 1024, 2048, 4096}},
	})
}

// Describe returns [Config.String].
func (Family) Describe(config attn.Config) string {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return string(config)
	}
	return own.String()
}
