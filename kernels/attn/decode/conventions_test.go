package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// These tests pin what the conventions of FlashAttention, FlashInfer and vLLM leave to edge cases.
// Each runs with few rows and with rows in several tiles.
func eachConfig(t *testing.T, p problem.Attention, check func(t *testing.T, in inputs, r result)) {
	t.Helper()
	for i, c := range []Config{Default(p, h200), Invariant(p, h200), Prefill(p, h200)} {
		in := generate(t, "normal", p, uint64(i))
		r := newBench(t, emulator(t, ptx.SM90, uint64(i), nil), in).run(c)
		judge(t, p.String()+" "+c.String(), in, r)
		check(t, in, r)
	}
}

// wantRow wants the output of a row to be zero and its LSE to be a value.
func wantRow(t *testing.T, r result, row int, lse float64) {
	t.Helper()
	n := r.P.D * 2
	if o := r.Rows()[row*n:][:n]; !bytes.Equal(o, make([]byte, n)) {
		t.Errorf("%v: row %d is not zero", r.P, row)
	}
	if got := float64(r.LogSums()[row]); got != lse && math.Abs(got-lse) > 1e-6 {
		t.Errorf("%v: the LSE of row %d is %v, want %v", r.P, row, got, lse)
	}
}

// TestRowThatSeesNothing: with a causal mask and more queries than keys, the first queries see no
// key. Their output is 0 and their LSE is -∞, as in FlashAttention and FlashInfer.
func TestRowThatSeesNothing(t *testing.T) {
	p := attends(1, 2, 1, 5, 3, 64)
	p.Causal, p.LSE = true, true
	eachConfig(t, p, func(t *testing.T, _ inputs, r result) {
		for _, row := range []int{0, 1, 5, 6} {
			wantRow(t, r, row, math.Inf(-1))
		}
	})
}

// TestEmptySequence: a sequence without keys has an output of 0 and an LSE of -∞.
func TestEmptySequence(t *testing.T) {
	for _, keys := range []problem.Placement{problem.Padded, problem.Packed, problem.Paged} {
		p := attends(3, 1, 1, 1, 40, 64)
		p.LSE, p.Keys, p.LengthsKV = true, keys, "40,0,7"
		eachConfig(t, p.Filled(), func(t *testing.T, _ inputs, r result) { wantRow(t, r, 1, math.Inf(-1)) })
	}
}

// TestSinkWithoutVisibleKey: the sink takes all the weight, so the output is 0 and the LSE is the
// sink, as in vLLM and FlashInfer.
func TestSinkWithoutVisibleKey(t *testing.T) {
	p := attends(2, 2, 1, 1, 40, 64)
	p.LSE, p.Sinks, p.Keys, p.LengthsKV = true, true, problem.Padded, "0,40"
	eachConfig(t, p, func(t *testing.T, in inputs, r result) {
		for head := range 2 {
			wantRow(t, r, head, float64(in.Sinks[head]))
		}
	})
}

// TestWindowWiderThanTheSequence: it hides nothing, to the bit.
func TestWindowWiderThanTheSequence(t *testing.T) {
	p := attends(1, 2, 1, 3, 70, 64)
	p.LSE = true
	for _, w := range []problem.Window{problem.NewWindow(1000, 1000), problem.NewWindow(69, 2), problem.NewWindow(math.MaxInt32, -1)} {
		wide := p
		wide.Window = w
		in := generate(t, "normal", p, 1)
		want := newBench(t, emulator(t, ptx.SM90, 0, nil), in).run(Default(p, h200))
		in.P = wide
		got := newBench(t, emulator(t, ptx.SM90, 0, nil), in).run(Default(p, h200))
		if !got.Same(want) {
			t.Errorf("window %v of 70 keys gives other bits than no window", w)
		}
	}
}

// TestWindowOfOneKey: the window 0,0 leaves each query the key at which it stands, so its output is
// a row of V.
func TestWindowOfOneKey(t *testing.T) {
	p := attends(1, 1, 1, 4, 50, 64)
	p.LSE, p.Window = true, problem.NewWindow(0, 0)
	eachConfig(t, p, func(*testing.T, inputs, result) {})
}

// TestQueriesBeyondTheirLengthAreNotWritten: rows past seqused_q keep what was there.
func TestQueriesBeyondTheirLengthAreNotWritten(t *testing.T) {
	p := attends(2, 2, 1, 4, 40, 64)
	p.Queries, p.LengthsQ = problem.Padded, "1,4"
	eachConfig(t, p, func(t *testing.T, _ inputs, r result) {
		n := p.D * 2
		for _, row := range []int{1, 2, 3, 5, 6, 7} {
			if !bytes.Equal(r.O[row*n:][:n], bytes.Repeat([]byte{0xff}, n)) {
				t.Errorf("row %d of sequence 0 was written", row)
			}
		}
	})
}

