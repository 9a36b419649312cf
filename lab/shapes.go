package lab

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
)

// Depth says how many shapes Measure derives from the structure of a kernel, in addition to
// the shapes that a plan lists.
type Depth int

// The depths.
const (
	Listed       Depth = iota // only the shapes of the plan
	RingsOnly                 // shapes that fill every ring of tiles more than twice, or that have many parts to merge
	RingsAndEdge              // also tile edges, all kinds of remainders, grids of many blocks, grouped heads
	MoreEdges                 // twice as many remainders, and longer sequences
)

// structure holds the sizes inside a kernel. Mistakes hide at their multiples.
type structure struct {
	tileQ, tileKV int
	ring          int // keys that fill every ring of tiles once
	chunk         int // keys of a block, 0 if their number is not fixed
}

// structureOf reads the structure of a kernel from its contract. A kernel that does not state
// a size gets one that is usual for attention kernels.
func structureOf(k *kernel.Kernel) structure {
	size := func(name string, usual int) int {
		if n := k.Structure[name]; n > 0 {
			return n
		}
		return usual
	}
	s := structure{tileQ: size("tile_q", 64), tileKV: size("tile_kv", 64)}
	s.ring = s.tileKV * size("stages", 3) * size("split", 1)
	s.chunk = k.Structure["chunk"]
	return s
}

// deriver chooses shapes for one kernel.
type deriver struct {
	structure
	m      *measurement
	random *rand.Rand
}

// newDeriver returns a deriver for the subject of a measurement. Its random numbers depend on
// the seed of the plan and on the kernel's identity. An author therefore cannot compute the
// shapes, and the recorded seed gives the same shapes again.
func newDeriver(m *measurement) *deriver {
	h := fnv.New64a()
	h.Write([]byte(m.s.Identity()))
	return &deriver{structureOf(m.s.Kernel), m, rand.New(rand.NewPCG(h.Sum64(), m.p.Seed))}
}

// doubtful reports whether the kernel states a structure that may be wrong: smaller tiles and fewer stages than it
// has would keep the checkers from the lengths at which its rings wrap.
func (d *deriver) doubtful() bool { return len(d.m.s.Structure) > 0 && !d.m.s.preset }

// derive adds the shapes that the user wants and the shapes of the plan's depth to the plan. A
// list that is empty stays empty: its gate is not wanted.
func (m *measurement) derive() {
	d := newDeriver(m)
	if len(m.p.Defects.Shapes) > 0 {
		m.p.Defects.Shapes = slices.Clone(m.p.Defects.Shapes)
		for _, s := range m.p.Wanted {
			m.p.Defects.Shapes = append(m.p.Defects.Shapes, d.reduced(s))
		}
		m.p.Defects.Shapes = append(m.p.Defects.Shapes, d.watched()...)
		if d.doubtful() {
			usual := *d
			usual.structure = structureOf(&kernel.Kernel{})
			m.p.Defects.Shapes = append(m.p.Defects.Shapes, usual.watched()...)
		}
	}
	if len(m.p.Cases) > 0 {
		m.p.Cases = append(slices.Clone(m.p.Cases), d.cases()...)
		m.lengths = d.sweep()
	}
	d.addConditional()
	m.broaden()
	if m.p.Counters != (problem.Shape{}) && len(m.p.Wanted) > 0 {
		m.p.Counters = d.reduced(m.p.Wanted[0])
	}
}

// mostWatchedFLOP is the size of a problem that the checkers run in a few seconds per schedule.
const mostWatchedFLOP = 1.5e8

// reduced returns a shape, or a smaller one if the shape is too large for the emulator with its
// observers. The smaller one still groups heads, fills every ring twice, and leaves the same
// remainders of tiles: it has fewer batches, then fewer heads, then fewer rows, then fewer keys.
func (d *deriver) reduced(s problem.Shape) problem.Shape {
	large := func() bool { return s.FLOP() > mostWatchedFLOP }
	if large() {
		s.B = min(s.B, 2)
	}
	if large() {
		group := s.Hq / s.Hkv
		s.Hkv = min(s.Hkv, 2)
		s.Hq = group * s.Hkv
	}
	fewer := func(n, tile, least int) int { return min(n, least+n%tile) }
	if short := fewer(s.Sq, d.tileQ, d.tileQ); large() && d.m.s.ServesShape(problem.Shape{B: s.B, Hq: s.Hq, Hkv: s.Hkv, Sq: short, Skv: s.Skv, D: s.D, DV: s.DV}) == nil {
		s.Sq = short
	}
	if large() {
		same := s.Sq == s.Skv
		s.Skv = fewer(s.Skv, d.tileKV, 2*d.ring)
		if same {
			s.Sq = s.Skv
		}
	}
	return s
}

