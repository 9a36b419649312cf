package emu

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestFramesStartFresh runs many blocks, in two launches, that use a register and a predicate
// before they set them. Blocks use the frames of earlier blocks again, but every block finds
// the values with which registers start.
func TestFramesStartFresh(t *testing.T) {
	const blocks = 200
	text := kernelText(`
	setp.ne.u32 %p1, %r0, %r0;
	@%p1 mov.u32 %r5, 1;
	@%p1 mov.u64 %rd5, 1;
	@%p1 setp.eq.u32 %p2, %r0, %r0;
	selp.u32 %r6, 4, 0, %p2;
	cvt.u32.u64 %r7, %rd5;
	add.u32 %r6, %r6, %r7;
	add.u32 %r6, %r6, %r5;
	add.u32 %r6, %r6, 100;
	mov.u32 %r1, %ctaid.x;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd1, %rd0, %rd1;
	st.global.u32 [%rd1], %r6;
	mov.u32 %r5, 7;
	mov.u64 %rd5, 9;
	setp.eq.u32 %p2, %r0, %r0;
	@!%p2 st.global.u64 [%rd1], %rd5;
	@!%p2 st.global.u32 [%rd1], %r5;`)
	d := deviceFor(t, ptx.SM90a, Options{})
	out := bufferWith(t, d, make([]byte, 4*blocks))
	m, err := d.Load("fresh.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	for launch := range 2 {
		err := k.Launch(context.Background(), device.Launch{Grid: device.D(blocks), Block: device.D(32), Params: []device.Param{device.Ptr(out)}})
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 4*blocks)
		if err := out.Read(0, data); err != nil {
			t.Fatal(err)
		}
		for b := range blocks {
			if v := binary.LittleEndian.Uint32(data[4*b:]); v != 100 {
				t.Fatalf("block %d of launch %d starts with the values of another block: got %d, want 100", b, launch, v)
			}
		}
	}
}
