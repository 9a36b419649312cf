package hopper

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// Candidates returns the configurations that Choose may return for problems like p, with its
// estimates. A configuration that depends on the number of keys is two candidates.
func (f Family) Candidates(p problem.Attention, c kernel.Chip) (list []attn.Candidate) {
	p = p.Filled()
	for _, o := range choices(p.HeadDim()) {
		ranges, before := o.ranges(p), len(list)
		for _, r := range ranges {
			list = f.add(list, o, r.config, r.p, c, r.when)
		}
		if own := list[before:]; o.Persistent && !o.Balanced && len(own) == len(ranges) {
			for i := range own { // together they are for all numbers of keys
				own[i].Always = true // its rules are the weakest of all families
			}
		}
	}
	return list
}

// adaption is a configuration as it is adapted to some numbers of keys, a problem with such a number, and for which
// numbers it is: "" is all.
type adaption struct {
	config Config
	p      problem.Attention
	when   string
}

// ranges returns how a configuration is adapted to problems like p, in the order of their numbers of keys.
func (c Config) ranges(p problem.Attention) (list []adaption) {
	limits := []int{leastCodesKeys - 1, manyCodesKeys - 1, maxSumsInVKeys, 0} // each is the last of a range; 0 is no limit
	above := 0
	for i, last := range limits {
		keys := last
		if last == 0 {
			keys = limits[i-1] + 1
		}
		p.Sq, p.Skv = keys, keys
		own := c.adapted(p)
		if last != 0 {
			next := p
			next.Skv = last + 1
			if c.adapted(next) == own {
				continue // the range goes on
			}
		}
		var when []string
		if above > 0 {
			when = append(when, fmt.Sprintf("Skv > %d", above))
		}
		if last > 0 {
			when = append(when, fmt.Sprintf("Skv <= %d", last))
		}
		list = append(list, adaption{own, p, strings.Join(when, " && ")})
		above = last
	}
	return list
}

// add adds a choice as it is adapted to some problems, unless no problem can have it.
func (f Family) add(list []attn.Candidate, o choice, own Config, p problem.Attention, c kernel.Chip, when string) []attn.Candidate {
	config := attn.Encode(own)
	if own.short(p) || f.Check(p, c, config) != nil {
		return list
	}
	costs := o.costs.of(own, p.Causal)
	one := attn.Candidate{
		Variant: Designs()[0].Name, Config: config, Keys: p.Skv, Let: costs.workLets(own, p.Causal), Cost: expr.Must(fmt.Sprintf("%d + busy", costs.nano(perLaunch))),
		Tiles: &attn.Tiles{Rows: own.rows(), Keys: own.TileN, Split: own.Split, PerSM: own.BlocksPerSM, Persistent: own.Persistent, Causal: p.Causal, Counted: maxCounted},
	}
	if own.Balanced {
		when = strings.TrimPrefix(fmt.Sprintf("%s && cdiv(Skv, %d) >= %d", when, own.TileN, balancedTiles), " && ")
		one.Let, one.Cost, one.Tiles = own.lets(p.Causal), costs.balancedExpr(p.Causal), nil
	}
	if when != "" {
		one.When = expr.Must(when)
	}
	return append(list, one)
}

// workLets returns the names of the estimate of work that is not balanced: see [work.nanos]. attn.Tiles adds busy to them.
func (t terms) workLets(c Config, causal bool) []kernel.Binding {
	tile := t.nano(perTile)
	if causal {
		tile += t.nano(perCausal)
	}
	item, each := fmt.Sprint(t.nano(perItem)), fmt.Sprint(tile)
	if n := c.BlocksPerSM; n > 1 { // some rounds have more than one block
		item += "*items/rounds"
		each += fmt.Sprintf(" + %d*((items + %d)/%d)/rounds", t.nano(perBeside), n-2, n)
	}
	return []kernel.Binding{
		attn.Let("items", fmt.Sprintf("cdiv(B*H*cdiv(Sq, %d)*%d, SMs)", c.rows(), c.Split)),
		attn.Let("rounds", fmt.Sprintf("cdiv(items, %d)", c.BlocksPerSM)),
		attn.Let("item", item),
		attn.Let("tile", each),
	}
}

// balancedExpr returns the estimate for balanced blocks in nanoseconds: see [Config.balancedLoad].
func (t terms) balancedExpr(causal bool) expr.Expr {
	item, piece := t.nano(perItem), t.nano(perPart)
	if causal {
		return expr.Must(fmt.Sprintf("%d + %d*quota + %d*cdiv(items, blocks) + %d*(tiles/quota)",
			t.nano(perLaunch)+t.nano(perRange)+item+2*piece, t.nano(perTile)+t.nano(perCausal), item, piece))
	}
	return expr.Must(fmt.Sprintf("%d + %d*(items/blocks*tiles + quota) + %d*(items/blocks) + (left == 0 ? 0 : tiles%%quota == 0 ? %d + %d*(tiles/quota) : %d + %d*(tiles/quota))",
		t.nano(perLaunch), t.nano(perTile), item, item, piece, 2*(item+piece), piece))
}
