package check

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

var (
	groupEarly = rule{
		"the accumulators of wgmma.mma_async, and a in registers, belong to it until a wgmma.wait_group that covers it",
		"commit the product and wait for its group before the registers are touched",
	}
	groupUncommitted = rule{
		"wgmma.wait_group waits for committed groups; no wait covers a product that is not committed",
		"put wgmma.commit_group between the product and the wait",
	}
	groupMoved = rule{
		"the accumulators of wgmma.mma_async belong to it until the wait; the compiler moves them earlier, so the assembler waits there and the overlap is lost",
		"compile with optimisation, or keep the accumulators out of arrays that the compiler puts into local memory",
	}
	groupFence = rule{
		"wgmma.fence orders the accesses of a warp to registers before the products that use them; it is needed before the first product and after every write to an accumulator or to a",
		"put wgmma.fence.sync.aligned between the last write and the first wgmma.mma_async",
	}
	groupShape = rule{
		"only products of the same shape may follow each other on an accumulator without wgmma.fence",
		"put wgmma.fence.sync.aligned between the two products",
	}
	groupDiffer = rule{
		"the four warps of a warpgroup execute one product: instruction, descriptors and scale-d must be the same in all of them, and in all lanes",
		"compute them from values that are the same in the whole warpgroup, not from the index of the thread or the warp",
	}
	groupLeft = rule{
		"no warp waits for the product, so its results are lost and its tile may be overwritten before it is read",
		"wait for its group before the kernel ends, or remove the product",
	}
)

// reportEarly reports an instruction that accesses a register of a running product.
func (w *groupWatch) reportEarly(g *groupWarp, in *groupInst, s *observe.Step, r *groupReg, i int, write bool) {
	k := r.work
	d := finding.Finding{Kind: WgmmaHazard, Severity: finding.Error, Place: w.c.at(s.ID, s.Rank, s.Warp, s.Mask)}
	text := groupEarly
	switch {
	case in.moves && k.inst.compiled && !w.visible(s):
		d.Severity, text = finding.Warning, groupMoved
	case k.group == g.groups:
		text = groupUncommitted
	case r.input && !write:
		d.Severity = finding.Warning
	}
	if k.reported[d.Severity] {
		return
	}
	k.reported[d.Severity] = true
	verb, role := "reads", "an accumulator of"
	d.Action = "read"
	if write {
		verb, d.Action = "writes", "write"
	}
	if r.input {
		role = "an input of"
	}
	state := "before the wait for it"
	if k.group == g.groups {
		state = "which is not committed yet"
	}
	other := w.c.at(k.id, s.Rank, s.Warp, s.Mask)
	other.Action = "asynchronous product"
	d.Other = &other
	d.Message = fmt.Sprintf("%s %s %s, %s the product of line %d, %s",
		s.Op.Text, verb, w.p.regs[i].Name, role, other.Pos.Line, state)
	w.c.report(text.of(d))
}

// visible reports whether a store goes to memory that other threads can see.
func (w *groupWatch) visible(s *observe.Step) bool {
	if s.Op.Name != "st" {
		return false
	}
	seen := false
	s.Lanes(func(l int) {
		space, _ := s.Address(s.Arg("a"), s.Space("a"), l)
		seen = seen || space != ptx.Local && space != ptx.Param
	})
	return seen
}

// reportUnfenced reports a product without a fence. r is a register that was written after the last
// fence, or nil if there was no fence at all.
func (w *groupWatch) reportUnfenced(g *groupWarp, in *groupInst, s *observe.Step, r *groupReg) {
	d := finding.Finding{
		Kind: WgmmaHazard, Severity: finding.Error, Place: w.c.at(s.ID, s.Rank, s.Warp, s.Mask),
		Message: "there is no wgmma.fence before the first wgmma.mma_async of the warp",
	}
	d.Action = "asynchronous product"
	if r != nil {
		other := w.c.at(r.wrote, s.Rank, s.Warp, s.Mask)
		other.Action = "write"
		d.Other = &other
		what := "without a wgmma.fence in between"
		if !g.fenced {
			what = "and there is no wgmma.fence before"
		}
		d.Message = fmt.Sprintf("wgmma.mma_async uses registers that %s at line %d wrote, %s", other.Inst, other.Pos.Line, what)
	}
	w.c.report(groupFence.of(d))
	for _, regs := range [][]int{in.d, in.a} { // report these writes once
		for _, i := range regs {
			g.regs[i].wrote = -1
		}
	}
}

