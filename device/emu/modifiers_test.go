package emu

import (
	"encoding/binary"
	"testing"
)

// TestModifierOrder runs opcodes whose modifiers are not in the order of the table, as an assembler
// accepts them.
func TestModifierOrder(t *testing.T) {
	text := kernelText(`.shared .align 8 .b64 bar;
mov.u32 %r1, bar;
mbarrier.b64.shared::cta.init [%r1], 1;
mbarrier.b64.shared.arrive %rd2, [%r1];
mov.f32 %f0, 0f3F800001; mov.f32 %f1, 0f3F800001; mov.f32 %f2, 0fBF800002;
mul.f32.ftz %f3, %f0, %f1;
add.f32.ftz %f3, %f3, %f2;
mov.b32 %r2, %f3;
st.u32.global [%rd0], %r2;`)
	if got := binary.LittleEndian.Uint32(runText(t, text, 1, 1, 4)); got != 0x28800000 {
		t.Errorf("a fused product is %#x, want 0x28800000", got)
	}
}
