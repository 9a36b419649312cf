package lab

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// sweepInputs is the distribution of a sweep. In half of the rows all keys have the same weight, so
// one that is left out or added changes the output by more than rounding does.
const sweepInputs = gate.Equal

// sweep returns small problems whose numbers of keys leave every remainder of a tile, once in the
// first tile and once in a later tile. Their numbers of queries leave every remainder of a tile of
// rows too. It returns nil if the plan has no sweep.
func (d *deriver) sweep() (list []Case) {
	if d.m.p.Depth < RingsAndEdge {
		return nil
	}
	keys := d.sweepKeys()
	if d.m.s.Problem.Keys != problem.Uniform {
		return d.raggedSweep(append(keys, d.farKeys()...))
	}
	rows := d.random.Perm(d.tileQ)
	for i, n := range keys {
		e := extents{1, 1, 2, 1 + rows[i%d.tileQ], n}
		if i >= len(keys)/2 {
			e.b, e.group = 2, d.within(1, 2)
		}
		if d.m.s.Problem.Causal && i%wholeDiagonal == 0 {
			e.sq = d.tileQ
		}
		if i%4 == 3 {
			e.sq += d.tileQ
		}
		if s, ok := d.sweepShape(e); ok {
			list = append(list, d.m.resolved(Case{Shape: s, Seed: uint64(i), Distribution: sweepInputs}))
		}
	}
	return append(append(list, d.splitDiagonals()...), d.farSweep()...)
}

// diagonals is the number of cases of splitDiagonals. Only in half of the rows all keys have the same weight,
// and the fragments of mma have 16 rows: in this many cases each column meets the diagonal in several such
// rows of each half of a fragment.
const diagonals = 16

// splitDiagonals returns cases for a causal kernel that splits the keys of a row. The diagonal of a whole tile
// of rows begins in one round of tiles and ends in the round before, whose code may have a mask of its own.
func (d *deriver) splitDiagonals() (list []Case) {
	split := d.m.s.Structure["split"]
	if split < 2 || !d.m.s.Problem.Causal {
		return nil
	}
	for i := range diagonals {
		keys := d.sweptTile()*split + 1 + i // the fewer keys are in the last round, the more rows end in the one before
		if s, ok := d.sweepShape(extents{1, 1, 1, d.tileQ, keys}); ok {
			list = append(list, d.m.resolved(Case{Shape: s, Seed: uint64(i), Distribution: sweepInputs}))
		}
	}
	return list
}

// farSweep returns the part of a sweep with the keys of farKeys. It is empty if the kernel supports only
// problems with many rows, which would take long.
func (d *deriver) farSweep() (list []Case) {
	for i, n := range d.farKeys() {
		s, ok := d.sweepShape(extents{1, 1, 1, 1 + i%farRows, n})
		if !ok || s.Sq > farRows {
			return nil
		}
		list = append(list, d.m.resolved(Case{Shape: s, Seed: uint64(i), Distribution: sweepInputs}))
	}
	return list
}

// wholeDiagonal is how often the sweep of a causal kernel has a whole tile of rows, so that the
// diagonal crosses all columns.
const wholeDiagonal = 8

// The size of a tile whose remainders a sweep tries: a kernel states its own tile, and may be wrong.
const (
	leastSwept = 64
	mostSwept  = 256
)

func (s structure) sweptTile() int { return min(max(s.tileKV, leastSwept), mostSwept) }

// farRows is the number of queries of the lengths that a sweep adds for a kernel that does not state its
// tiles. These lengths are many.
const farRows = 2

// farKeys returns the numbers of keys that a sweep adds if the kernel does not state its tile, or may state
// a wrong one. They leave every remainder of tiles of up to mostSwept keys.
func (d *deriver) farKeys() (keys []int) {
	if d.m.s.Structure["tile_kv"] > 0 && !d.doubtful() {
		return nil
	}
	tile := d.sweptTile()
	for n := 2*tile + 1; n <= 2*tile+mostSwept; n++ {
		keys = append(keys, n)
	}
	return keys
}

