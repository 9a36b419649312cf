package emu

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestRefusedKernels checks that an instruction that the emulator does not execute refuses the
// kernels that can reach it, directly, through calls and through pointers, and no other kernel.
func TestRefusedKernels(t *testing.T) {
	text := header + `
.func bad() { .reg .f32 %f<5>; .reg .b64 %t; tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f0}]; ret; }
.func good() { ret; }
.func between() { call bad; ret; }
.visible .entry plain() { call good; ret; }
.visible .entry direct() { .reg .f32 %f<5>; .reg .b64 %t;
	tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f0}]; ret; }
.visible .entry calls() { call good; call between; ret; }
.visible .entry pointer() { .reg .b64 %a; mov.u64 %a, good; p: .callprototype _ (); call %a, (), p; ret; }
`
	m, err := deviceFor(t, ptx.SM90a, Options{}).Load("test.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"plain":   "",
		"direct":  "kernel direct cannot run on the emulator: test.ptx:10:2: tex.1d.v4.f32.f32: ",
		"calls":   "(in function bad, which the kernel can call)",
		"pointer": "(in function bad, which the kernel can call)",
	} {
		_, err := m.Kernel(name)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("kernel %s: %v, want %q", name, err, want)
		}
	}
}