// reportReshaped reports a product whose shape differs from that of the last product on its
// accumulators.
func (w *groupWatch) reportReshaped(in *groupInst, s *observe.Step, r *groupReg) {
	d := finding.Finding{
		Kind: WgmmaHazard, Severity: finding.Error, Place: w.c.at(s.ID, s.Rank, s.Warp, s.Mask),
		Message: fmt.Sprintf("a product of shape %s follows one of shape %s on the same accumulators without a wgmma.fence", in.shape, r.shape),
	}
	if r.work != nil {
		other := w.c.at(r.work.id, s.Rank, s.Warp, s.Mask)
		d.Other = &other
	}
	w.c.report(groupShape.of(d))
}

// checkEnd reports a running product when the last lanes of a warp end.
func (w *groupWatch) checkEnd(g *groupWarp, s *observe.Step) {
	if s.Live&^s.Mask != 0 || len(g.running) == 0 {
		return
	}
	for _, k := range g.running {
		if k.reported[finding.Error] { // the missing wait has been reported
			return
		}
	}
	k := g.running[0]
	here := w.c.at(s.ID, s.Rank, s.Warp, s.Mask)
	here.Action = "end"
	d := finding.Finding{
		Kind: WgmmaHazard, Severity: finding.Warning, Place: w.c.at(k.id, s.Rank, s.Warp, s.Mask), Other: &here,
		Message: "the warp ends without a wait for this product",
	}
	w.c.report(groupLeft.of(d))
	g.running = nil
}

// warpgroup is the products that its four warps execute together.
type warpgroup struct {
	products map[int]*sharedProduct // by number; until all four warps have executed it
}

// sharedProduct is a product with the operands that the first warp gave.
type sharedProduct struct {
	id, warp    int
	a, b, scale uint64
	seen        int
}

// compare compares the operands of a product with those that other warps of the warpgroup gave.
func (w *groupWatch) compare(g *groupWarp, s *observe.Step) {
	key := s.Rank<<16 | s.Warp/4
	group := w.groups[key]
	if group == nil {
		group = &warpgroup{map[int]*sharedProduct{}}
		w.groups[key] = group
	}
	mine := sharedProduct{id: s.ID, warp: s.Warp, seen: 1}
	differs := ""
	for _, o := range []struct {
		name string
		to   *uint64
	}{{"aDesc", &mine.a}, {"bDesc", &mine.b}, {"scaleD", &mine.scale}} {
		arg := s.Arg(o.name)
		if arg == nil {
			continue
		}
		first := true
		s.Lanes(func(l int) {
			v := s.Value(arg, l)
			if first {
				*o.to, first = v, false
			} else if v != *o.to {
				differs = o.name
			}
		})
	}
	if differs != "" {
		w.reportDifference(s, fmt.Sprintf("%s of wgmma.mma_async differs between the lanes of a warp", differs), nil)
	}
	first := group.products[g.issued]
	if first == nil {
		group.products[g.issued] = &mine
		return
	}
	if first.seen++; first.seen == 4 {
		delete(group.products, g.issued)
	}
	switch {
	case first.id != mine.id:
		differs = "the instruction"
	case first.a != mine.a:
		differs = "aDesc"
	case first.b != mine.b:
		differs = "bDesc"
	case first.scale != mine.scale:
		differs = "scaleD"
	default:
		return
	}
	w.reportDifference(s, fmt.Sprintf("%s of wgmma.mma_async differs between warps %d and %d of a warpgroup", differs, first.warp, s.Warp), first)
}

// reportDifference reports operands that differ between lanes or warps. first is the product of
// the first warp, or nil.
func (w *groupWatch) reportDifference(s *observe.Step, message string, first *sharedProduct) {
	d := finding.Finding{Kind: WgmmaHazard, Severity: finding.Error, Message: message, Place: w.c.at(s.ID, s.Rank, s.Warp, s.Mask)}
	d.Action = "asynchronous product"
	if first != nil {
		other := w.c.at(first.id, s.Rank, first.warp, 0)
		other.Action = "asynchronous product"
		d.Other = &other
	}
	w.c.report(groupDiffer.of(d))
}
