package hopper

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
	"github.com/GOATnote-Inc/attest/problem"
)

// Persistent blocks that are balanced have equally many items each. The keys of the items that are
// left over are split: [part.Balance] cuts them into parts. Under a causal mask, items have different
// lengths, and blocks have equally many KV tiles: [part.Ranges] cuts the items where a block's range
// ends.
//
// A warp writes its 16 rows of a part to global memory and counts it. The warp that counts the last
// part of its rows merges them and writes O. No warp waits for another block, so blocks need not run
// at the same time. Sums run over the parts in their order, so the bits do not depend on which warp
// comes last.
//
// A lane stores and loads its own elements of O, four at a time, and (reference, l) of its two rows
// in one more unit of four. The elements of a lane are in the same place in every part.
type parts struct {
	balance *part.Balance           // without a mask
	ranges  *part.Ranges            // with a causal mask
	values  build.Global[build.F32] // by place, warp, unit, lane and element
	arrived build.Global[build.U32] // by item and warp: parts that are written
}

// mostShares is the number of shares up to which the keys of an item are divided: with more, merging
// them takes longer than what each block saves.
const mostShares = 8

// balancedTiles is the number of KV tiles per item from which Choose considers balanced blocks. With
// fewer, the parts cost more than an uneven last round, and the estimate is off.
const balancedTiles = 16

// pays reports whether Choose considers the configuration for a problem.
func (c Config) pays(p problem.Attention) bool {
	return !c.Balanced || ceil(p.Skv, c.TileN) >= balancedTiles
}

// lets returns the names that the contract of a balanced kernel uses.
func (c Config) lets(causal bool) []kernel.Binding {
	if !c.Balanced {
		return nil
	}
	list := []kernel.Binding{
		attn.Let("items", fmt.Sprintf("B*H*cdiv(Sq, %d)", c.rows())),
		attn.Let("tiles", fmt.Sprintf("cdiv(Skv, %d)", c.TileN)),
	}
	if causal {
		return append(append(list, c.causalLets()...),
			attn.Let("blocks", fmt.Sprintf("min(B*H*per_head, SMs*%d)", c.BlocksPerSM)),
			attn.Let("quota", fmt.Sprintf("max(cdiv(B*H*per_head, blocks), cdiv(tiles, %d))", mostShares)))
	}
	return append(list,
		attn.Let("blocks", fmt.Sprintf("min(items*tiles, SMs*%d)", c.BlocksPerSM)),
		attn.Let("left", "items % blocks"),
		attn.Let("quota", fmt.Sprintf("left > 0 ? max(cdiv(left*tiles, blocks), cdiv(tiles, %d)) : 0", mostShares)))
}

// causalLets returns per_head, the KV tiles of all items of a head under a causal mask: those of the
// items before the last one as [part.Ranges] counts them, and those of the last one.
func (c Config) causalLets() []kernel.Binding {
	a, b := c.rows()/64, c.TileN/64
	sum := fmt.Sprintf("%d*(full*(full + 1)/2) + full*(extra/%d)", a/b, b)
	if a%b != 0 {
		sum = fmt.Sprintf("(%d*(full*(full + 1)/2) + extra*full - (full + 1 - extra%%2)/2)/2", a)
	}
	return []kernel.Binding{
		attn.Let("full", fmt.Sprintf("cdiv(Sq, %d) - 1", c.rows())),
		attn.Let("extra", fmt.Sprintf("(max(Skv - Sq, 0) + %d)/64", c.TileN-1)),
		attn.Let("per_head", sum+" + tiles"),
	}
}

// division is how the work of a problem is divided over balanced blocks.
type division struct{ tiles, whole, left, quota int }

// divide returns the division that lets describes.
func (c Config) divide(p problem.Attention, sms int) division {
	items, tiles := p.B*p.Hq*ceil(p.Sq, c.rows()), ceil(p.Skv, c.TileN)
	if p.Causal {
		perHead := tiles
		for last := c.rows(); last < p.Sq; last += c.rows() {
			perHead += c.tiles(p, last)
		}
		blocks := min(p.B*p.Hq*perHead, sms*c.BlocksPerSM)
		return division{tiles: tiles, whole: ceil(items, blocks), quota: max(ceil(p.B*p.Hq*perHead, blocks), ceil(tiles, mostShares))}
	}
	blocks := min(items*tiles, sms*c.BlocksPerSM)
	d := division{tiles: tiles, whole: items / blocks, left: items % blocks}
	if d.left > 0 {
		d.quota = max(ceil(d.left*tiles, blocks), ceil(tiles, mostShares))
	}
	return d
}

// workspaces returns the memory for parts.
func (c Config) workspaces(p problem.Attention) []kernel.Operand {
	if !c.Balanced {
		return nil
	}
	places, shared := "left > 0 ? left + blocks : 0", "left"
	if p.Causal {
		places, shared = "2*blocks", "blocks"
	}
	warps := 4 * c.Warpgroups
	return []kernel.Operand{
		{Name: "parts", Type: "f32", Role: kernel.Workspace, Dims: attn.Exprs(places, fmt.Sprint(warps*partUnits(p.DimV())), "32", "4"), Init: kernel.AsIs},
		{Name: "arrived", Type: "u32", Role: kernel.Workspace, Dims: attn.Exprs(shared, fmt.Sprint(warps)), Init: kernel.ZeroOnce},
	}
}

