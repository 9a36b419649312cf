package decode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
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
	c := company{sequences: 1 + r.IntN(most), longestQ: alone.Sq, longest: alone.Skv, sms: 1 + r.IntN(40)}
	c.pageSize = []int{16, 32, 64, 128, 256, 4, 24}[r.IntN(7)]
	c.place = []int{0, c.sequences - 1, r.IntN(c.sequences)}[r.IntN(3)]
	c.keys = []problem.Placement{problem.Uniform, problem.Padded, problem.Packed, problem.Paged, problem.Paged}[r.IntN(5)]
	c.queries = []problem.Placement{problem.Uniform, problem.Padded, problem.Packed}[r.IntN(3)]
	if c.keys != problem.Uniform && r.IntN(2) == 0 {
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
	if c.keys != problem.Uniform {
		p.LengthsKV = lengths(alone.P.Skv, c.longest)
	}
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
			row, own := to.Row(c.place, h, 0), from.Row(0, h, 0)
			copy(x.to.Data[row*to.D:], x.from.Data[own*from.D:][:from.S*from.D])
			if p.Scaling == problem.PerToken {
				copy(x.to.Scales[row:], x.from.Scales[own:][:from.S])
			}
			if x.from == alone.Q { // in 16 bits it is not quantised
				copy(in.Original.Q.Data[row*to.D:], alone.Original.Q.Data[own*from.D:][:from.S*from.D])
			}
		}
	}
	return in
}

// rescaled gives all heads the same scale, so that the sequences of a batch have nothing in
// common. Codes of N(0,1) reach 448, so the values are near N(0,1) again. Scales of tokens stay.
func rescaled(in inputs) inputs {
	if in.P.Scaling == problem.PerToken {
		return in
	}
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
	d := r.P.O()
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
	{"decode-invariant", Invariant, attends(1, 4, 2, 1, 600, 256), 0},
	{"prefill-invariant", PrefillInvariant, withHeads(attends(1, 2, 2, 20, 300, 0), 192, 128), 128},
}

// trial is a sequence alone, and batches with the same sequence.
type trial struct {
	alone   inputs
	config  func(problem.Attention) Config
	batches []batch
}

type batch struct {
	company
	in inputs
}

// join adds a batch with the sequence.
func (x *trial) join(t *testing.T, c company, r *rand.Rand) {
	t.Helper()
	x.batches = append(x.batches, batch{c, c.with(t, x.alone, r)})
}

// drawTrial draws a trial of a design: mask, scales and the format of Q for its sequence, and one batch of up to
// most sequences.
func drawTrial(t *testing.T, design, round, most int) trial {
	t.Helper()
	r, d := rand.New(rand.NewPCG(uint64(design), uint64(round))), invariants[design]
	p := d.alone
	p.LSE = true
	switch r.IntN(3) {
	case 0:
		p.Causal = true
	case 1:
		p.Window = problem.NewWindow(p.Skv*3/4, r.IntN(3)-1)
	}
	p.Scaling = []problem.Scaling{problem.PerHead, problem.PerHead, problem.PerToken}[r.IntN(3)]
	p.FormatQ = []problem.Format{"", "", problem.F16, problem.BF16}[r.IntN(4)]
	if design%2 == 1 {
		p.Layout, p.Softcap, p.Sinks = problem.BSHD, 20, true
	}
	x := trial{alone: rescaled(generate(t, "normal", p, uint64(round)))}
	x.config = func(p problem.Attention) Config {
		p.Sq = d.alone.Sq // a server builds one kernel for all of its batches
		c := d.config(p, []kernel.Chip{{}, h200}[round%2])
		if d.chunk != 0 {
			c.Chunk = d.chunk
		}
		return c
	}
	c := drawCompany(r, p, most)
	if !fits(x.config(p), p, c) {
		c.longestQ, c.queries = p.Sq, problem.Uniform
	}
	x.join(t, c, r)
	return x
}

// windowTrial returns a trial whose batches differ in the number of queries for which there is room. It decides
// which rows share a tile, and so at which of many small chunks a tile begins to see keys.
func windowTrial(t *testing.T, left int) trial {
	t.Helper()
	p := attends(1, 3, 1, 70, 1400, 64)
	p.LSE, p.Window = true, problem.NewWindow(left, 0)
	c := PrefillInvariant(p, kernel.Chip{})
	c.TileN, c.Chunk = 64, 64
	x := trial{alone: rescaled(generate(t, "normal", p, uint64(left))), config: func(problem.Attention) Config { return c }}
	for _, room := range []int{83, 97, 128} {
		x.join(t, company{sequences: 1, longestQ: room, longest: p.Skv, queries: problem.Padded, keys: problem.Paged, pageSize: 16}, rand.New(rand.NewPCG(1, 1)))
	}
	return x
}