// sweepKeys returns the numbers of keys of a sweep.
func (d *deriver) sweepKeys() (keys []int) {
	tile := d.sweptTile()
	later := min(max(d.m.s.Structure["split"], 1), 4)
	for r := 1; r <= tile; r++ {
		keys = append(keys, r)
	}
	for r := 1; r <= tile; r++ {
		keys = append(keys, tile*d.within(1, later)+r)
	}
	return keys
}

// sweepShape returns the shape of some extents, or one with fewer queries if the kernel demands that,
// or with as many queries as keys. Heads share keys if the kernel supports it.
func (d *deriver) sweepShape(e extents) (problem.Shape, bool) {
	short := d.m.s.fewerQueries()
	if short {
		e.sq = min(e.sq, e.skv)
	}
	for _, sq := range []int{e.sq, 1 + e.sq%16, 1, e.skv} {
		for _, hkv := range []int{e.heads, e.heads * e.group} {
			s := problem.Shape{B: e.b, Hq: e.heads * e.group, Hkv: hkv, Sq: sq, Skv: e.skv}.WithHeadDim(d.m.heads)
			if (!short || sq <= e.skv) && d.m.s.ServesShape(s) == nil {
				return s, true
			}
		}
	}
	return problem.Shape{}, false
}

// raggedBatch is the number of sequences of a case of a sweep.
const raggedBatch = 64

// raggedSweep returns the sweep of a kernel that reads the lengths from memory: a case has
// many lengths.
func (d *deriver) raggedSweep(keys []int) (list []Case) {
	for i, part := range slices.Collect(slices.Chunk(keys, raggedBatch)) {
		most := slices.Max(part) // some sequences have the last keys, which impostors leave out
		e := extents{len(part), 1, 2, d.within(1, 16), most}
		if d.m.s.Problem.Appends && d.m.s.Problem.Queries == problem.Uniform {
			e.sq = 1 // some sequences have one key
		}
		for _, try := range []extents{e, {e.b, 1, 1, e.sq, most}, {e.b, 1, 2, 1, most}, {e.b, 1, 1, most, most}} {
			s := problem.Shape{B: try.b, Hq: try.group, Hkv: 1, Sq: try.sq, Skv: most}.WithHeadDim(d.m.heads)
			one := d.m.resolved(Case{Shape: s, Seed: uint64(i), Distribution: sweepInputs})
			one.vary.batch = d.raggedLengths(s, part)
			if d.m.s.serves(d.m.s.varied(one.vary).At(s)) == nil {
				list = append(list, one)
				break
			}
		}
	}
	return list
}

// raggedLengths returns a batch with the given numbers of keys.
func (d *deriver) raggedLengths(s problem.Shape, keys []int) problem.Batch {
	p := d.m.s.At(s)
	if p.Keys == problem.Paged {
		p.PageSize = d.m.drawPageSize(s, d.random)
	}
	p.LengthsKV = problem.NewLengths(keys)
	if p.Queries != problem.Uniform {
		rows := make([]int, len(keys))
		for i, n := range keys {
			if rows[i] = d.within(1, s.Sq); d.m.s.fewerQueries() {
				rows[i] = min(rows[i], n)
			}
		}
		p.LengthsQ = problem.NewLengths(rows)
	}
	return p.Batch
}

// sweep runs all cases of the sweep once and adds the worst of them to the record, after it has run
// like every other case.
func (m *measurement) sweep(ctx context.Context, t *table, c *record.Correctness) error {
	if len(m.lengths) == 0 {
		return nil
	}
	worst, _, facts, err := m.runSweep(ctx, t, false)
	if err != nil {
		return err
	}
	full, err := m.judgeCase(ctx, t, worst)
	if err != nil {
		return err
	}
	if full.Sweep = facts; facts.Wrong > 0 && len(gate.Wrong(c.Tolerance, m.s.Problem, &full)) == 0 {
		full.Repeatable = false // it was wrong the first time
	}
	c.Cases = append(c.Cases, full)
	return nil
}

