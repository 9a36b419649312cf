package emu

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestGlobalsInBodies runs kernels whose .global and .const variables are declared inside
// functions, with initialisers and with the same names in several functions and scopes.
func TestGlobalsInBodies(t *testing.T) {
	text := header + `
.global .b32 v = 1;
.func (.reg .b32 back) f()
{
	.global .align 4 .b32 v[2] = {30, 31};
	ld.global.b32 back, [v+4];
	ret;
}
` + strings.TrimPrefix(kernelText(`
	ld.global.b32 %r1, [v];
	st.global.b32 [%rd0], %r1;
	{
		.global .b32 v = 5;
		.const .align 4 .b32 c[2] = {6, 7};
		.global .b64 p = generic(v);
		ld.global.b32 %r1, [v];
		ld.const.b32 %r2, [c+4];
		ld.global.b64 %rd2, [p];
		ld.b32 %r3, [%rd2];
		st.global.b32 [%rd0+4], %r1;
		st.global.b32 [%rd0+8], %r2;
		st.global.b32 [%rd0+12], %r3;
	}
	call (%r1), f, ();
	st.global.b32 [%rd0+16], %r1;`), header)
	if got, want := u32s(runText(t, text, 1, 1, 20)), []uint32{1, 5, 7, 5, 31}; !slices.Equal(got, want) {
		t.Errorf("the kernel stored %d, want %d", got, want)
	}
	m, err := deviceFor(t, ptx.SM90a, Options{}).Load("test.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Global("v")
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4)
	if err := b.Read(0, data); err != nil || data[0] != 1 {
		t.Errorf("the variable v of the module holds %d (%v), want 1", data, err)
	}
}
