package ada

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// Family is the family of the designs for Ada.
type Family struct{}

// Name returns "ada".
func (Family) Name() string { return "ada" }

// base is the kernel that every design has to beat: the last stage. Compared with "ada",
// the design that ada chooses would be no change, and all others would be slower.
const base = "stage5-persistent"

// Variants returns the designs. The first, "ada", is chosen by the shape.
func (Family) Variants() (list []attn.Variant) {
	for i, d := range Designs() {
		list = append(list, attn.Variant{Name: d.Name, Idea: base + " + " + d.Idea, Base: base, ByShape: i == 0})
	}
	return list
}

// l4SMs is the number of SMs of an L4, for which a design is chosen when no chip is given, and
// l4MHz its clock.
const l4SMs, l4MHz = 58, 2040

func sms(c kernel.Chip) int {
	if c.SMs > 0 {
		return c.SMs
	}
	return l4SMs
}

// widens reports whether kernels for a chip need products in f16.
func widens(c kernel.Chip) bool {
	return c.Runs(Config{}.target()) != nil
}

// Explain says which design Choose prefers for a problem, and how the estimates compare.
func (Family) Explain(p problem.Attention, c kernel.Chip) string {
	p, n, widen := p.Filled(), sms(c), widens(c)
	fast, small := Throughput(p.D, widen), Latency(p, n, widen)
	if small == (Config{}) {
		return fmt.Sprintf("%v: no design that splits keys computes this problem", fast)
	}
	at := func(c Config) float64 { return float64(c.estimate(p, n)) / (10 * l4MHz) }
	best, other := fast, small
	if Choose(p, n, widen) == small {
		best, other = small, fast
	}
	return fmt.Sprintf("%v: %.3g µs by the estimate for an L4's rates with %d SMs, next best %v with %.3g µs", best, at(best), n, other, at(other))
}

// Configure returns the configuration of a design for a problem. Chips before sm_89 get products
// in f16.
func (Family) Configure(variant string, p problem.Attention, c kernel.Chip) (attn.Config, error) {
	d, err := FindDesign(variant)
	if err != nil {
		return "", err
	}
	return attn.Encode(d.Config(p.Filled(), sms(c), widens(c))), nil
}

// Choose returns "ada" if it computes the problem.
func (f Family) Choose(p problem.Attention, c kernel.Chip) (string, error) {
	name := Designs()[0].Name
	config, err := f.Configure(name, p, c)
	if err != nil {
		return "", err
	}
	return name, f.Check(p, c, config)
}

// Candidates returns the configurations that Choose may return for problems like p.
func (f Family) Candidates(p problem.Attention, c kernel.Chip) (list []attn.Candidate) {
	p = p.Filled()
	for _, own := range choices(p.D, widens(c)) {
		if config := attn.Encode(own); f.Check(p, c, config) == nil {
			list = append(list, attn.Candidate{Variant: Designs()[0].Name, Config: config, Let: own.terms(p.Causal), Cost: cost})
		}
	}
	return list
}

// Check returns the reason why a configuration cannot compute a problem on a chip, or nil.
func (Family) Check(p problem.Attention, c kernel.Chip, config attn.Config) error {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return err
	}
	if err := c.Runs(own.target()); err != nil {
		return err
	}
	p = p.Filled()
	if err := own.Check(p); err != nil {
		return err
	}
	return c.Holds(own.plan(p.D).total)
}

// Build writes the kernel.
func (Family) Build(p problem.Attention, c kernel.Chip, config attn.Config) (*kernel.Kernel, error) {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return nil, err
	}
	if err := c.Runs(own.target()); err != nil {
		return nil, err
	}
	return New(p, own)
}

// Axes returns the fields of Config.
func (Family) Axes() []attn.Axis {
	return attn.AxesOf[Config](map[string]attn.Field{
		"rows":          {What: "query rows per block", Values: []int{16, 32, 48, 64, 80, 96, 112, 128, 192, 256}},
		"tile_n":        {What: "keys per tile", Values: []int{32, 64, 96, 128}},
		"shares":        {What: "warps that split the keys of 16 query rows", Values: []int{1, 2, 4}},
		"stages":        {What: "slots of the ring of K and V", Values: []int{2, 3, 4, 5}},
		"ahead":         {What: "scores of the next round before the exponentials of this round"},
		"whole":         {What: "a slot for every round; O is accumulated by the tensor cores"},
		"blocks_per_sm": {What: "blocks that share an SM", Values: []int{1, 2, 3}},
		"widen":         {What: "convert bytes to f16 before each product, as chips before sm_89 need it"},
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
