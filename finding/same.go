package finding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Key is what makes two findings the same one: the kind, the kernel and the places
// of both accesses. A place is its source line with the calls that lead to it, so
// that an unrolled loop is one place. Where the source is not known, the place is
// the position in the PTX. A finding without any place is told apart by its message.
//
// Threads, addresses and messages are not part of a key: they differ between the
// threads and iterations that do the same thing wrong.
type Key struct {
	kind          Kind
	kernel        string
	first, second spot
	message       string
}

// spot is a place as a Key sees it.
type spot struct {
	source string
	pos    ptx.Pos
}

func spotOf(p *Place) spot {
	if p.Source == "" {
		return spot{pos: p.Pos}
	}
	if len(p.Callers) == 0 {
		return spot{source: p.Source}
	}
	return spot{source: p.Source + " " + strings.Join(p.Callers, " ")}
}

// Key returns the key of the finding.
func (f *Finding) Key() Key {
	k := Key{kind: f.Kind, kernel: f.Kernel, first: spotOf(&f.Place)}
	if f.Other != nil {
		k.second = spotOf(f.Other)
	}
	if k.first == (spot{}) {
		k.message = f.Message
	}
	return k
}

// Turned returns the key of the same race with its accesses exchanged. ok is false if the finding is no race
// of two places.
func (k Key) Turned() (turned Key, ok bool) {
	turned = k
	turned.first, turned.second = k.second, k.first
	return turned, k.second != (spot{}) && k.first != k.second
}

// Same reports whether two findings are the same one.
//
// Which access of a race comes second depends on the schedule, so another schedule
// may show the accesses exchanged. Within one schedule that is another race: a loop
// can have one before and one after its barrier.
func Same(f, g *Finding) bool {
	k := f.Key()
	return k == g.Key() || f.Schedule != g.Schedule && Turned(f, g)
}

// Turned reports whether two findings are a race and the same race with its
// accesses exchanged.
func Turned(f, g *Finding) bool {
	k, ok := f.Key().Turned()
	return ok && g.Other != nil && k == g.Key()
}

// Merge adds g, which is the same finding seen later, to f. The counts add up. The
// worse severity replaces the other. Otherwise f stays, with the lanes of both where the same
// warps are concerned.
func (f *Finding) Merge(g *Finding) {
	n := max(f.Count, 1) + max(g.Count, 1)
	if g.Severity.worse(f.Severity) {
		schedule := f.Schedule
		*f = *g
		f.Schedule = schedule
	} else {
		f.join(g)
	}
	f.Count = n
}

// join adds the lanes and addresses of g where the same warps are concerned. Where an
// instruction races within a warp and also between warps, the advice that repairs
// both is kept.
func (f *Finding) join(g *Finding) {
	if (f.Other == nil) != (g.Other == nil) {
		return
	}
	if sameThreads(&f.Place, &g.Place) && (f.Other == nil || sameThreads(f.Other, g.Other)) {
		f.Lanes |= g.Lanes
		f.Place.widen(&g.Place)
		if f.Other != nil {
			other := *f.Other
			other.Lanes |= g.Other.Lanes
			other.widen(g.Other)
			f.Other = &other
		}
	}
	f.pair(g)
	if f.Other != nil && sameThreads(&f.Place, f.Other) && !sameThreads(&g.Place, g.Other) {
		f.Why, f.Fix = g.Why, g.Fix
	}
}

// mostPairs is how many other pairs of warps a finding names.
const mostPairs = 7

// pair adds the warps of g if they are not those of f. Which warp comes first depends on the
// schedule, so a pair names the lower one first.
func (f *Finding) pair(g *Finding) {
	if f.Other == nil || f.Var != g.Var || f.Size != g.Size {
		return
	}
	first, last := g.span()
	for _, p := range append(g.Pairs[:len(g.Pairs):len(g.Pairs)], Pair{g.Warp, g.Other.Warp, Span{first, last}}) {
		p.Warp, p.Other = min(p.Warp, p.Other), max(p.Warp, p.Other)
		if p.Warp == p.Other || p.Warp == min(f.Warp, f.Other.Warp) && p.Other == max(f.Warp, f.Other.Warp) {
			continue
		}
		i := slices.IndexFunc(f.Pairs, func(q Pair) bool { return q.Warp == p.Warp && q.Other == p.Other })
		switch {
		case i >= 0 && (p.Span.First < f.Pairs[i].Span.First || p.Span.Last > f.Pairs[i].Span.Last):
			f.Pairs = slices.Clone(f.Pairs) // copies of the finding share it
			old := f.Pairs[i].Span
			f.Pairs[i].Span = Span{min(old.First, p.Span.First), max(old.Last, p.Span.Last)}
		case i < 0 && len(f.Pairs) < mostPairs:
			f.Pairs = append(f.Pairs[:len(f.Pairs):len(f.Pairs)], p)
		}
	}
}

// Fingerprint identifies the finding to tools that compare the results of two
// versions of a kernel. It has no line numbers, since every edit above a line
// changes the number and leaves the instruction as it is.
func (f *Finding) Fingerprint() string {
	return strings.Join([]string{string(f.Kind), f.Kernel, f.Func, f.Inst, f.Var}, "/")
}

// Sort orders findings by their position in the PTX text. Findings at the same
// position keep their order.
func Sort(found []Finding) {
	sorted.By(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}
