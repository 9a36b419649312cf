package attention

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestDecode wants the decode kernel for one query against many keys. Its blocks count
// themselves in a workspace. Further runs, also on another stream, must find zeros there.
func TestDecode(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{Shape: Shape{B: 1, Hq: 8, Hkv: 2, Sq: 1, Skv: 700, D: 128}, LSE: true}
	op := newTestOp(t, dev, p, Options{})
	if name := op.Kernel().Name; name != "decode" {
		t.Fatalf("%s computes %v, want decode", name, p)
	}
	in := inputs(t, p)
	want := runFloats(t, op, in)
	right(t, op, in, want, ref.Options{})
	o := make([]byte, len(want.O))
	for range 2 {
		s, err := dev.(device.Streamer).NewStream()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := errors.Join(op.Queue(s, op.own), s.Read(op.own.O, 0, o), s.Sync(context.Background())); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(o, want.O) {
				t.Error("another run on another stream gives other bits")
			}
		}
	}
	if got := runFloats(t, op, in); !slices.Equal(got.O, want.O) || !slices.Equal(got.LSE, want.LSE) {
		t.Error("another run gives other bits")
	}
}

// TestPaged runs sequences of different lengths in pages, with a window, a soft cap and sinks.
// Memory that belongs to no sequence is NaN, and unused entries of the page table are -1.
func TestPaged(t *testing.T) {
	dev := open(t, ptx.SM89)
	p := Problem{
		Shape: Shape{B: 3, Hq: 4, Hkv: 2, Sq: 2, Skv: 300, D: 64}, Layout: problem.BSHD, Keys: problem.Paged, Sinks: true, Softcap: 20,
		Window: problem.NewWindow(200, 0), Batch: problem.Batch{LengthsKV: "300,0,77", PageSize: 32, TableWidth: 12, Pages: 14},
	}.Filled()
	op := newTestOp(t, dev, p, Options{})
	in := inputs(t, p)
	x, err := in.Quantise(codec(p), fp8.PerHead)
	if err != nil {
		t.Fatal(err)
	}
	places := ref.NewPlaces(p, 1)
	upload := func(data []byte) device.Buffer { return upload(t, dev, data) }
	sinks := []float32{0.5, -1, 2, 0}
	of := places.Operands(p)
	b := Buffers{
		Q: upload(places.Q.Scatter(x.Q.Data, p.D)), K: upload(places.KV.Scatter(x.K.Data, p.D)), V: upload(places.KV.Scatter(x.V.Data, p.D)),
		Qs: upload(bytesOf(x.Q.Scales)), Ks: upload(bytesOf(x.K.Scales)), Vs: upload(bytesOf(x.V.Scales)), Sinks: upload(bytesOf(sinks)),
		SeqUsedK: upload(of["seqused_k"]), PageTable: upload(of["page_table"]), O: upload(make([]byte, 2*op.Problem().O().Len())),
	}
	if err := op.Launch(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	options := ref.For(p)
	for _, s := range sinks {
		options.Sinks = append(options.Sinks, float64(s))
	}
	want, err := ref.Attention(context.Background(), x.Q, x.K, x.V, options)
	if err != nil {
		t.Fatal(err)
	}
	o := make([]byte, 2*op.Problem().O().Len())
	if err := b.O.Read(0, o); err != nil {
		t.Fatal(err)
	}
	got, err := ref.F16(op.Problem().O(), places.Q.Gather(o, 2*p.D))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := want.Compare(got, ref.CompareOptions{Tol: 0.004}); err != nil || e.Bad > 0 {
		t.Errorf("%v, %v", e, err)
	}
	b.PageTable = nil
	if err := op.Launch(context.Background(), b); err == nil || !strings.Contains(err.Error(), "buffer page_table is missing") {
		t.Errorf("without a page table: %v", err)
	}
	if _, err := op.Run(context.Background(), F32(in.Q.Data), F32(in.K.Data), F32(in.V.Data)); err == nil || !strings.Contains(err.Error(), "use Launch") {
		t.Errorf("a run of tensors: %v", err)
	}
}