// partUnits returns how many units of four elements a lane has of a part.
func partUnits(dv int) int { return dv/2/4 + 1 }

// declareParts declares the parameters of a balanced kernel.
func (g *gen) declareParts(params *attn.Params) {
	g.parts = parts{values: params.Floats("parts"), arrived: params.Words("arrived")}
	if g.p.Causal {
		g.parts.ranges = &part.Ranges{Quota: params.U32("quota", "quota"), PerHead: params.U32("perHead", "per_head")}
		return
	}
	g.parts.balance = &part.Balance{Left: params.U32("left", "left"), Quota: params.U32("quota", "quota"), Tiles: params.U32("tiles", "tiles")}
}

// endPart ends an item that may be a part of one. A warp whose part is not the last one that is
// written stores no output.
func (a *consumer) endPart(it part.Item, reference, l []build.F32) {
	g := a.g
	k := g.k
	complete := build.NewVar(k.U32(1))
	references, sums := asVars(reference), asVars(l)
	k.If(g.work.IsPart(it), func() {
		shared := g.work.Shared(it)
		a.storePart(shared, reference, l)
		last := a.lastPart(shared)
		complete.Set(k.U32(1).Selp(0, last))
		k.If(last, func() { a.mergeParts(shared, references, sums) })
	})
	k.If(complete.Get().SetpEq(1), func() { a.store(it, values(references), values(sums)) })
}

// asVars returns variables that begin with the given values.
func asVars(list []build.F32) (vars []*build.Var[build.F32]) {
	for _, x := range list {
		vars = append(vars, build.NewVar(x))
	}
	return vars
}

// values returns the values of variables.
func values(vars []*build.Var[build.F32]) (list []build.F32) {
	for _, v := range vars {
		list = append(list, v.Get())
	}
	return list
}

// warp returns the number of the warp among the warps of the block that compute.
func (a *consumer) warp() build.U32 {
	return a.g.uniform(a.g.group.Sub(1).Shl(2).Add(a.wg.Thread.Shr(5)))
}

// places returns where the lane's first unit of a part is, by the place of the part.
func (a *consumer) places() func(place build.U32) build.Global[build.F32] {
	warp := partUnits(a.g.dv) * 32 * 16 // bytes
	first := a.g.parts.values.Addr().Add(a.warp().MulWide(warp)).Add(a.wg.Lane.MulWide(16))
	return func(place build.U32) build.Global[build.F32] {
		return build.GlobalAt[build.F32](first.Add(place.MulWide(4 * a.g.c.Warpgroups * warp)))
	}
}

// storePart writes the lane's elements of O, its references and its sums.
func (a *consumer) storePart(s part.Shared, reference, l []build.F32) {
	to := a.places()(s.Mine)
	units := partUnits(a.g.dv)
	for u := range units - 1 {
		to.Plus(128 * u).StV4([4]build.F32{a.O.Get(4 * u), a.O.Get(4*u + 1), a.O.Get(4*u + 2), a.O.Get(4*u + 3)})
	}
	to.Plus(128 * (units - 1)).StV4([4]build.F32{reference[0], reference[1], l[0], l[1]})
}

// lastPart reports whether the warps of the other blocks have written their parts of these rows. The
// counter returns to 0 with the last part. The atomic operation releases what this warp has written
// and acquires what the earlier ones have written.
func (a *consumer) lastPart(s part.Shared) build.Pred {
	g := a.g
	k := g.k
	before := build.NewVar(k.U32(0))
	counter := g.parts.arrived.At(s.Number.MadLo(4*g.c.Warpgroups, a.warp()))
	k.BarWarpSync(k.FullMask()) // all lanes have written
	k.If(a.wg.Lane.SetpEq(0), func() {
		before.Set(counter.Atom(build.AtomicInc, s.Parts.Sub(1), build.AcqRel, build.Gpu))
	})
	k.BarWarpSync(k.FullMask()) // what lane 0 has acquired is visible to all
	return g.uniform(before.Get()).SetpEq(s.Parts.Sub(1))
}

// mergeParts sums the parts into O and sets the references and the sums of the rows. Part i has the
// weight 2^(r - r_i), where r is the smallest reference.
func (a *consumer) mergeParts(s part.Shared, references, sums []*build.Var[build.F32]) {
	g := a.g
	k := g.k
	units := partUnits(g.dv)
	place := a.places()
	at := func(i build.U32) build.Global[build.F32] { return place(s.Place(i)) }
	stats := func(i build.U32) [4]build.F32 { return at(i).Plus(128 * (units - 1)).LdV4() }
	k.Loop(0, s.Parts, 1, func(i build.U32) {
		x := stats(i)
		for slot, r := range references {
			r.Set(r.Get().Min(x[slot], build.NaN))
		}
	})
	for _, l := range sums {
		l.Set(0)
	}
	a.O.Fill(k.F32(0))
	k.Loop(0, s.Parts, 1, func(i build.U32) {
		x := stats(i)
		var w []build.F32
		for slot, r := range references {
			w = append(w, r.Get().Sub(x[slot], build.Rn).Ex2Approx(build.Ftz))
			sums[slot].Set(x[slots+slot].FmaRn(w[slot], sums[slot].Get()))
		}
		from := at(i)
		for u := range units - 1 {
			for e, y := range from.Plus(128 * u).LdV4() {
				a.O.Set(4*u+e, y.FmaRn(w[e/2], a.O.Get(4*u+e)))
			}
		}
	})
}
