package explain

import (
	"math"
	"math/bits"

	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// loop is a natural loop of the program.
type loop struct {
	head  int32          // its first instruction
	ids   map[int32]bool // its instructions
	inner bool           // it lies in another serial loop
}

// fewShare is the share of a block's threads up to which a loop counts as serial.
const fewShare = 1.0 / 8

// leastRounds is the number of iterations from which a serial loop is worth a change.
const leastRounds = 8

// serialLoops tries to spread loops that few threads of a block execute over all its threads.
func (f *finder) serialLoops() {
	for _, l := range f.loops() {
		u := f.usage(l)
		if l.inner || !u.serial() {
			continue
		}
		keep := u.spread()
		s := f.spots[keyOf(&f.l.Program[l.head])]
		f.add(candidate{Change: Change{Kind: "serial reduction"}, trace: f.shorten(l, keep)}, s,
			"spread the loop at %s over all threads of the block: %s %d iterations, a tree takes about %d steps",
			s.place(), u.who(), u.rounds, keep)
	}
}

// usage is how the blocks of the recorded clusters execute a loop.
type usage struct {
	threads, warps, lanes, rounds int
	synchronises                  bool
}

// serial reports whether few threads execute many iterations on their own.
func (u *usage) serial() bool {
	return !u.synchronises && u.rounds >= leastRounds && u.threads >= 64 && float64(u.warps*u.lanes) <= fewShare*float64(u.threads)
}

// spread returns the steps of the loop if all threads share its iterations: their part of the
// iterations, and the levels of a tree.
func (u *usage) spread() int {
	values := float64(u.rounds * u.warps * u.lanes)
	part := int(math.Ceil(values / float64(u.threads)))
	return min(u.rounds, part+bits.Len(uint(min(u.rounds, u.threads)-1)))
}

func (u *usage) who() string {
	if u.warps == 1 && u.lanes == 1 {
		return "one thread runs"
	}
	return "few threads run"
}

// usage returns the largest use of a loop by any block.
func (f *finder) usage(l loop) (u usage) {
	for _, c := range f.l.Clusters {
		for b := range c.Blocks {
			warps := 0
			for _, path := range c.Blocks[b].Warps {
				rounds := 0
				for _, e := range path {
					if !l.ids[e.ID] {
						continue
					}
					if e.Fact >= 0 {
						fact := &c.Facts[e.Fact]
						u.synchronises = u.synchronises || fact.Waits >= 0 || len(fact.Arrivals) > 0 || len(fact.Works) > 0
					}
					if e.ID == l.head {
						rounds++
						u.lanes = max(u.lanes, int(e.Lanes))
					}
				}
				if rounds > 0 {
					warps++
				}
				u.rounds = max(u.rounds, rounds)
			}
			u.warps, u.threads = max(u.warps, warps), max(u.threads, c.Blocks[b].Threads)
		}
	}
	return u
}

// shorten returns a trace in which warps execute at most n iterations of a loop each time they
// enter it: the first ones and the last one.
func (f *finder) shorten(l loop, n int) *warptrace.Launch {
	edited := *f.l
	edited.Clusters = nil
	for _, c := range f.l.Clusters {
		cluster := *c
		cluster.Blocks = nil
		for _, b := range c.Blocks {
			block := warptrace.Block{Threads: b.Threads}
			for _, path := range b.Warps {
				block.Warps = append(block.Warps, l.cut(path, n))
			}
			cluster.Blocks = append(cluster.Blocks, block)
		}
		edited.Clusters = append(edited.Clusters, &cluster)
	}
	return &edited
}

// cut removes iterations from the path of a warp.
func (l *loop) cut(path []warptrace.Event, n int) (out []warptrace.Event) {
	for i := 0; i < len(path); {
		if !l.ids[path[i].ID] {
			out = append(out, path[i])
			i++
			continue
		}
		var starts []int
		end := i
		for ; end < len(path) && l.ids[path[end].ID]; end++ {
			if path[end].ID == l.head {
				starts = append(starts, end)
			}
		}
		if len(starts) > n {
			out = append(out, path[i:starts[n-1]]...)
			i = starts[len(starts)-1]
		}
		out = append(out, path[i:end]...)
		i = end
	}
	return out
}

// loops returns the natural loops of all functions, outer loops first.
func (f *finder) loops() (list []loop) {
	ids := map[*ptx.Inst]int32{}
	seen := map[*ptx.Func]bool{}
	var funcs []*ptx.Func
	for i := range f.l.Program {
		in := &f.l.Program[i]
		ids[in.Inst] = int32(i)
		if in.Func != nil && !seen[in.Func] {
			seen[in.Func] = true
			funcs = append(funcs, in.Func)
		}
	}
	for _, fn := range funcs {
		g := verify.NewCFG(fn)
		for n := range g.Loops {
			if l, ok := loopOf(g, n, ids); ok {
				list = append(list, l)
			}
		}
	}
	for i := range list {
		for j := range list {
			if i != j && len(list[j].ids) > len(list[i].ids) && list[j].ids[list[i].head] {
				u := f.usage(list[j])
				list[i].inner = list[i].inner || u.serial()
			}
		}
	}
	return list
}

func loopOf(g *verify.CFG, n int, ids map[*ptx.Inst]int32) (loop, bool) {
	l := loop{head: -1, ids: map[int32]bool{}}
	for b := range g.Blocks {
		if !g.InLoop(b, n) {
			continue
		}
		for _, s := range g.Func.Body[g.Blocks[b].Start:g.Blocks[b].End] {
			in, ok := s.(*ptx.Inst)
			if !ok {
				continue
			}
			id, ok := ids[in]
			if !ok {
				continue
			}
			l.ids[id] = true
			if b == g.Loops[n].Header && l.head < 0 {
				l.head = id
			}
		}
	}
	return l, l.head >= 0
}
