package check_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
)

// TestShuffle: a value from a lane that does not take part is a defect if it is used. It is
// reported at the shuffle.
func TestShuffle(t *testing.T) {
	const mark = " // <- shuffle-inactive"
	tree := func(mask, mark string) (text string) {
		for _, n := range []string{"4", "2", "1"} {
			text += "shfl.sync.down.b32 %r2, %r1, " + n + ", 31, " + mask + ";" + mark + "\nadd.u32 %r1, %r1, %r2;\n"
			mark = ""
		}
		return text
	}
	const half = "setp.ge.u32 %p1, %r0, 16;\n@%p1 bra OVER;\n"
	for _, c := range []struct {
		name    string
		threads int
		body    string
	}{
		{"all", 32, "shfl.sync.down.b32 %r1, %r0, 16, 31, -1;\nst.global.u32 [%rd1], %r1;\n"},
		{"half a block", 16, "shfl.sync.down.b32 %r1, %r0, 8, 31, -1;" + mark + "\nst.global.u32 [%rd1], %r1;\n"},
		{"half a block in range", 16, "shfl.sync.down.b32 %r1, %r0, 8, 0x100f, -1;\nst.global.u32 [%rd1], %r1;\n"},
		{"outside the mask", 32, half + "shfl.sync.bfly.b32 %r1, %r0, 16, 31, 0xffff;" + mark + "\nst.global.u32 [%rd1], %r1;\nOVER:\n"},
		{"within the mask", 32, half + "shfl.sync.bfly.b32 %r1, %r0, 8, 31, 0xffff;\nst.global.u32 [%rd1], %r1;\nOVER:\n"},
		{"index", 32, half + "shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff;" + mark + "\nst.global.u32 [%rd1], %r1;\nOVER:\n"},
		{"up", 32, half + "xor.b32 %r3, %r0, 15;\nshfl.sync.up.b32 %r1, %r0, 20, 0, 0xffff;\nst.global.u32 [%rd1], %r1;\nOVER:\n"},
		{"tree that uses one lane", 8, "mov.u32 %r1, %r0;\n" + tree("0xff", "") + "setp.eq.u32 %p2, %r0, 0;\n@%p2 st.global.u32 [%rd1], %r1;\n"},
		{"tree that uses all", 8, "mov.u32 %r1, %r0;\n" + tree("0xff", mark) + "st.global.u32 [%rd1], %r1;\n"},
		{"branch", 16, "shfl.sync.down.b32 %r1, %r0, 8, 31, -1;" + mark + "\nsetp.gt.u32 %p2, %r1, 3;\n@%p2 st.global.u32 [%rd1], 1;\n"},
		{"whether in range", 16, "shfl.sync.down.b32 %r1|%p2, %r0, 8, 31, -1;\n@%p2 st.global.u32 [%rd1], 1;\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds := oneKernel{threads: c.threads, body: c.body}.expect(t, undefinedKinds...)
			for i := range ds {
				if ds[i].Other == nil || !strings.Contains(ds[i].Message, "take no part in it") && !strings.Contains(ds[i].Message, "takes no part in it") {
					t.Errorf("%+v", ds[i])
				}
			}
		})
	}
}

// TestMembers: a lane that executes an exchange must be in its own mask. A mask that names lanes
// which have ended is a warning, unless such a lane is read.
func TestMembers(t *testing.T) {
	const half = "setp.ge.u32 %p1, %r0, 16;\n@%p1 ret;\n"
	for _, c := range []struct {
		name    string
		threads int
		body    string
	}{
		{"own lane", 32, "mov.pred %p2, 1;\nvote.sync.ballot.b32 %r1, %p2, -1;\n"},
		{"not in the mask", 32, "mov.pred %p2, 1;\nvote.sync.ballot.b32 %r1, %p2, 0xffff; // <- shuffle-inactive\n"},
		{"not in the barrier's", 32, "bar.warp.sync 0xffff; // <- barrier-divergence\n"},
		{"ended before the barrier", 32, half + "bar.warp.sync -1; // <- barrier-divergence warning\n"},
		{"ended", 32, half + "mov.pred %p2, 1;\nvote.sync.ballot.b32 %r1, %p2, -1; // <- shuffle-inactive warning\nst.global.u32 [%rd1], %r1;\n"},
		{"left out", 32, half + "mov.pred %p2, 1;\nvote.sync.ballot.b32 %r1, %p2, 0xffff;\nst.global.u32 [%rd1], %r1;\n"},
		{"never there", 16, "mov.pred %p2, 1;\nvote.sync.ballot.b32 %r1, %p2, -1;\nst.global.u32 [%rd1], %r1;\n"},
		{"ended and read", 32, half + "shfl.sync.down.b32 %r1, %r0, 8, 31, -1; // <- shuffle-inactive\nst.global.u32 [%rd1], %r1;\n"},
		{"ended and in a row", 32, half + "shfl.sync.down.b32 %r1, %r0, 8, 31, -1; // <- shuffle-inactive\n" +
			"add.u32 %r1, %r1, %r0;\nshfl.sync.down.b32 %r2, %r1, 4, 31, -1;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;\n"},
		{"ended and out of range", 32, half + "shfl.sync.down.b32 %r1, %r0, 8, 0x180f, -1; // <- shuffle-inactive warning\nst.global.u32 [%rd1], %r1;\n"},
		{"reduction", 32, half + "redux.sync.add.u32 %r1, %r0, -1; // <- shuffle-inactive warning\nst.global.u32 [%rd1], %r1;\n"},
		{"match", 32, half + "match.any.sync.b32 %r1, %r0, 0xffff;\nst.global.u32 [%rd1], %r1;\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			oneKernel{threads: c.threads, body: c.body}.expect(t, check.ShuffleInactive, check.BarrierDivergence)
		})
	}
}
