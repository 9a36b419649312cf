package decode

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// company is a batch in which one sequence is at a place among others.
type company struct {
	sequences, place int
	longest          int // room for the keys of a sequence
	keys             problem.Placement
	pageSize, sms    int
}

// with returns the inputs of a batch that has the sequence of alone at its place, with the
// same bits.
func (c company) with(t *testing.T, alone inputs) inputs {
	t.Helper()
	p := alone.P
	length := p.Skv
	p.B, p.Skv, p.Keys, p.PageSize = c.sequences, c.longest, c.keys, c.pageSize
	lengths := make([]int, c.sequences)
	for i := range lengths {
		lengths[i] = (i*377 + c.longest) % (c.longest + 1)
	}
	lengths[c.place] = length
	if c.keys != problem.Uniform {
		p.LengthsKV = problem.NewLengths(lengths)
	}
	in := rescaled(generate(t, "normal", p, uint64(c.sequences+c.place)))
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

// sequence returns the bits of one sequence of a result.
func sequence(r result, place int) []byte {
	rows := r.Rows()
	n := len(rows) / r.P.B
	bits := bytes.Clone(rows[place*n:][:n])
	if sums := r.LogSums(); sums != nil {
		n := len(sums) / r.P.B
		bits = fmt.Append(bits, sums[place*n:][:n])
	}
	return bits
}

// TestInvariant wants the same bits of a sequence alone and in the company of others, whatever
// the length of the others, its place, the number of SMs, pages and padding. Without chunks,
// bits depend on the number of SMs at least: the test can fail.
func TestInvariant(t *testing.T) {
	const n = 1100
	for _, masked := range []bool{false, true} {
		if !masked && !*full {
			continue
		}
		p := attends(1, 4, 2, 2, n, 64)
		p.LSE = true
		if masked {
			p.Window = problem.NewWindow(900, 0)
		}
		alone := rescaled(generate(t, "normal", p, 7))
		var batches []company
		for i, place := range []problem.Placement{problem.Packed, problem.Paged, problem.Padded} {
			batches = append(batches, company{1 + i%3*2, i % (1 + i%3*2), n + 200*i, place, 16 << (i % 3), 1 + 19*i})
		}
		want := map[bool][]byte{}
		differ := false
		for _, chunks := range []bool{true, false} {
			configure := Default
			if chunks {
				configure = Invariant
			}
			b := newBench(t, emulator(t, ptx.SM90, 0, nil), alone)
			b.SMs = 3
			want[chunks] = sequence(b.run(configure(p, kernel.Chip{})), 0)
			for i, batch := range batches {
				in := batch.with(t, alone)
				b := newBench(t, emulator(t, ptx.SM90, uint64(i), nil), in)
				b.SMs = batch.sms
				same := bytes.Equal(sequence(b.run(configure(in.P, kernel.Chip{})), batch.place), want[chunks])
				if chunks && !same {
					t.Errorf("%+v: the bits differ from those of the sequence alone", batch)
				}
				differ = differ || !chunks && !same
			}
		}
		if !differ {
			t.Error("bits without chunks are the same in all batches, so this test shows nothing")
		}
	}
}
