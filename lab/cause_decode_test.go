package lab

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestDecodings wants the tensors to be named that a kernel decodes by another step or zero.
func TestDecodings(t *testing.T) {
	a := computing("u8", problem.F32, false)
	c := Case{Shape: problem.Square(1, 2, 80, 64), Seed: 3, Distribution: "normal"}
	in, err := newInputs(a, c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReference(t.Context(), a, c, in, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		by      decoding
		q, k, v bool
		want    string
	}{
		{decoding{128, 127.5}, false, false, true, "V is decoded as (u-128)/127.5, but encoded as (u-128)/127: its values are 127/127.5 = 0.9961 times the right ones"},
		{decoding{128, 127.5}, true, false, false, "Q or K is decoded as (u-128)/127.5"},
		{decoding{128, 127.5}, false, true, false, "Q or K is decoded as (u-128)/127.5"},
		{decoding{128, 127.5}, true, true, false, "Q and K are decoded as (u-128)/127.5"},
		{decoding{128, 128}, true, true, true, "Q, K and V are decoded as (u-128)/128, but encoded as (u-128)/127: their values are 127/128 = 0.9922 times"},
		{decoding{127.5, 127.5}, true, true, true, "Q, K and V are decoded as (u-127.5)/127.5"},
		{decoding{127.5, 127.5}, false, false, true, "V is decoded as (u-127.5)/127.5, but encoded as (u-128)/127: its values are 127/127.5 = 0.9961 times the right ones and 0.5 of a step too large"},
		{decoding{127, 127}, false, false, true, "V is decoded as (u-127)/127, but encoded as (u-128)/127: its values are 1 of a step too large"},
		{rightDecoding, false, false, false, ""},
	} {
		pick := func(wrong bool, tensor ref.Tensor, scales string) ref.Tensor {
			if !wrong {
				return tensor
			}
			return decoded{tensor, x.by, in.data[scales]}
		}
		wrong, err := ref.Attention(t.Context(), pick(x.q, in.q, "qs"), pick(x.k, in.k, "ks"), pick(x.v, in.v, "vs"), ref.For(a.Problem))
		if err != nil {
			t.Fatal(err)
		}
		got := newRows(c.Shape.Q(), r.quantised.Rows)
		copy(got.o, wrong.O)
		judged := r.blank(c)
		if judged.Errors, judged.Dequantised, err = r.compare(got); err != nil {
			t.Fatal(err)
		}
		if err := blame(a, &judged, r, in, got); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(judged.Cause, x.want) || x.want == "" && judged.Cause != "" {
			t.Errorf("%v, %v %v %v: %q, want %q", x.by, x.q, x.k, x.v, judged.Cause, x.want)
		}
	}
}
