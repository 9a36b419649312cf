package check

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Lanes of a warp may reach the same barrier in different rounds of a loop. They wait at the same
// instruction but do not execute it together: some lanes have skipped it in an earlier round. So
// the rounds of loops around barriers are counted for each lane.

// rounds says where rounds of loops around barriers are counted. Loops have numbers.
type rounds struct {
	n      int           // number of loops
	counts map[int][]int // by instruction: the loops whose rounds it counts
	around map[int][]int // by barrier: the loops around it
}

// loop is a natural loop with one latch: the blocks between its header and the latch.
type loop struct {
	header, latch int
	body          map[int]bool
}

// newRounds finds the loops around the aligned barriers of a program.
func newRounds(l *launch) *rounds {
	r := &rounds{counts: map[int][]int{}, around: map[int][]int{}}
	ids := map[*ptx.Inst]int{}
	bars := map[*ptx.Func][]*ptx.Inst{}
	for id := range l.Program {
		in := &l.Program[id]
		ids[in.Inst] = id
		if isAlignedBarrier(in.Op.Text) {
			bars[in.Func] = append(bars[in.Func], in.Inst)
		}
	}
	for f, list := range bars {
		r.function(f, list, ids)
	}
	return r
}

func (r *rounds) function(f *ptx.Func, bars []*ptx.Inst, ids map[*ptx.Inst]int) {
	g := verify.NewCFG(f)
	loops := loopsOf(g)
	known := map[string]int{}
	for b := range g.Blocks {
		for _, in := range instsOf(f, &g.Blocks[b]) {
			if !slices.Contains(bars, in) {
				continue
			}
			for header, latches := range latchesAround(loops, b) {
				insts := countable(f, g, latches, ids)
				if insts == nil {
					continue
				}
				name := fmt.Sprint(header, insts)
				at, ok := known[name]
				if !ok {
					at = r.n
					r.n++
					known[name] = at
					for _, id := range insts {
						r.counts[id] = append(r.counts[id], at)
					}
				}
				r.around[ids[in]] = append(r.around[ids[in]], at)
			}
		}
	}
}

// loopsOf returns the natural loops of a function.
func loopsOf(g *verify.CFG) (all []loop) {
	for latch := range g.Blocks {
		if !g.Reachable(latch) {
			continue
		}
		for _, header := range g.Blocks[latch].Succs {
			if g.Dominates(header, latch) {
				all = append(all, loop{header, latch, bodyOf(g, header, latch)})
			}
		}
	}
	return all
}

// bodyOf returns the header and the blocks that reach the latch without the header.
func bodyOf(g *verify.CFG, header, latch int) map[int]bool {
	body := map[int]bool{header: true}
	for work := []int{latch}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !body[b] {
			body[b] = true
			work = append(work, g.Blocks[b].Preds...)
		}
	}
	return body
}

// latchesAround returns the latches of the loops around a block, by header. It leaves out a loop
// if one of its latches lies in an inner loop, where it can run more than once per round.
func latchesAround(loops []loop, block int) map[int][]int {
	by, never := map[int][]int{}, map[int]bool{}
	for i := range loops {
		l := &loops[i]
		if !l.body[block] {
			continue
		}
		by[l.header] = append(by[l.header], l.latch)
		for j := range loops {
			if w := &loops[j]; w.body[l.latch] && !w.body[block] {
				never[l.header] = true
			}
		}
	}
	for header := range never {
		delete(by, header)
	}
	return by
}

// countable returns one instruction without a guard per block, or nil if a block has none.
func countable(f *ptx.Func, g *verify.CFG, blocks []int, ids map[*ptx.Inst]int) (list []int) {
	for _, b := range blocks {
		found := false
		for _, in := range instsOf(f, &g.Blocks[b]) {
			if id, ok := ids[in]; ok && in.Guard.Sym == nil {
				list, found = append(list, id), true
				break
			}
		}
		if !found {
			return nil
		}
	}
	return list
}

func instsOf(f *ptx.Func, b *verify.Block) (list []*ptx.Inst) {
	for _, s := range f.Body[b.Start:b.End] {
		if in, ok := s.(*ptx.Inst); ok {
			list = append(list, in)
		}
	}
	return list
}

// count counts a round of each of the loops for the lanes of a step.
func (b *barrierWatch) count(s *observe.Step, loops []int) {
	of := b.rounds[s.Rank][s.Warp]
	if of == nil {
		of = make([][32]uint32, b.p.rounds.n)
		b.rounds[s.Rank][s.Warp] = of
	}
	for _, at := range loops {
		s.Lanes(func(l int) { of[at][l]++ })
	}
}

// inRound reports whether the lanes of y are in the same rounds of all loops as the lanes of x.
func (b *barrierWatch) inRound(at warpBar, x, y *arrival) bool {
	of := b.rounds[at.rank][at.warp]
	if of == nil {
		return true
	}
	for _, loop := range b.p.rounds.around[x.id] {
		n := of[loop][lane(x.lanes)]
		for m := y.lanes; m != 0; m &= m - 1 {
			if of[loop][lane(m)] != n {
				return false
			}
		}
	}
	return true
}
