package kerneltest

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/ref"
)

// Hide gives some keys the score -∞ for every query, by an infinity in the data: column 0 is
// 1 in every row of Q and -∞ in the rows of K that are hidden. The inputs must be e5m2, the
// only format with infinities.
func (in Inputs) Hide(hidden func(key int) bool) {
	const one, minusInf = 0x3c, 0xfc
	d := in.P.D
	for i := 0; i < len(in.Q.Data); i += d {
		in.Q.Data[i] = one
	}
	for i := 0; i < len(in.K.Data); i += d {
		if hidden(i / d % in.P.Skv) {
			in.K.Data[i] = minusInf
		}
	}
}

// JudgeHidden compares a result with the reference, where keys may be hidden. Hidden keys
// must count as little as masked ones. If no key is left, every output must be exactly 0 and
// every LSE -∞.
func JudgeHidden(t testing.TB, what string, in Inputs, r Result, none bool, tol float64) {
	t.Helper()
	want, err := ref.Attention(t.Context(), in.Q, in.K, in.V, ref.For(in.P))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := want.Compare(r.Tensor(t), ref.CompareOptions{Tol: tol}); err != nil || e.Bad > 0 {
		t.Errorf("%s: %v, %v", what, e, err)
	}
	if r.LSE != nil {
		if e, err := want.CompareLSE(r.LSE, ref.CompareOptions{Tol: 2e-2}); err != nil || e.Bad > 0 {
			t.Errorf("%s: lse %v, %v", what, e, err)
		}
	}
	if !none {
		return
	}
	for i, b := range r.O {
		if b != 0 && !(i%2 == 1 && b == 0x80) { // -0 is 0
			t.Fatalf("%s: byte %d of O is %#x, want zeros", what, i, b)
		}
	}
	for i, x := range r.LSE {
		if !math.IsInf(float64(x), -1) || !math.IsInf(want.LSE[i], -1) {
			t.Fatalf("%s: the LSE of row %d is %v, the reference has %v, want -∞", what, i, x, want.LSE[i])
		}
	}
}
