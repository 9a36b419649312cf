package decode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// company is a batch in which one sequence is at a place among others.
type company struct {
	sequences, place int
	longestQ         int // room for the queries of a sequence
	longest          int // room for the keys of a sequence
	queries, keys    problem.Placement
	pageSize, sms    int
}

// drawCompany draws a batch of up to most sequences for a sequence. The sequence is first, last or
// somewhere between. Other sequences are shorter or longer.
func drawCompany(r *rand.Rand, alone problem.Attention, most int) company {
	c := company{sequences: 1 + r.IntN(most), longestQ: alone.Sq, longest: alone.Skv, sms: 1 + r.IntN(40), pageSize: 16 << r.IntN(5)}
	c.place = []int{0, c.sequences - 1, r.IntN(c.sequences)}[r.IntN(3)]
	c.keys = []problem.Placement{problem.Padded, problem.Packed, problem.Paged, problem.Paged}[r.IntN(4)]
	c.queries = []problem.Placement{problem.Uniform, problem.Padded, problem.Packed}[r.IntN(3)]
	if r.IntN(2) == 0 {
		c.longest += r.IntN(600)
	}
	if c.queries != problem.Uniform && alone.Sq > 1 {
		c.longestQ += r.IntN(alone.Sq)
	}
	return c
}

// with returns the inputs of a batch that has the sequence of alone at its place, with the
// same bits. The other sequences have lengths of which most are small.
func (c company) with(t *testing.T, alone inputs, r *rand.Rand) inputs {
	t.Helper()
	p := alone.P
	p.B, p.Sq, p.Skv, p.Queries, p.Keys, p.PageSize = c.sequences, c.longestQ, c.longest, c.queries, c.keys, c.pageSize
	lengths := func(own, longest int) problem.Lengths {
		list := make([]int, c.sequences)
		for i := range list {
			list[i] = r.IntN(1 + longest/(1+r.IntN(8)))
		}
		list[c.place] = own
		return problem.NewLengths(list)
	}
	p.LengthsKV = lengths(alone.P.Skv, c.longest)
	if c.queries != problem.Uniform {
		p.LengthsQ = lengths(alone.P.Sq, c.longestQ)
	}
	if c.keys == problem.Paged {
		p.Pages, p.TableWidth = int(p.Filled().Names()["kv_pages"].Int64())+r.IntN(9), p.PagesOf(c.longest)+r.IntN(5)
	}
	in := rescaled(generate(t, "normal", p, r.Uint64()))
	for _, x := range []struct{ to, from *fp8.Tensor }{{in.Q, alone.Q}, {in.K, alone.K}, {in.V, alone.V}} {
		to, from := x.to.Shape, x.from.Shape
		for h := range from.H {
			copy(x.to.Data[to.Row(c.place, h, 0)*to.D:], x.from.Data[from.Row(0, h, 0)*from.D:][:from.S*from.D])
		}
	}
	return in
}

// rescaled gives all heads the same scale, so that the sequences of a batch have nothing in
// common. Codes of N(0,1) reach 448, so the values are near N(0,1) again.
func rescaled(in inputs) inputs {
	for _, x := range []*fp8.Tensor{in.Q, in.K, in.V} {
		for i := range x.Scales {
			x.Scales[i] = 1.0 / 128
		}
	}
	return in
}

// sequence returns the bits of the first queries of one sequence of a result.
func sequence(r result, place, queries int) (bits []byte) {
	rows, sums := r.Rows(), r.LogSums()
	d := r.P.Q()
	for h := range d.H {
		first := d.Row(place, h, 0)
		bits = append(bits, rows[2*first*d.D:][:2*queries*d.D]...)
		if sums != nil {
			bits = fmt.Append(bits, sums[first:][:queries])
		}
	}
	return bits
}

// invariants are the designs whose bits do not depend on the batch, with the problem of one sequence.
var invariants = []struct {
	name   string
	config func(problem.Attention, kernel.Chip) Config
	alone  problem.Attention
	chunk  int // if not 0, instead of the design's own, so that a short sequence has several
}{
	{"decode-invariant", Invariant, attends(1, 4, 2, 2, 1100, 64), 0},
	{"decode-invariant", Invariant, attends(1, 2, 1, 1, 1030, 96), 0},
	{"decode-invariant", Invariant, attends(1, 8, 1, 5, 700, 128), 0}, // three row tiles
	{"prefill-invariant", PrefillInvariant, attends(1, 4, 2, 45, 400, 64), 128},
	{"prefill-invariant", PrefillInvariant, attends(1, 2, 1, 70, 300, 128), 128},
	{"prefill-invariant", PrefillInvariant, attends(1, 1, 1, 3, 4200, 64), 0},
}

