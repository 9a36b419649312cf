package emu

import (
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestLostUpdate counts blocks by a load and a store that are not one atomic operation. With short turns some counts are
// lost, as on a GPU. An atomic operation loses none.
func TestLostUpdate(t *testing.T) {
	for code, lost := range map[string]bool{
		"ld.volatile.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\nst.volatile.global.u32 [%rd0], %r1;":       true,
		"ld.relaxed.gpu.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\nst.relaxed.gpu.global.u32 [%rd0], %r1;": true,
		"atom.global.add.u32 %r1, [%rd0], 1;": false,
	} {
		dev, err := New(ptx.SM90a, Options{Schedule: Fine})
		if err != nil {
			t.Fatal(err)
		}
		m, err := dev.Load("counter.ptx", kernelText(code))
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		out, _ := dev.Alloc(16)
		if err := out.Write(0, make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		if err := k.Launch(t.Context(), device.Launch{Grid: device.D(8), Block: device.D(1), Params: []device.Param{device.Ptr(out)}}); err != nil {
			t.Fatal(err)
		}
		var count [4]byte
		if err := out.Read(0, count[:]); err != nil {
			t.Fatal(err)
		}
		if got := count[0]; (got < 8) != lost {
			t.Errorf("%s: counted %d of 8 blocks", code, got)
		}
	}
}
