package hopper

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestExchangeBits: the bits are the same in every order of warps, and the checkers find no
// defect. Blocks without keys take part.
func TestExchangeBits(t *testing.T) {
	schedules := uint64(3)
	if *full {
		schedules = 20
	}
	for i, c := range []Config{SplitKeys(2), TwoPairs(), SplitKeys(1)} {
		p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: 70, Skv: 140 + 200*i, D: 64}, Format: problem.E4M3, LSE: true, Causal: i == 1}
		if i == 2 {
			p.Format = problem.E5M2
		}
		p = c.able(p)
		in := generate(t, "normal", p, uint64(i))
		var first result
		for s := range schedules {
			checker := check.New()
			r := newBench(t, emulator(t, s, checker), in).run(c)
			for _, d := range checker.Findings() {
				t.Errorf("%v, schedule %d: %v", c, s, d)
			}
			if s == 0 {
				first = r
				judge(t, in, r)
			} else if !bytes.Equal(first.O, r.O) {
				t.Errorf("%v: schedule %d gives other bits", c, s)
			}
		}
	}
}

// TestExchangeRounding: sending O/l as f16 adds at most a hundredth to the error against
// float64, which comes from rounding P to e4m3.
func TestExchangeRounding(t *testing.T) {
	p := square(1, 2, 300, 64, problem.E4M3)
	in := generate(t, "normal", p, 4)
	want, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rmse [2]float64
	for i, c := range []Config{{Sharing: Sharing{Split: 1}, Schedule: Schedule{Warpgroups: 1, TileN: 128, Stages: 2, BlocksPerSM: 1}}, SplitKeys(2)} {
		e, err := want.Compare(newBench(t, emulator(t, 0, nil), in).run(c).Tensor(t), ref.CompareOptions{Tol: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		rmse[i] = e.RMSE
	}
	if rmse[1] > 1.01*rmse[0] {
		t.Errorf("rmse %g with f16 sent, %g without an exchange", rmse[1], rmse[0])
	}
}

// TestExchangeNaN: a NaN in the keys of one warpgroup gives NaN in every row.
func TestExchangeNaN(t *testing.T) {
	p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: 10, Skv: 500, D: 64}, Format: problem.E4M3}
	for _, key := range []int{0, 200, 300, 499} {
		in := generate(t, "normal", p, 1)
		in.K.Data[key*64+5] = 0x7f
		r := newBench(t, emulator(t, 0, nil), in).run(SplitKeys(2))
		for i := 0; i < len(r.O); i += 2 {
			if h := binary.LittleEndian.Uint16(r.O[i:]); h&0x7fff <= 0x7c00 {
				t.Fatalf("key %d is NaN, element %d of O is not", key, i/2)
			}
		}
	}
}
