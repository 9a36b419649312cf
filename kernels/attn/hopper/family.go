package hopper

import (
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Family is the family of the designs for Hopper.
type Family struct{}

// Name returns "hopper".
func (Family) Name() string { return "hopper" }

// base is the kernel that every design has to beat: the last stage. Compared with "hopper",
// the design that hopper chooses would be no change, and all others would be slower.
const base = "stage5-persistent"

// Variants returns the designs. The first, "hopper", is chosen by the shape.
func (Family) Variants() (list []attn.Variant) {
	for i, d := range Designs() {
		list = append(list, attn.Variant{Name: d.Name, Idea: base + " + " + d.Idea, Base: base, ByShape: i == 0})
	}
	return list
}

// h200SMs is the number of SMs of an H100 SXM or H200, for which a design is chosen when no
// chip is given.
const h200SMs = 132

func sms(c kernel.Chip) int {
	if c.SMs > 0 {
		return c.SMs
	}
	return h200SMs
}

// Configure returns the configuration of a design for a problem.
func (Family) Configure(variant string, p problem.Attention, c kernel.Chip) (attn.Config, error) {
	d, err := FindDesign(variant)
	if err != nil {
		return "", err
	}
	return attn.Encode(d.Config(p.Filled(), sms(c))), nil
}

// Choose returns "hopper" if it computes the problem.
func (f Family) Choose(p problem.Attention, c kernel.Chip) (string, error) {
	name := Designs()[0].Name
	config, err := f.Configure(name, p, c)
	if err != nil {
		return "", err
	}
	return name, f.Check(p, c, config)
}

// Check returns the reason why a configuration cannot compute a problem on a chip, or nil.
func (Family) Check(p problem.Attention, c kernel.Chip, config attn.Config) error {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return err
	}
	if err := c.Runs(ptx.SM90a); err != nil {
		return err
	}
	p = p.Filled()
	if err := own.Check(p); err != nil {
		return err
	}
	return c.Holds(own.plan(p.HeadDim()).total)
}

// Build writes the kernel.
func (Family) Build(p problem.Attention, c kernel.Chip, config attn.Config) (*kernel.Kernel, error) {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return nil, err
	}
	if err := c.Runs(ptx.SM90a); err != nil {
		return nil, err
	}
	return New(p, own)
}

// Axes returns the fields of Config.
func (Family) Axes() []attn.Axis {
	return attn.AxesOf[Config](map[string]attn.Field{
		"sharing.split":            {What: "blocks of a cluster that split the keys", Values: []int{1, 2}},
		"sharing.split_in_block":   {What: "pairs of warpgroups in a block split the keys"},
		"softmax.polynomial":       {What: "one exponential in this many by a polynomial on the FMA units; 0 turns it off", Values: []int{0, 4, 8, 16}},
		"softmax.codes":            {What: "one word of four weights in this many directly as e4m3 codes, without exponentials; 0 turns it off", Values: []int{0, 2, 3, 4, 8}},
		"softmax.sums_in_v":        {What: "the tensor cores add up the rows of P through columns of ones in V"},
		"softmax.tile_maxima":      {What: "P relative to the maxima of its tile instead of the running maxima"},
		"schedule.warpgroups":      {What: "warpgroups that compute, 64 query rows each", Values: []int{1, 2, 3, 4}},
		"schedule.tile_n":          {What: "keys per tile", Values: []int{64, 128, 192}},
		"schedule.stages":          {What: "slots of the rings of K and V", Values: []int{1, 2, 3, 4}},
		"schedule.persistent":      {What: "as many blocks as fit on the GPU, each working on several tiles"},
		"schedule.ping_pong":       {What: "ping-pong: the next warpgroup begins its exponentials after this many keys; 0 turns it off", Values: []int{0, 32, 64, 96, 128, 160, 192}},
		"schedule.product_columns": {What: "columns of P·V that one product computes; 0 is all", Values: []int{0, 32, 64, 128}},
		"schedule.blocks_per_sm":   {What: "blocks that share an SM", Values: []int{1, 2, 3}},
		"schedule.descriptors":     {What: "the loading warp passes the place and the factors of each item on through shared memory"},
		"schedule.balanced":        {What: "the keys of items that would be left over in the last round are split over all blocks"},
		"schedule.dependent":       {What: "programmatic dependent launch: the start overlaps the end of the launch before"},
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
