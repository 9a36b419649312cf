package memory

import "testing"

// TestMbarrierWord checks that the packed counts are the counts that were set.
func TestMbarrierWord(t *testing.T) {
	b := NewMbarrier(5)
	if b.Expected() != 5 || b.Pending() != 5 || b.Bytes() != 0 || b.Phase() != 0 {
		t.Fatalf("new barrier: %d of %d, %d bytes, phase %d", b.Pending(), b.Expected(), b.Bytes(), b.Phase())
	}
	for _, bytes := range []int32{1, -1, MbarrierMax, -MbarrierMax} {
		b = b.With(MbarrierMax, 3, bytes)
		if b.Expected() != MbarrierMax || b.Pending() != 3 || b.Bytes() != bytes || b.Phase() != 0 {
			t.Errorf("with %d bytes: %d of %d, %d bytes, phase %d", bytes, b.Pending(), b.Expected(), b.Bytes(), b.Phase())
		}
	}
	b = NewMbarrier(1)
	for phase := range uint32(9) {
		if b.Phase() != phase&3 {
			t.Errorf("phase %d is numbered %d", phase, b.Phase())
		}
		b = b.With(1, 0, 0)
	}
}
