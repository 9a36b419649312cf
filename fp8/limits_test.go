package fp8

import (
	"math"
	"testing"
)

// TestNoSuchFormat: the number after the last format is no format.
func TestNoSuchFormat(t *testing.T) {
	none := Format(len(Formats()))
	if got := none.String(); got != "Format(4)" {
		t.Errorf("its name is %q", got)
	}
	if text, err := none.MarshalText(); err == nil {
		t.Errorf("its text is %q", text)
	}
	if err := (&Tensor{Format: none, Shape: Dims{1, 1, 1, 1}, Data: []byte{0}, Scales: []float32{1}}).Check(); err == nil {
		t.Error("a tensor of it is accepted")
	}
}

// TestLargest: tensors have up to 2^40 elements, scales are up to the largest float32, and a block
// has at least one row.
func TestLargest(t *testing.T) {
	for dims, ok := range map[Dims]bool{
		{1 << 20, 1 << 20, 1, 1}: true, {1 << 20, 1 << 20, 1, 2}: false, {1, 1, 1<<40 + 1, 1}: false,
		{1 << 62, 4, 1, 1}: false, {1, 1, 1, 1}: true, {1, 0, 1, 1}: false,
	} {
		if err := dims.Check(); (err == nil) != ok {
			t.Errorf("%v: %v", dims, err)
		}
	}
	for scale, ok := range map[float32]bool{
		1: true, math.MaxFloat32: true, math.SmallestNonzeroFloat32: true, 0: false, -1: false, float32(math.Inf(1)): false, float32(math.NaN()): false,
	} {
		one := &Tensor{Format: E4M3, Scaling: PerTensor, Shape: Dims{1, 1, 1, 1}, Data: []byte{0}, Scales: []float32{scale}}
		if err := one.Check(); (err == nil) != ok {
			t.Errorf("scale %v: %v", scale, err)
		}
	}
	for rows, want := range map[int]Scaling{-3: 1, 0: 1, 1: 1, 2: 2} {
		if got := PerBlock(rows); got != want {
			t.Errorf("blocks of %d rows: %d, want %d", rows, got, want)
		}
	}
}
