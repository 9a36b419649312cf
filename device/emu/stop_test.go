package emu

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestStop ends a launch of very many short blocks, none of which runs long enough to notice it, and
// one block that does not end.
func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		grid device.Dim
	}{
		"many blocks": {"", device.D(1<<31-1, 65535, 65535)},
		"endless":     {"again: add.u32 %r1, %r1, 1; bra again;", device.D(1)},
		"waiting":     {"again: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;", device.D(1 << 20)},
	} {
		d, err := New(ptx.SM90a, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load("test.ptx", kernelText(c.body))
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		err = k.Launch(ctx, device.Launch{Grid: c.grid, Block: device.D(32), Params: []device.Param{device.Ptr(bufferWith(t, d, make([]byte, 8)))}})
		cancel()
		var hang *device.Fault
		if !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &hang) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: the launch took %v", name, took)
		}
	}
}
