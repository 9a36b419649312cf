package devicetest

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// store is a case in which thread t writes 2·t.
const store = `
-- kernel.ptx --
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	add.u32 %r2, %r1, %r1;
	st.global.u32 [%rd2], %r2;
	ret;
}
-- launch.json --
{"entry": "k", "block": [4], "params": [{"poison": 16, "expect": "out.u32.txt", "type": "u32"}]}
-- out.u32.txt --
0 2 4 6
`

// TestRun checks that a case fails for each possible reason.
func TestRun(t *testing.T) {
	open := func(target ptx.Target) (device.Device, error) { return emu.New(target, emu.Options{}) }
	for _, c := range []struct{ name, old, new, want string }{
		{"right", "", "", ""},
		{"wrong value", "0 2 4 6", "0 2 5 6", "element 2: got 4, want 5"},
		{"wrong size", "0 2 4 6", "0 2 4", "12 bytes"},
		{"fault", `"block": [4]`, `"block": [5]`, "st.global.u32"},
		{"no kernel", "entry k", "entry j", `no entry "k": it has j`},
		{"bad module", "%r2, %r1, %r1", "%r2, %r1", "kernel.ptx:11"},
		{"nothing expected", `, "expect": "out.u32.txt", "type": "u32"`, "", "has no expected results"},
		{"unused file", "-- out.u32.txt --", "-- more --\n-- out.u32.txt --", "does not use more"},
		{"missing file", "-- out.u32.txt --", "-- out.f32.txt --", "out.u32.txt is not in the archive"},
		{"bad launch", `"block"`, `"blocks"`, `unknown field "blocks"`},
	} {
		err := run(t.Context(), []byte(strings.Replace(store, c.old, c.new, 1)), open)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestTooOld checks that a case is skipped on a device that cannot run it.
func TestTooOld(t *testing.T) {
	old := func(ptx.Target) (device.Device, error) { return emu.New(ptx.SM80, emu.Options{}) }
	err := run(t.Context(), []byte(strings.Replace(store, "sm_80", "sm_90", 1)), old)
	if err == nil || !strings.Contains(err.Error(), errTooOld.Error()) {
		t.Errorf("error %v, want %v", err, errTooOld)
	}
}