// shape returns a shape that the kernel supports and that is as close as possible to the given
// extents: group query heads per head of K and V, or 1 where the kernel does not group heads;
// and the larger length for both where the kernel demands equal lengths.
func (d *deriver) shape(b, heads, group, sq, skv int) (problem.Shape, bool) {
	if d.m.s.fewerQueries() {
		for skv < sq {
			skv += d.tileKV
		}
	}
	long := max(sq, skv)
	for _, s := range []problem.Shape{
		{B: b, Hq: heads * group, Hkv: heads, Sq: sq, Skv: skv}, {B: b, Hq: heads * group, Hkv: heads * group, Sq: sq, Skv: skv},
		{B: b, Hq: heads * group, Hkv: heads, Sq: long, Skv: long}, {B: b, Hq: heads * group, Hkv: heads * group, Sq: long, Skv: long},
	} {
		s = s.WithHeadDim(d.m.heads)
		if d.m.s.ServesShape(s) == nil {
			return s, true
		}
	}
	s, _, ok := d.m.served(length(b, heads*group, long).WithHeadDim(d.m.heads))
	return s, ok
}

// within returns a random number from low to high.
func (d *deriver) within(low, high int) int { return low + d.random.IntN(max(high-low+1, 1)) }

// extents are the arguments of deriver.shape.
type extents struct{ b, heads, group, sq, skv int }

// watched returns the shapes for the checkers. They have few rows and many keys: the checkers
// need a tenth of a second per schedule for most of them.
func (d *deriver) watched() []problem.Shape {
	if d.m.p.Depth == Listed {
		return nil
	}
	list := []extents{
		// Each ring is filled twice, and then by a part: a slot is used again while its
		// barrier has either parity.
		{1, 1, 1, 1, 2*d.ring + d.within(1, d.tileKV-1)},
	}
	if d.chunk > 2*d.ring { // two blocks share the keys
		list = append(list, extents{1, 1, 1, 1, d.chunk + d.within(1, d.tileKV-1)})
	}
	if d.hasWorkspace() { // the partial results of a full tile of rows
		list = append(list, extents{1, 1, 2, d.someRows() / 2, max(d.chunk, 2*d.ring) + d.within(1, d.tileKV-1)})
	}
	list = append(list, d.parts()...)
	if d.m.p.Depth >= RingsAndEdge {
		list = append(list,
			extents{1, 1, 2, d.tileQ + 1, d.ring + 1},
			extents{2, 2, 2, d.tileQ - 1, d.tileKV - 1},
			extents{3, 3, 3, d.within(1, 33), d.tileKV + d.within(1, d.tileKV-1)}, // 27 heads: several work items per block
			extents{1, 1, 1, 1, 1},
			extents{2, 3, 1, d.tileQ / 2, d.tileKV/2 + 1},
			// Persistent blocks have an odd number of work items above, and an even one and an odd one here: 16 items on
			// three SMs. What follows the last item then uses either slot of a ring of two.
			extents{2, 4, 1, d.tileQ + 1, d.tileKV + 1},
		)
		list = append(list, d.ahead()...)
	}
	if d.m.p.Depth >= MoreEdges {
		for range 4 {
			list = append(list, extents{d.within(1, 3), d.within(1, 2), d.within(1, 2), d.within(1, 2*d.tileQ), d.ring + d.within(1, 2*d.tileKV)})
		}
		list = append(list, extents{1, 1, 1, d.tileQ, 4*d.ring + d.tileKV})
	}
	if d.m.p.Depth < RingsAndEdge {
		return d.shapes(list)
	}
	return append(d.shapes(list), d.watchedHeadDims()...)
}

// ahead returns a shape with so many tiles of keys that, in some schedule, a producer that does
// not wait gets ahead of its consumers by a whole ring. A kernel that demands equal lengths has
// none: the shape would have as many rows.
func (d *deriver) ahead() []extents {
	e := extents{1, 1, 1, d.tileQ + 1, 4*d.ring + 5}
	if s, ok := d.shape(e.b, e.heads, e.group, e.sq, e.skv); !ok || s.Sq == s.Skv {
		return nil
	}
	return []extents{e}
}

// hasWorkspace reports whether the kernel has a workspace, in which blocks may leave partial results.
func (d *deriver) hasWorkspace() bool {
	return slices.ContainsFunc(d.m.s.Operands, func(o kernel.Operand) bool { return o.Role == kernel.Workspace })
}

