package check_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// afterFaults is a kernel of two warps with one defect after the other. The buffer has
// 256 bytes, one word for each thread.
const afterFaults = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 buffer)
{
	.shared .align 4 .b32 s[64];
	.reg .pred %p;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [buffer];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %rd1, %r0, 4, %rd0;
	mov.u32 %r1, 7;
	st.global.u32 [%rd1+256], %r1; // <- oob-global
	ld.global.u32 %r2, [%rd1+256]; // <- oob-global
	st.global.u32 [%rd1], %r2;
	ld.global.v2.u32 {%r4, %r5}, [%rd0+4]; // <- misaligned
	mov.u32 %r3, s;
	st.shared.u32 [%r3+4096], %r1; // <- oob-shared
	mad.lo.u32 %r3, %r0, 4, %r3;
	st.shared.u32 [%r3], %r0; // <- shared-race
	xor.b32 %r3, %r3, 128;
	ld.shared.u32 %r4, [%r3]; // <- shared-race
	TAIL
	ret;
}`

// runPast runs afterFaults with a tail and returns what it found, the buffer and the error
// of the launch.
func runPast(t *testing.T, tail string, opts emu.Options) ([]finding.Finding, []byte, error) {
	t.Helper()
	c := check.New()
	opts.Observer = c
	d, err := emu.New(ptx.SM80, opts)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load("k.ptx", strings.Replace(afterFaults, "TAIL", tail, 1))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(256)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(strings.Repeat("\xff", 256))
	if err := b.Write(0, data); err != nil {
		t.Fatal(err)
	}
	launched := k.Launch(t.Context(), device.Launch{Grid: device.D(1), Block: device.D(64), Params: []device.Param{device.Ptr(b)}})
	if err := b.Read(0, data); err != nil {
		t.Fatal(err)
	}
	return c.Findings(), data, launched
}

// TestKeepGoing: after an access that is out of bounds the launch continues. The checkers
// report it and all that comes later, in this order, and the launch fails with the first
// fault.
func TestKeepGoing(t *testing.T) {
	found, data, err := runPast(t, "", emu.Options{KeepGoing: true})
	var got, want []string
	for i := range found {
		got = append(got, fmt.Sprintf("%d %s", found[i].Line, found[i].Kind))
	}
	for i, line := range strings.Split(afterFaults, "\n") {
		if _, kind, ok := strings.Cut(line, "<- "); ok {
			want = append(want, fmt.Sprintf("%d %s", i+1, kind))
		}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("found %v, want %v", got, want)
	}
	var fault *device.Fault
	if !errors.As(err, &fault) || fault.Line != found[0].Line || fault.Class != check.OOBGlobal {
		t.Errorf("the launch gave %v, want the first fault", err)
	}
	for i, b := range data {
		if b != 0 {
			t.Fatalf("byte %d is %#x, want the zeros that loads out of bounds yield", i, b)
		}
	}
	if f := &found[0]; f.Warp != 0 || f.Lanes != 1<<32-1 || f.Count != 64 {
		t.Errorf("the store is out of bounds in 64 threads; found %d times, first in %s", f.Count, f.Who())
	}
}

// TestStopAtFault: without KeepGoing the first fault ends the launch.
func TestStopAtFault(t *testing.T) {
	found, _, err := runPast(t, "", emu.Options{})
	var fault *device.Fault
	if len(found) != 1 || found[0].Kind != check.OOBGlobal || !errors.As(err, &fault) {
		t.Errorf("found %v and the launch gave %v, want one access out of bounds", found, err)
	}
}

// TestKeepGoingEnds: a loop that never ends without the data that was not loaded, a
// deadlock and another fault are consequences: the launch fails with the first fault.
func TestKeepGoingEnds(t *testing.T) {
	for name, tail := range map[string]string{
		"loop":     "setp.eq.u32 %p, %r2, 0;\nAGAIN: add.u32 %r6, %r6, 1;\n@%p bra AGAIN;\n",
		"deadlock": "setp.lt.u32 %p, %r0, 32;\n@%p bra OVER;\nbar.sync 1, 64;\nOVER:\n",
		"trap":     "trap;\n",
	} {
		t.Run(name, func(t *testing.T) {
			found, _, err := runPast(t, tail, emu.Options{KeepGoing: true})
			var fault *device.Fault
			if !errors.As(err, &fault) || fault.Class != check.OOBGlobal {
				t.Errorf("the launch gave %v, want the first fault", err)
			}
			for i := range found {
				if found[i].Kind == check.Deadlock {
					t.Errorf("%v follows from the fault", &found[i])
				}
			}
		})
	}
}
