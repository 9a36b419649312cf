package occupancy

import (
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestFit compares with figures that were worked out by hand. internal/report compares with
// the driver of an H200.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		target ptx.Target
		block  Block
		want   Fit
	}{
		{ptx.SM90, Block{256, 32, 0}, Fit{8, "threads", 1}},
		{ptx.SM90, Block{32, 16, 0}, Fit{32, "blocks", 0.5}},
		{ptx.SM90, Block{256, 128, 0}, Fit{2, "registers", 0.25}},
		{ptx.SM90, Block{128, 255, 0}, Fit{2, "registers", 0.125}},
		{ptx.SM90, Block{256, 120, 56320}, Fit{2, "registers", 0.25}},
		{ptx.SM90, Block{640, 96, 84992}, Fit{1, "registers", 20.0 / 64}},
		{ptx.SM90, Block{128, 32, 227 << 10}, Fit{1, "shared memory", 4.0 / 64}},
		{ptx.SM90, Block{128, 32, 227<<10 + 1}, Fit{0, "shared memory", 0}},
		{ptx.SM89, Block{1024, 32, 0}, Fit{1, "threads", 32.0 / 48}},
		{ptx.SM89, Block{128, 89, 53504}, Fit{1, "shared memory", 4.0 / 48}}, // stage2 on an L4
		{ptx.SM89, Block{128, 89, 48896}, Fit{2, "shared memory", 8.0 / 48}}, // stage3a on an L4
		{ptx.SM80, Block{64, 0, 100}, Fit{32, "blocks", 1}},
		{ptx.SM80, Block{33, 32, 0}, Fit{32, "blocks", 1}},
		{ptx.SM80, Block{0, 32, 0}, Fit{0, "threads", 0}},
		{ptx.SM80, Block{32, 256, 0}, Fit{0, "registers", 0}},
	} {
		sm, ok := Of(c.target)
		if !ok {
			t.Fatalf("%v is not known", c.target)
		}
		if got := sm.Fit(c.block); got != c.want {
			t.Errorf("%v, %+v: %+v, want %+v", c.target, c.block, got, c.want)
		}
	}
	if _, ok := Of(ptx.Target{SM: 75}); ok {
		t.Error("sm_75 has no entry, and one is returned")
	}
}
