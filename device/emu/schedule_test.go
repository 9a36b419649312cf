package emu

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// lastTickets runs four warps that draw 100 tickets each, and returns the last ticket of each.
func lastTickets(t *testing.T, schedule uint64) (last [4]uint32) {
	t.Helper()
	d := deviceFor(t, ptx.SM90a, Options{Schedule: schedule})
	data := runOn(t, d, kernelText(`
	and.b32 %r1, %r0, 31;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra END;
	mov.u32 %r2, 0;
LOOP:	atom.global.add.u32 %r3, [%rd0+16], 1;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p2, %r2, 100;
	@%p2 bra LOOP;
	shr.u32 %r4, %r0, 5;
	mul.wide.u32 %rd1, %r4, 4;
	add.u64 %rd1, %rd1, %rd0;
	st.global.u32 [%rd1], %r3;
END:`), 1, 128, make([]byte, 20))
	for i := range last {
		last[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return last
}

// TestSchedules checks the order in which the warps of a block run.
func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		schedule uint64
		want     [4]uint32
	}{
		{0, [4]uint32{99, 199, 299, 399}},
		{Reversed, [4]uint32{399, 299, 199, 99}},
		{Starved(0), [4]uint32{399, 99, 199, 299}},
		{Starved(-1), [4]uint32{99, 199, 299, 399}},
		{Starved(-2), [4]uint32{99, 199, 399, 299}},
	} {
		if got := lastTickets(t, c.schedule); got != c.want {
			t.Errorf("schedule %d: %v, want %v", c.schedule, got, c.want)
		}
	}
	if got := lastTickets(t, Ahead(2)); got[2] > 110 || got[0] < 300 {
		t.Errorf("warp 2 ahead: %v", got)
	}
	if got := lastTickets(t, Fine); min(got[0], got[1], got[2], got[3]) < 300 {
		t.Errorf("short turns: %v", got)
	}
}

// TestHold wants the warp that reaches a held instruction to execute it after all other warps have
// done what they can, with and without an observer.
func TestHold(t *testing.T) {
	text := kernelText(`
	shr.u32 %r1, %r0, 5;
	and.b32 %r2, %r0, 31;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd1, %rd1, %rd0;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra END;
	setp.ne.u32 %p2, %r1, 0;
	@%p2 bra OTHERS;
	atom.global.add.u32 %r3, [%rd0+16], 100;
	bra STORE;
OTHERS:	atom.global.add.u32 %r3, [%rd0+16], 1;
STORE:	st.global.u32 [%rd1], %r3;
END:	bar.sync 0;`)
	line := 1 + strings.Count(text[:strings.Index(text, "], 100;")], "\n")
	for _, c := range []struct {
		hold  int
		first uint32 // what warp 0 finds
	}{{0, 0}, {line, 3}} {
		for _, o := range []observe.Observer{nil, check.New()} {
			d := deviceFor(t, ptx.SM90a, Options{Hold: c.hold, Observer: o})
			data := runOn(t, d, text, 1, 128, make([]byte, 20))
			if got := binary.LittleEndian.Uint32(data); got != c.first {
				t.Errorf("hold %d, observed %t: warp 0 finds %d, want %d", c.hold, o != nil, got, c.first)
			}
		}
	}
}
