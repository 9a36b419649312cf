package check_test

import (
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// width is an access of a lane: the suffix of its opcode, its operand and its size.
type width struct {
	suffix, value string
	bytes         int
}

var widths = []width{
	{"b8", "%h0", 1},
	{"b16", "%h0", 2},
	{"b32", "%r0", 4},
	{"b64", "%rd0", 8},
	{"v2.b8", "{%h0, %h0}", 2},
	{"v4.b8", "{%h0, %h0, %h0, %h0}", 4},
	{"v2.b16", "{%h0, %h0}", 4},
	{"v4.b16", "{%h0, %h0, %h0, %h0}", 8},
	{"v2.b32", "{%r0, %r0}", 8},
	{"v4.b32", "{%r0, %r0, %r0, %r0}", 16},
	{"v2.b64", "{%rd0, %rd0}", 16},
}

// racing is a kernel of two warps or two blocks. Each thread stores the width x at its
// own offset of memory that all of them share. Warp 1, or block 1, stores the width y.
const racing = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 buffer)
{
	.shared .align 16 .b8 s[1024];
	.reg .pred %%p;
	.reg .b16 %%h0;
	.reg .b32 %%r<4>;
	.reg .b64 %%rd<4>;
	mov.u32 %%r1, %%tid.x;
	and.b32 %%r2, %%r1, 31;
	shr.u32 %%r3, %%r1, 5;
	mov.u32 %%r0, %%ctaid.x;
	add.u32 %%r3, %%r3, %%r0;
	mad.lo.u32 %%r0, %%r3, 1000, %%r2; // the values differ
	cvt.u16.u32 %%h0, %%r0;
	cvt.u64.u32 %%rd0, %%r0;
	setp.eq.u32 %%p, %%r3, 0;
	%[1]s
	@!%%p bra SECOND;
	mad.wide.u32 %%rd2, %%r2, %[4]d, %%rd1;
	st.%[2]s [%%rd2], %[3]s;
	bra DONE;
SECOND:
	mad.wide.u32 %%rd2, %%r2, %[7]d, %%rd1;
	st.%[5]s [%%rd2], %[6]s;
DONE:
	ret;
}`

// TestWidths: a race names the bytes that one lane accesses with one instruction, however
// many lanes share the memory.
func TestWidths(t *testing.T) {
	warps := device.Launch{Grid: device.D(1), Block: device.D(64)}
	blocks := device.Launch{Grid: device.D(2), Block: device.D(32)}
	for _, where := range []struct {
		name, address string
		launch        device.Launch
	}{
		{"shared", "mov.u64 %rd1, s;\n\tcvta.shared.u64 %rd1, %rd1;", warps},
		{"global", "ld.param.u64 %rd1, [buffer];", warps},
		{"blocks", "ld.param.u64 %rd1, [buffer];", blocks},
	} {
		if where.launch.Grid.X > 1 && testing.Short() {
			continue // blocks that race on purpose race in the emulator too, where the race detector sees them
		}
		for _, x := range widths {
			for _, y := range widths {
				t.Run(fmt.Sprintf("%s/%s/%s", where.name, x.suffix, y.suffix), func(t *testing.T) {
					text := fmt.Sprintf(racing, where.address, x.suffix, x.value, x.bytes, y.suffix, y.value, y.bytes)
					found := findIn(t, text, where.launch)
					if len(found) != 1 {
						t.Fatalf("%d findings, want one race: %v", len(found), found)
					}
					f := &found[0]
					here, there := y.bytes, x.bytes
					if f.Inst == "st."+x.suffix {
						here, there = there, here
					}
					if f.Size != here || f.Other.Size != there {
						t.Errorf("a store of %d bytes meets one of %d: reported as %d and %d bytes", here, there, f.Size, f.Other.Size)
					}
					if f.Offset%int64(here) != 0 || f.Other.Offset%int64(there) != 0 ||
						f.Offset+int64(here) <= f.Other.Offset || f.Other.Offset+int64(there) <= f.Offset {
						t.Errorf("a store of %d bytes at %s does not meet one of %d bytes at %s", here, f.Address, there, f.Other.Address)
					}
				})
			}
		}
	}
}

// findIn runs a kernel whose parameter is a buffer of 1024 bytes.
func findIn(t *testing.T, text string, l device.Launch) []finding.Finding {
	t.Helper()
	c := check.New()
	d, err := emu.New(ptx.SM80, emu.Options{Observer: c, GuardShared: true, KeepGoing: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(1024)
	if err != nil {
		t.Fatal(err)
	}
	l.Params = []device.Param{device.Ptr(b)}
	if err := k.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return c.Findings()
}
