package emu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestSourceLine checks that the line of an instruction is the innermost line of the author's
// own code. If a single line of a library calls all the code, the called code is the author's
// code.
func TestSourceLine(t *testing.T) {
	const text = `.version 7.4
.target sm_80
.address_size 64
.file 1 "/lib/launch.h"
.file 2 "/mine/kernel.h"
.file 3 "/mine/loop.h"
.file 4 "/lib/arch.h"
.visible .entry k()
{
	.reg .b32 r;
	.loc 1 8 1
	mov.b32 r, 0;
	.loc 2 0 1
	mov.b32 r, 1;
	mov.b32 r, 2;
	mov.b32 r, 3;
	.loc 2 20 1, function_name names, inlined_at 1 9 1
	ADDS
	.loc 2 21 1, function_name names, inlined_at 1 9 1
	.loc 3 30 1, function_name names, inlined_at 2 21 1
	.loc 4 40 1, function_name names, inlined_at 3 30 1
	trap;
}
.section .debug_str
{
names:
	.b8 97,0
}
`
	for _, c := range []struct {
		adds int
		want string
	}{{5, "/lib/arch.h:40:1"}, {120, "/mine/loop.h:30:1"}} {
		d := deviceFor(t, ptx.SM80, Options{})
		err := launchText(t, d, strings.Replace(text, "ADDS", strings.Repeat("add.u32 r, r, 1;\n", c.adds), 1),
			device.Launch{Grid: device.D(1), Block: device.D(1)})
		var fault *device.Fault
		if !errors.As(err, &fault) || fault.Source != c.want {
			t.Errorf("%d instructions: %v, want it at %s", c.adds, fmt.Sprint(err), c.want)
		}
		if c.adds > 100 && !slices.Equal(fault.Callers, []string{"/mine/kernel.h:21:1"}) {
			t.Errorf("called at %v", fault.Callers)
		}
	}
}

// TestLineZero checks instructions without a line, which the compiler has moved: they belong
// to the line after them, or at the end of a block to the line before them.
func TestLineZero(t *testing.T) {
	const text = `.version 7.4
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k()
{
	.reg .b32 r;
	.loc 1 8 1
	mov.b32 r, 0;
	.loc 1 0 1
	FIRST
	.loc 1 20 1
	mov.b32 r, 1;
	.loc 1 0 1
	LAST
AFTER:
	.loc 1 30 1
	mov.b32 r, 2;
}
`
	for place, want := range map[string]string{"FIRST": "k.cu:20:1", "LAST": "k.cu:20:1"} {
		with := strings.Replace(text, place, "trap;", 1)
		with = strings.NewReplacer("FIRST", "", "LAST", "").Replace(with)
		err := launchText(t, deviceFor(t, ptx.SM80, Options{}), with, device.Launch{Grid: device.D(1), Block: device.D(1)})
		var fault *device.Fault
		if !errors.As(err, &fault) || fault.Source != want {
			t.Errorf("%s: %v, want it at %s", place, err, want)
		}
	}
}

// TestNesting checks that without information about inlining, lines above the function are
// attributed to functions that it calls.
func TestNesting(t *testing.T) {
	const text = `.version 7.4
.target sm_80
.address_size 64
.file 1 "k.cu"
.file 2 "lib.h"
.visible .entry k()
{
	.reg .b32 r;
	.loc 1 START
	mov.b32 r, 0;
	.loc 1 31 5
	mov.b32 r, 1;
	.loc 1 20 1
	mov.b32 r, 2;
	.loc 1 21 1
	mov.b32 r, 3;
	.loc 1 10 1
	ONE
	.loc 1 22 1
	TWO
	.loc 2 5 1
	THREE
	.loc 1 32 1
	FOUR
}
`
	for _, c := range []struct{ start, place, want string }{
		{"30 0", "ONE", "[k.cu:10:1 k.cu:21:1 k.cu:31:5]"},
		{"30 0", "TWO", "[k.cu:22:1 k.cu:31:5]"},
		{"30 0", "THREE", "[k.cu:22:1 k.cu:31:5]"},
		{"30 0", "FOUR", "[k.cu:32:1]"},
		{"30 2", "ONE", "[k.cu:10:1]"},
	} {
		with := strings.NewReplacer("START", c.start, c.place, "trap;", "ONE", "", "TWO", "", "THREE", "", "FOUR", "").Replace(text)
		err := launchText(t, deviceFor(t, ptx.SM80, Options{}), with, device.Launch{Grid: device.D(1), Block: device.D(1)})
		var fault *device.Fault
		if !errors.As(err, &fault) || fmt.Sprint(append([]string{fault.Source}, fault.Callers...)) != c.want {
			t.Errorf("%s: %s called from %v, want %s", c.place, fault.Source, fault.Callers, c.want)
		}
	}
}