// manyKeys is the least number of keys that deriver.parts gives a shape: nine parts of 512 keys, and one more.
const manyKeys = 9*512 + 1

// parts returns a shape with one row and so many keys that a kernel whose blocks share the keys of a row
// has partial results of more than eight blocks to merge. Such a kernel has a workspace. One that
// demands equal lengths has no such shape, as in ahead.
func (d *deriver) parts() []extents {
	e := extents{1, 1, 1, 1, d.within(manyKeys, manyKeys+511)}
	if s, ok := d.shape(e.b, e.heads, e.group, e.sq, e.skv); !d.hasWorkspace() || !ok || s.Sq == s.Skv {
		return nil
	}
	return []extents{e}
}

// long returns problems with many keys and one with many rows. A mistake that depends on a size without
// a branch, such as a number that overflows, is not found by the search for new code. The numbers of
// keys have each of their high bits set and clear. Some have several sequences, heads and groups, and one has more rows than
// a tile. If the kernel demands equal lengths, there are
// fewer keys, because the emulator needs time for each row. A GPU gets another problem with eight times
// as many keys.
func (d *deriver) long() (list []extents) {
	keys := func(low, high int) extents { return extents{1, 1, 1, d.within(1, 4), d.within(low, high)} }
	square := func(low, high int) extents {
		n := d.within(low, high)
		return extents{1, 1, 1, n, n}
	}
	many := func() extents { return keys(1<<16, 1<<16+4096) }
	if s, ok := d.shape(1, 1, 1, 1, 9216); ok && s.Sq != s.Skv {
		list = []extents{keys(1024, 2047), keys(2048, 4095), keys(4096, 8191), keys(8192, 9216), {1, 1, 1, d.within(4097, 4160), d.within(1, 8)}}
		list[0].b, list[0].heads, list[0].group = 2, 2, 2
		list[1].b, list[1].group = 2, 2
		list[2].heads = 2
		list = append(list, extents{1, 1, 1, d.tileQ + d.within(1, 8), d.within(1024, 1279)})
		if d.hasWorkspace() { // the partial results of several rows, few and many
			list[2].group, list[2].sq, list[2].skv = 2, d.someRows()/2, d.within(manyKeys, 8191)
			list[3].group, list[3].sq = 2, d.within(1, max(d.someRows()/8, 1))
		}
	} else {
		list = []extents{square(1024, 1152), square(2048, 2176)}
		many = func() extents { return square(1<<14, 1<<14+1024) }
	}
	if d.m.p.Depth >= MoreEdges && timed(d.m.dev) {
		list = append(list, many())
	}
	return list
}

// groups returns small problems with groups of heads that models have. A division by the size of a group
// can be wrong for one of them.
func (d *deriver) groups() (list []extents) {
	for _, group := range []int{5, 6, 7, 8, 12, 16} {
		list = append(list, extents{2, 2, group, d.within(1, 3), d.within(2, d.tileKV/2)})
	}
	return append(list, extents{1, 2, 32, 1, d.within(2, d.tileKV/2)}, extents{1, 1, 128, 1, d.within(2, d.tileKV/2)})
}

// manyRows returns a problem whose K and V have more than 2^16 rows in all, and one whose Q has: a number of rows
// that is kept in 16 bits overflows. A kernel that demands equal lengths has none, as in ahead.
func (d *deriver) manyRows() (list []extents) {
	for _, e := range []extents{{2, 33, 1, 1, d.within(1000, 1100)}, {2, 33, 1, d.within(1000, 1100), 1}} {
		if s, ok := d.shape(e.b, e.heads, e.group, e.sq, e.skv); ok && s.Sq != s.Skv && s.Hkv == e.heads && s.Sq*s.Skv < 1<<12 {
			list = append(list, e)
		}
	}
	return list
}

// shapes returns the shapes of extents, each once.
func (d *deriver) shapes(list []extents) (shapes []problem.Shape) {
	for _, e := range list {
		if s, ok := d.shape(e.b, e.heads, e.group, max(e.sq, 1), max(e.skv, 1)); ok && !slices.Contains(shapes, s) {
			shapes = append(shapes, s)
		}
	}
	return shapes
}

// someRows returns the rows of a tile, or 64 of them.
func (d *deriver) someRows() int { return max(min(d.tileQ, 64), 4) }

// manyHeads is the number of heads from which on a derived case has heads of different magnitudes.
const manyHeads = 9