// own returns the bits that a device computes for the sequence alone.
func (x trial) own(t *testing.T, dev device.Device, sms int) []byte {
	t.Helper()
	b := newBench(t, dev, x.alone)
	b.SMs = sms
	return sequence(b.run(x.config(x.alone.P)), 0, x.alone.P.Sq)
}

// wantInBatches wants a device to compute certain bits for the sequence in each batch, with the batch's number of
// SMs and with others.
func (x trial) wantInBatches(t *testing.T, dev device.Device, want []byte, others ...int) {
	t.Helper()
	for _, y := range x.batches {
		b := newBench(t, dev, y.in)
		for _, b.SMs = range append(others, y.sms) {
			if c := x.config(y.in.P); !bytes.Equal(sequence(b.run(c), y.place, x.alone.P.Sq), want) {
				t.Errorf("%v, %v, %+v, %d SMs: the bits differ from those of the sequence alone", c, x.alone.P, y.company, b.SMs)
			}
		}
	}
}

// TestInvariant wants the same bits of a sequence alone and in random batches of up to 64 sequences,
// whatever its place, the lengths of the others, padding, pages and the number of SMs.
func TestInvariant(t *testing.T) {
	rounds, most := 3, 20
	if *full {
		rounds, most = 60, 64
	}
	for i := range invariants {
		for round := range rounds {
			x := drawTrial(t, i, round, most)
			want := x.own(t, emulator(t, ptx.SM90, 0, nil), 3)
			x.wantInBatches(t, emulator(t, ptx.SM90, uint64(round), nil), want)
		}
	}
}

// TestInvariantWindow wants the same bits whatever the number of queries for which there is room.
func TestInvariantWindow(t *testing.T) {
	lefts := []int{990, 1010}
	if *full {
		for left := 300; left < 1000; left += 23 {
			lefts = append(lefts, left)
		}
	}
	for _, left := range lefts {
		x, checker := windowTrial(t, left), check.New()
		x.wantInBatches(t, emulator(t, ptx.SM90, 0, checker), x.own(t, emulator(t, ptx.SM90, 0, nil), 0))
		for _, f := range checker.Findings() {
			t.Errorf("%v: %v", x.alone.P, f)
		}
	}
}

// TestCardInvariant is TestInvariant and TestInvariantWindow on a GPU, which must also compute the bits of the
// emulator. Rows in memory that belong to no sequence are NaN, and unused entries of page tables are -1. No number
// of SMs can make a launch hang, because no block waits for another one.
func TestCardInvariant(t *testing.T) {
	card, target := cardAndTarget(t)
	rounds := 32
	if *full {
		rounds = 320
	}
	compare := func(t *testing.T, x trial) {
		want := x.own(t, emulator(t, target, 0, nil), 3)
		if !bytes.Equal(x.own(t, card, 0), want) {
			t.Errorf("%v, %v: the bits of the card differ from those of the emulator", x.config(x.alone.P), x.alone.P)
		}
		x.wantInBatches(t, card, want, card.Info().SMs)
	}
	for round := range rounds {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			t.Parallel() // drawing, the emulator and the driver's compiler take most of the time
			compare(t, windowTrial(t, 300+700*round/rounds))
			for i := range invariants {
				compare(t, drawTrial(t, i, round, 64))
			}
		})
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
func TestVariant(t *testing.T) { wantVariants(t, emulator(t, ptx.SM90, 0, nil)) }

// TestCardVariant is TestVariant on a GPU.
func TestCardVariant(t *testing.T) {
	card, _ := cardAndTarget(t)
	wantVariants(t, card)
}

// wantVariants wants the designs without chunks to compute different bits on a device with different numbers of SMs.
func wantVariants(t *testing.T, dev device.Device) {
	t.Helper()
	p := attends(1, 4, 2, 2, 1100, 64)
	x := trial{alone: rescaled(generate(t, "normal", p, 7))}
	for _, configure := range []func(problem.Attention, kernel.Chip) Config{Default, Prefill} {
		x.config = func(p problem.Attention) Config { return configure(p, kernel.Chip{}) }
		var bits [][]byte
		for _, sms := range []int{1, 3, 20} {
			bits = append(bits, x.own(t, dev, sms))
		}
		if slices.EqualFunc(bits[1:], bits[:2], bytes.Equal) {
			t.Errorf("%v: the bits do not depend on the number of SMs", x.config(p))
		}
	}
}
