package stages

import (
	"errors"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Family is the family of the stages.
type Family struct{}

// Name returns "stages".
func (Family) Name() string { return "stages" }

// Variants returns the presets.
func (Family) Variants() (list []attn.Variant) {
	for _, p := range Presets(64) {
		list = append(list, attn.Variant{Name: p.Name, Idea: p.Idea, Base: p.Base})
	}
	return list
}

// Configure returns the configuration of a preset.
func (Family) Configure(variant string, p problem.Attention, _ kernel.Chip) (attn.Config, error) {
	preset, err := FindPreset(variant, p.D)
	return attn.Encode(preset.Config), err
}

// preference is the order in which Choose tries presets: first the presets with scores in
// registers. Timed on an H200 on three problems of D = 64, stage3b, stage4 and stage5 were
// within 4 % of each other; on (4,16,2048,128) stage3b was fastest by 5 %.
var preference = []string{"stage3b", "stage4", "stage5", "stage5-persistent", "xor-swizzle", "stage3a", "stage2", "stage1", "stage0"}

// Choose returns the first preset of a fixed order that computes the problem on the chip.
func (f Family) Choose(p problem.Attention, c kernel.Chip) (string, error) {
	var why []string
	for _, name := range preference {
		config, err := f.Configure(name, p, c)
		if err == nil {
			err = f.Check(p, c, config)
		}
		if err == nil {
			return name, nil
		}
		if !slices.Contains(why, err.Error()) {
			why = append(why, err.Error())
		}
	}
	return "", errors.New(strings.Join(why, "; "))
}

// Candidates returns the preset that Choose returns for problems like p. The presets have the same
// limits on sizes, so the first one that computes p computes every problem that the others do.
func (f Family) Candidates(p problem.Attention, c kernel.Chip) []attn.Candidate {
	name, err := f.Choose(p, c)
	if err != nil {
		return nil
	}
	config, err := f.Configure(name, p, c)
	if err != nil {
		return nil
	}
	return []attn.Candidate{{Variant: name, Config: config}}
}

// Check returns the reason why a configuration cannot compute a problem on a chip, or nil.
func (Family) Check(p problem.Attention, c kernel.Chip, config attn.Config) error {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return err
	}
	p = p.Filled()
	if err := own.Check(p, own.target(p, c)); err != nil {
		return err
	}
	return c.Holds(own.plan(p.D).total)
}

// Build writes the kernel for the chip's target, or for the lowest target that can run it.
func (Family) Build(p problem.Attention, c kernel.Chip, config attn.Config) (*kernel.Kernel, error) {
	own, err := attn.Decode[Config](config)
	if err != nil {
		return nil, err
	}
	p = p.Filled()
	p.Shape = problem.Square(1, 1, 1, 0).WithHeadDim(p.HeadDim()) // the text does not depend on sizes; the contract limits them
	return New(p, own, own.target(p, c))
}

// target returns the chip's target, or the lowest target from sm_89 on that can run the
// kernel. Lower ones cannot convert e4m3.
func (c Config) target(p problem.Attention, chip kernel.Chip) ptx.Target {
	if chip.Target != (ptx.Target{}) {
		return chip.Target
	}
	for _, t := range []ptx.Target{ptx.SM89, ptx.SM90} {
		if c.Check(p, t) == nil {
			return t
		}
	}
	return ptx.SM89 // for which Check returns the reason
}

// Axes returns the fields of Config.
func (Family) Axes() []attn.Axis {
	return attn.AxesOf[Config](map[string]attn.Field{
		"TileM":         {What: "query rows per block", Values: []int{16, 32, 48, 64, 80, 96, 112, 128}},
		"TileN":         {What: "keys per tile", Values: []int{32, 64, 96, 128}},
		"Stages":        {What: "pipeline stages of cp.async; 0 loads without it", Values: []int{0, 1, 2, 3}},
		"VectorDequant": {What: "decode 16 bytes at a time instead of 4"},
		"Swizzle":       {What: "xor swizzle of tiles in shared memory instead of padded rows"},
		"LUT":           {What: "decode K and V through a lookup table in shared memory"},
		"TensorQK":      {What: "Q·Kᵀ on tensor cores"},
		"TensorPV":      {What: "P·V on tensor cores"},
		"ReuseScores":   {What: "keep P in the buffer of the scores"},
		"FusedSoftmax":  {What: "keep scores and P in registers, with one warp per 16 rows"},
		"Producers":     {What: "warps that only load and decode", Values: []int{0, 1, 2}},
		"Persistent":    {What: "as many blocks as fit on the GPU, each working on several tiles"},
		"FastExp":       {What: "exponentials by a polynomial on the FMA units"},
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
