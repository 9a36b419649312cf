package attention

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
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