// biased returns cases with many keys and a V whose mean is not zero, and others in which small weights, or the sum
// of many weights, decide. Errors of one sign, as of sums that are
// truncated, add up over many keys, and only the mean of V shows them: normal rows of V add up to so little
// that rounding the weights hides them. The rounded weights of a row move all its columns alike, so there are
// several rows. Their random numbers are their own.
func (d *deriver) biased() (cases []Case) {
	if d.m.p.Depth < RingsAndEdge {
		return nil
	}
	const most = 1 << 21 // pairs of rows and keys: the emulator needs time for each
	r := rand.New(rand.NewPCG(d.m.p.Seed, biasedStream))
	for i, s := range d.shapes([]extents{{1, 1, 1, 16, 1024 + r.IntN(400)}, {1, 1, 1, 8, 8192 + r.IntN(1024)}}) {
		if s.Sq*s.Skv > most {
			continue
		}
		cases = append(cases, Case{Shape: s, Seed: uint64(3 + i), Distribution: gate.Biased})
		if s.Sq != s.Skv { // otherwise the quick plan has shorter ones
			cases = append(cases, Case{Shape: s, Seed: uint64(3 + i), Distribution: gate.Sink}, Case{Shape: s, Seed: uint64(3 + i), Distribution: gate.Flat})
		}
	}
	return cases
}

// cases returns the derived cases of the correctness gate.
func (d *deriver) cases() (cases []Case) {
	if d.m.p.Depth == Listed {
		return nil
	}
	list := []extents{
		{1, 1, 2, d.within(3, 9), 2*d.ring + d.within(1, d.tileKV-1)},
		// A tile in which heads share the rows is more than half full, and its keys are split: each
		// row of a lane has partial results.
		{1, 1, 2, d.within(d.someRows()/4+1, d.someRows()/2), 2*d.ring + d.within(1, d.tileKV-1)},
	}
	if d.chunk > 2*d.ring {
		list = append(list, extents{1, 1, 2, d.within(3, 9), d.chunk + d.within(1, d.tileKV-1)})
	}
	if d.m.p.Depth >= RingsAndEdge {
		list = append(list,
			extents{3, 3, 3, 2*d.tileQ + 1, d.within(33, d.tileKV+33)},               // more than 64 blocks
			extents{2, 2, 4, d.within(1, d.tileQ), d.tileKV + d.within(1, d.tileKV)}, // grouped heads, B > 1, Sq and Skv differ
			extents{3, 9, 1, 17, d.tileKV + 1},
			extents{2, 2, 4, 1, d.tileKV + d.within(1, d.tileKV)}, // one query per sequence, as when a model generates
			extents{3, 65, 2, 2, d.within(2, d.tileKV/2)},         // numbers of heads that do not fit seven bits, or six
			extents{d.within(257, 264), 2, 3, 1, d.within(1, 8)},  // more than 1024 blocks, more than 256 sequences
		)
		list = append(list, d.groups()...)
		list = append(list, d.long()...)
		list = append(list, d.manyRows()...)
		list = append(list, d.remainders(8)...)
	}
	if d.m.p.Depth >= MoreEdges {
		list = append(list, d.remainders(16)...)
		list = append(list, extents{5, 3, 4, 3*d.tileQ + 1, 4*d.ring + d.within(1, d.tileKV)})
	}
	for i, s := range d.shapes(list) {
		one := Case{Shape: s, Seed: uint64(3 + i%2), Distribution: "normal"}
		if s.Hq >= manyHeads {
			one.Distribution = "heads" // each head has other scales
		}
		cases = append(cases, one)
	}
	if d.m.p.Depth >= RingsAndEdge {
		for i, s := range d.otherHeadDims() {
			cases = append(cases, Case{Shape: s, Seed: uint64(3 + i%2), Distribution: "normal"})
		}
	}
	return append(cases, d.biased()...)
}

// remainders returns n problems with one or two heads whose lengths leave remainders all over
// a tile: one in each n-th part of it. A mistake that needs a remainder from a window of more
// than two such parts is certain to appear.
func (d *deriver) remainders(n int) (list []extents) {
	part := func(tile, i int) int { return d.within(i*tile/n, (i+1)*tile/n-1) }
	for i, j := range d.random.Perm(n) {
		e := extents{1 + i%2, 1, 1 + i/2%2, part(d.tileQ, i), part(d.tileKV, j)}
		if i%3 == 2 {
			e.skv += d.tileKV
		}
		if i%4 == 3 {
			e.sq += d.tileQ
		}
		list = append(list, e)
	}
	return list
}
