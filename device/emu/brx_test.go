package emu

import "testing"

// TestBranchTargetsLater checks a list of branch targets that stands after the brx that uses it.
func TestBranchTargetsLater(t *testing.T) {
	text := kernelText(`and.b32 %r2, %r0, 1;
	mov.u32 %r1, 9;
	brx.idx %r2, LIST;
A:
	mov.u32 %r1, 5;
	bra END;
B:
	mov.u32 %r1, 6;
END:
	mad.wide.u32 %rd1, %r0, 4, %rd0;
	st.global.u32 [%rd1], %r1;
	ret;
LIST: .branchtargets A, B;`)
	for i, v := range u32s(runText(t, text, 1, 32, 128)) {
		if want := uint32(5 + i%2); v != want {
			t.Errorf("thread %d has %d, want %d", i, v, want)
		}
	}
}