// runSweep runs the cases of the sweep and returns the worst one: the first wrong case, or else the
// case with the largest error of a row. If first is set, the sweep ends at a wrong case.
func (m *measurement) runSweep(ctx context.Context, t *table, first bool) (worst Case, found record.Case, facts *record.Sweep, err error) {
	facts = &record.Sweep{Tile: structureOf(m.s.Kernel).sweptTile()}
	if stated := m.s.Structure["tile_kv"] > 0 && m.s.preset; !stated && slices.ContainsFunc(m.lengths, func(c Case) bool { return c.Shape.Skv == 2*facts.Tile+mostSwept }) {
		facts.Tile = mostSwept
	}
	most := -1.0
	for i, one := range m.lengths {
		m.meter.at("correctness", fmt.Sprintf("length %d of %d, %v", i+1, len(m.lengths), one.Shape))
		c, err := m.glance(ctx, t, one)
		if err != nil {
			return worst, found, nil, err
		}
		m.meter.step(m.weight(one.Shape))
		facts.Launches++
		facts.Lengths++
		if one.vary.batch.LengthsKV != "" {
			facts.Lengths += one.Shape.B - 1
		}
		facts.MostQ, facts.MostKV = max(facts.MostQ, one.Shape.Sq), max(facts.MostKV, one.Shape.Skv)
		switch wrong := len(gate.Wrong(gate.Tolerance, m.s.Problem, &c)) > 0; {
		case wrong:
			if facts.Wrong++; facts.Wrong == 1 {
				worst, found = one, c
			}
			if first || c.Failure != "" {
				return worst, found, facts, nil
			}
		case facts.Wrong == 0:
			if off := float64(c.WorstRow.Mean) / (float64(c.WorstRow.Plain) + gate.SlackMean); off > most {
				worst, found, most = one, c, off
			}
		}
	}
	return worst, found, facts, nil
}

// sweptRows is the number of rows that are compared in a case of a sweep. The first and the last one
// are among them.
const sweptRows = 16

// glance runs a case once and measures the errors of some rows. Rows that the kernel does not write
// hold random bytes and are counted, also if they are not compared.
func (m *measurement) glance(ctx context.Context, t *table, one Case) (record.Case, error) {
	s := m.s.varied(one.vary)
	c := record.Case{Shape: one.Shape, Seed: one.Seed, Distribution: one.Distribution, Window: one.vary.window, Softcap: one.vary.softcap, Batch: one.vary.batch, InputsKept: true, Repeatable: true}
	in, err := newInputs(s, one)
	if err != nil {
		return c, err
	}
	if err := t.lay(in); err != nil {
		return c, err
	}
	if err := t.bench.write(in); err != nil {
		return c, err
	}
	seed := t.random.Uint64()
	out, err := m.runOver(ctx, t.bench, seed, false, &c)
	if failed, err := m.failed(ctx, err, &c); failed {
		return c, err
	}
	under := t.bench.under("o", seed)
	used := in.usedBytes(m.s)
	c.Overrun = out.clearUnused(used, map[string][]byte{"o": under, "lse": t.bench.under("lse", seed)}) || c.Overrun
	c.Unwritten = untouched(out.o, under) / s.Problem.Output.Bytes()
	if c.CacheWrong, err = t.cacheWrong(in); err != nil {
		return c, err
	}
	r, err := m.p.References.findBare(ctx, s, one, in, sweptRows)
	if err != nil {
		return c, err
	}
	_, err = measureErrors(s, &c, r, in, out)
	return c, err
}

// untouched returns the number of bytes that are as before, in groups of eight: a single element
// may have its old value by chance.
func untouched(data, before []byte) (n int) {
	const group = 8
	for i := 0; i+group <= len(data); i += group {
		if was := before[i : i+group]; bytes.Equal(data[i:i+group], was) && !all(was, 0) {
			n += group
		}
	}
	return n
}
