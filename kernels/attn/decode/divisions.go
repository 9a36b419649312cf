package decode

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// Decode returns the configuration for few queries: the first of [divisions] whose condition holds,
// or that of Default.
func Decode(p problem.Attention, chip kernel.Chip) Config {
	p = p.Filled()
	c := Default(p, chip)
	names := p.Names()
	names["SMs"] = expr.Int(int64(chip.SMs))
	for _, d := range divisions(c, p, chip) {
		if holds, err := d.when.Bool(names); err == nil && holds {
			return d.Config
		}
	}
	return c
}

// division is a configuration that divides the same work in another way, and the sizes for which
// it is faster.
type division struct {
	Config
	when expr.Expr
}

// divisions returns the divisions that are faster than c, the configuration of Default, on an H200.
// TestCardTimes times them.
func divisions(c Config, p problem.Attention, chip kernel.Chip) (list []division) {
	if !c.large(chip) || chip.SMs == 0 || p.Keys != problem.Uniform || p.DV != 0 { // others were not timed
		return nil
	}
	add := func(c Config, when string) { list = append(list, division{c, expr.Must(when)}) }
	if p.D == 128 && c.RowTiles == 1 {
		deep := c // the next block of an SM begins while the last tiles of this one are in flight
		deep.Stages = 3
		add(deep, fmt.Sprintf("B*Hkv > %d*SMs", c.BlocksPerSM))
	}
	eight := c // one block with as many keys in flight as two begins and ends once
	eight.Warps, eight.BlocksPerSM = 8, 1
	least := 4096 // keys per SM
	if p.D > 128 {
		eight.Stages = 3
	}
	if p.D > 128 || c.RowTiles == 2 {
		least = 1024
	}
	if c.RowTiles <= 2 && eight.teams() <= p.D/16 {
		add(eight, fmt.Sprintf("B*Hkv <= SMs && B*Hkv*Skv >= %d*SMs", least))
		// A tile full of rows has fewer parts to merge then, and more threads that merge them.
		add(eight, fmt.Sprintf("B*Hkv <= SMs && B*Hkv*Skv >= 896*SMs && Sq*(H/Hkv) > %d", warpRows/2))
	}
	return list
}