// TestInvariant wants the same bits of a sequence alone and in random batches of up to 64 sequences,
// whatever its place, the lengths of the others, padding, pages and the number of SMs.
func TestInvariant(t *testing.T) {
	rounds, most := 3, 20
	if *full {
		rounds, most = 60, 64
	}
	for i, design := range invariants {
		for round := range rounds {
			r := rand.New(rand.NewPCG(uint64(i), uint64(round)))
			p := design.alone
			p.LSE = true
			switch r.IntN(3) {
			case 0:
				p.Causal = true
			case 1:
				p.Window = problem.NewWindow(p.Skv*3/4, r.IntN(3)-1)
			}
			if i%2 == 1 {
				p.Layout, p.Softcap, p.Sinks = problem.BSHD, 20, true
			}
			alone := rescaled(generate(t, "normal", p, uint64(round)))
			configure := func(p problem.Attention) Config {
				p.Sq = design.alone.Sq // a server builds one kernel for all of its batches
				c := design.config(p, kernel.Chip{})
				if design.chunk != 0 {
					c.Chunk = design.chunk
				}
				return c
			}
			b := newBench(t, emulator(t, ptx.SM90, 0, nil), alone)
			b.SMs = 3
			want := sequence(b.run(configure(p)), 0, p.Sq)
			batch := drawCompany(r, p, most)
			if !fits(configure(p), p, batch) {
				batch.longestQ, batch.queries = p.Sq, problem.Uniform
			}
			in := batch.with(t, alone, r)
			b = newBench(t, emulator(t, ptx.SM90, uint64(round), nil), in)
			b.SMs = batch.sms
			if !bytes.Equal(sequence(b.run(configure(in.P)), batch.place, p.Sq), want) {
				t.Errorf("%s, %v, %+v: the bits differ from those of the sequence alone", design.name, p, batch)
			}
		}
	}
}

// TestInvariantWindow wants the same bits whatever the number of queries for which there is room. It decides which
// rows share a tile, and so at which of many small chunks a tile begins to see keys.
func TestInvariantWindow(t *testing.T) {
	lefts := []int{990, 1010}
	if *full {
		for left := 300; left < 1000; left += 23 {
			lefts = append(lefts, left)
		}
	}
	for _, left := range lefts {
		p := attends(1, 3, 1, 70, 1400, 64)
		p.LSE, p.Window = true, problem.NewWindow(left, 0)
		c := PrefillInvariant(p, kernel.Chip{})
		c.TileN, c.Chunk = 64, 64
		alone := rescaled(generate(t, "normal", p, uint64(left)))
		want := sequence(newBench(t, emulator(t, ptx.SM90, 0, nil), alone).run(c), 0, p.Sq)
		for _, room := range []int{83, 97, 128} {
			batch := company{sequences: 1, longestQ: room, longest: p.Skv, queries: problem.Padded, keys: problem.Paged, pageSize: 16}
			in := batch.with(t, alone, rand.New(rand.NewPCG(1, 1)))
			checker := check.New()
			got := sequence(newBench(t, emulator(t, ptx.SM90, 0, checker), in).run(c), 0, p.Sq)
			if !bytes.Equal(got, want) {
				t.Errorf("%v, room for %d queries: the bits differ", p, room)
			}
			for _, f := range checker.Findings() {
				t.Errorf("%v, room for %d queries: %v", p, room, f)
			}
		}
	}
}

// TestInvariantTeams refuses configurations whose teams would take other tiles beside other rows.
func TestInvariantTeams(t *testing.T) {
	p := attends(1, 2, 2, 70, 1400, 64)
	c := PrefillInvariant(p, kernel.Chip{})
	c.Warps = 8
	if err := c.Check(p, ptx.SM90); err == nil || !strings.Contains(err.Error(), "need one team: use 4 warps and 4 row tiles") {
		t.Error(err)
	}
	c.Chunk = 0
	if err := c.Check(p, ptx.SM90); err != nil {
		t.Error(err)
	}
}

// fits reports whether the queries of a batch fit into the tiles of a configuration.
func fits(c Config, p problem.Attention, batch company) bool {
	p.Sq = batch.longestQ
	return c.RowBlocks || rows(p) <= c.tileRows()
}

// TestVariant shows that TestInvariant can fail: without chunks, the bits of a sequence depend on the
// number of SMs.
func TestVariant(t *testing.T) {
	for _, configure := range []func(problem.Attention, kernel.Chip) Config{Default, Prefill} {
		p := attends(1, 4, 2, 2, 1100, 64)
		in := rescaled(generate(t, "normal", p, 7))
		var bits [][]byte
		for _, sms := range []int{1, 3, 20} {
			b := newBench(t, emulator(t, ptx.SM90, 0, nil), in)
			b.SMs = sms
			bits = append(bits, sequence(b.run(configure(p, kernel.Chip{})), 0, p.Sq))
		}
		if slices.EqualFunc(bits[1:], bits[:2], bytes.Equal) {
			t.Errorf("%v: the bits do not depend on the number of SMs", configure(p, kernel.Chip{}))
		}
	}
}
