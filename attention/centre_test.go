package attention

import (
	"context"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// offsetKeys adds an offset to a few columns of K: 40 times the spread of the keys, and different in
// each head.
func offsetKeys(in *ref.Inputs) {
	d := in.K.Shape
	for i := range in.K.Data {
		if c := i % d.D; c%16 == 5 {
			in.K.Data[i] += 40 * float32(1+i/(d.S*d.D))
		}
	}
}

// TestCentreKeys wants attention over keys with a large offset to be several times as accurate with the
// option, and the log-sum-exp to be the one of the keys as they were given.
func TestCentreKeys(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{Shape: problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 33, Skv: 70, D: 64}, Format: problem.E4M3, LSE: true}
	in := inputs(t, p)
	offsetKeys(in)
	want, err := ref.Attention(context.Background(), in.Q, in.K, in.V, ref.Options{})
	if err != nil {
		t.Fatal(err)
	}
	errors := func(opt Options) (o, lse float64) {
		op, err := NewWith(dev, p, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer op.Close()
		r := runFloats(t, op, in)
		got, err := ref.F16(op.Problem().O(), r.O)
		if err != nil {
			t.Fatal(err)
		}
		e, err := want.Compare(got, ref.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := want.CompareLSE(r.LSE, ref.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return e.RMSE, l.RMSE
	}
	plain, _ := errors(Options{})
	centred, lse := errors(Options{CentreKeys: true})
	// Q is rounded to e4m3 too, which moves the log-sum-exp by up to a sixteenth of q·mean.
	if !(plain >= 4*centred && centred <= 0.03) {
		t.Errorf("root mean square error %.3g, centred %.3g", plain, centred)
	}
	if !(lse <= 2) {
		t.Errorf("the log-sum-exp is %.3g off; the means contribute tens", lse)
	}
}

// TestCentredLSE wants the log-sum-exp of centred keys to be exact apart from the rounding of Q and K.
func TestCentredLSE(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{Shape: problem.Shape{B: 2, Hq: 4, Hkv: 2, Sq: 9, Skv: 30, D: 64}, Format: problem.E4M3, LSE: true, Scale: 0.25}
	in := inputs(t, p)
	offsetKeys(in)
	op, err := NewWith(dev, p, Options{CentreKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	r := runFloats(t, op, in)

	// The keys that the kernel has seen, with their means again, as exact numbers.
	c, means, err := fp8.Centre(in.K.Shape, in.K.Data)
	if err != nil {
		t.Fatal(err)
	}
	k, err := fp8.Quantise(fp8.E4M3, fp8.PerHead, in.K.Shape, c)
	if err != nil {
		t.Fatal(err)
	}
	q, err := fp8.Quantise(fp8.E4M3, fp8.PerHead, in.Q.Shape, in.Q.Data)
	if err != nil {
		t.Fatal(err)
	}
	seen := &ref.Floats{Shape: in.K.Shape, Data: k.Dequantise()}
	for i := range seen.Data {
		seen.Data[i] += means[i/(seen.Shape.S*seen.Shape.D)*seen.Shape.D+i%seen.Shape.D]
	}
	want, err := ref.Attention(context.Background(), q, seen, in.V, ref.Options{Scale: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := want.CompareLSE(r.LSE, ref.CompareOptions{Tol: 0.005}); err != nil || e.Bad > 0 {
		t.Errorf("%v, %v", e, err)
	}
}

func TestCentreRefused(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{Shape: Square(1, 1, 16, 64), Format: problem.E4M3}
	for want, change := range map[string]func(*Problem){
		"a soft cap of 20 would give another result": func(p *Problem) { p.Softcap = 20 },
		"sinks would take another share":             func(p *Problem) { p.Sinks = true },
		"rotates the keys":                           func(p *Problem) { p.Rope = problem.RotateHalves },
	} {
		bad := p
		change(&bad)
		if op, err := NewWith(dev, bad, Options{CentreKeys: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %q", op, err, want)
		}
	}
	in := inputs(t, p)
	op, err := NewWith(dev, p, Options{CentreKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	x, err := in.Quantise(fp8.E4M3, fp8.PerHead)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Run(context.Background(), F32(in.Q.Data), Quantised(x.K), F32(in.V.Data)); err == nil || !strings.Contains(err.Error(), "call fp8.Centre before fp8.Quantise") {
		t.Errorf("keys that are quantised: %v", err)
	}
}