// TestSoftcapOfZeroIsNone: a kernel with a soft cap also computes problems without one.
func TestSoftcapOfZeroIsNone(t *testing.T) {
	p := attends(1, 4, 1, 1, 60, 64)
	p.Softcap = 30
	in := generate(t, "normal", p, 1)
	k, err := New(p, Default(p, h200), ptx.SM89)
	if err != nil {
		t.Fatal(err)
	}
	in.P.Softcap = 0
	judge(t, "softcap 0", in, newBench(t, emulator(t, ptx.SM90, 0, nil), in).Run(k))
}

// TestLargestSoftcap: the largest soft cap is exact enough, and a larger one is refused.
func TestLargestSoftcap(t *testing.T) {
	p := attends(1, 4, 1, 1, 60, 64)
	p.Softcap = mostSoftcap
	in := generate(t, "normal", p, 1)
	b := newBench(t, emulator(t, ptx.SM89, 0, nil), in)
	k, err := New(p, Default(p, h200), ptx.SM89)
	if err != nil {
		t.Fatal(err)
	}
	judge(t, "the largest soft cap", in, b.Run(k))
	p.Softcap *= 2
	if err := k.Serves(p, kernel.Chip{}); err == nil || !strings.Contains(err.Error(), "a soft cap is at most 4096") {
		t.Errorf("a soft cap of %v: %v", p.Softcap, err)
	}
}

// TestPagesOfAnySize: pages of 1, 4 and 24 rows, as FlashAttention-3 tests them.
func TestPagesOfAnySize(t *testing.T) {
	for i, size := range []int{1, 4, 24} {
		p := attends(2, 4, 2, 1, 150, 64)
		p.LSE, p.Keys, p.PageSize, p.LengthsKV = true, problem.Paged, size, "150,33"
		p.Layout, p.Scaling = []problem.Layout{problem.BHSD, problem.BSHD}[i%2], []problem.Scaling{problem.PerHead, problem.PerPage, problem.PerToken}[i]
		eachConfig(t, p.Filled(), func(*testing.T, inputs, result) {})
	}
}

// TestGaps: tensors that are not contiguous, in every placement.
func TestGaps(t *testing.T) {
	for i, keys := range []problem.Placement{problem.Uniform, problem.Padded, problem.Packed, problem.Paged} {
		p := attends(2, 4, 2, 3, 150, 64)
		p.LSE, p.Keys, p.Layout = true, keys, []problem.Layout{problem.BHSD, problem.BSHD}[i%2]
		p.Queries = []problem.Placement{problem.Uniform, problem.Packed, problem.Padded, problem.Uniform}[i]
		p.Scaling, p.Shape = problem.PerToken, p.WithHeadDim(problem.HeadDim{D: 64, DV: []int{64, 128}[i/2]})
		p = p.Filled()
		p.Gaps = p.UsualGaps()
		eachConfig(t, p, func(*testing.T, inputs, result) {})
	}
}

// TestKeysBeforeTheWindow: a server may give away the pages before a window, so their entries of the table and their rows
// are not read. A tile has keys before and inside the window.
func TestKeysBeforeTheWindow(t *testing.T) {
	for _, size := range []int{16, 4} {
		p := attends(1, 2, 1, 1, 300, 64)
		p.LSE, p.Keys, p.PageSize, p.Window = true, problem.Paged, size, problem.NewWindow(42, 0)
		p = p.Filled()
		in := generate(t, "normal", p, 1)
		want := newBench(t, emulator(t, ptx.SM90, 0, nil), in).run(Default(p, h200))
		b := newBench(t, emulator(t, ptx.SM90, 0, nil), in)
		first := p.Skv - 1 - 42 // the first key of the window
		gone := bytes.Repeat([]byte{0xff}, 4*(first/size))
		table := b.Data("page_table")
		page := make([]byte, 4)
		if err := errors.Join(table.Read(int64(len(gone)), page), table.Write(0, gone)); err != nil {
			t.Fatal(err)
		}
		for _, tensor := range []string{"k", "v"} { // the rows before the window in its first page
			at := int64(binary.LittleEndian.Uint32(page)) * int64(size*p.D)
			if err := b.Data(tensor).Write(at, bytes.Repeat([]byte{0xff}, first%size*p.D)); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.run(Default(p, h200)); !got.Same(want) {
			t.Errorf("pages of %d rows: keys before the window change the result", size)
		}
	}
}

// TestMaskOfBits: a mask of bits gives the bits of a mask of bytes.
func TestMaskOfBits(t *testing.T) {
	for _, keys := range []int{7, 61, 128} {
		p := attends(2, 2, 1, 3, keys, 64)
		p.LSE, p.Masked = true, true
		for i, c := range []Config{Default(p, h200), Invariant(p, h200), Prefill(p, h200)} {
			in := generate(t, "normal", p, uint64(i))
			want := newBench(t, emulator(t, ptx.SM90, 0, nil), in).run(c)
			judge(t, p.String(), in, want)
			in.P.MaskBits = true
			if got := newBench(t, emulator(t, ptx.SM90, 0, nil), in).run(c); !got.Same(want) {
				t.Errorf("%v, %v: other bits than with bytes", in.P, c)
			}
		}
	}
}
