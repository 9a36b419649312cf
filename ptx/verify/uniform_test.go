package verify

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

func TestUniformity(t *testing.T) {
	tests := []struct {
		name, body string
		want       map[string]Variance
	}{
		{"sources", `mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %warpid; mov.u32 %r5, %clock;
			ld.param.u32 %r6, [n]; mov.u32 %r7, 7; mov.u32 %r8, %lanemask_lt; add.s32 %r9, %r3, %r1; add.s32 %r10, %r3, %r6; ret;`,
			map[string]Variance{"%r1": Varies, "%r2": Varies, "%r3": Invariant, "%r4": Invariant, "%r5": MayVary,
				"%r6": Invariant, "%r7": Invariant, "%r8": Varies, "%r9": Varies, "%r10": Invariant}},
		{"memory", `.local .b32 own; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; add.s64 %rd3, %rd1, %rd2;
			ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd3]; ld.local.u32 %r4, [own]; atom.global.add.u32 %r5, [%rd1], 1;
			mov.u64 %rd4, own; ld.u32 %r6, [%rd4]; ret;`,
			map[string]Variance{"%r2": Invariant, "%r3": Varies, "%r4": MayVary, "%r5": Varies, "%r6": MayVary}},
		{"warp", `mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 3; vote.sync.ballot.b32 %r2, %p1, -1; shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;
			shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; redux.sync.add.s32 %r5, %r1, -1; shfl.sync.idx.b32 %r6, %r1, 0, 0x181f, -1;
			elect.sync %r7|%p2, -1; mov.u32 %r8, 31; shfl.sync.idx.b32 %r9|%p3, %r1, %r5, %r8, -1; match.any.sync.b32 %r10, %r1, -1; ret;`,
			map[string]Variance{"%p1": Varies, "%r2": Invariant, "%r3": Invariant, "%r4": Varies, "%r5": Invariant,
				"%r6": Varies, "%r7": Invariant, "%p2": Varies, "%r9": Invariant, "%p3": Invariant, "%r10": Varies}},
		{"number of the warp", `mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; shr.u32 %r3, %r1, 4; and.b32 %r4, %r1, 31; and.b32 %r5, %r1, -32;
			mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.s32 %r8, %r6, %r7, %r1; shr.u32 %r9, %r8, 5; add.s32 %r10, %r1, 7; shr.u32 %r11, %r10, 5;
			setp.lt.u32 %p1, %r1, 128; setp.lt.u32 %p2, %r1, 100; setp.gt.u32 %p3, %r1, 127; setp.gt.u32 %p4, %r8, 128; div.u32 %r12, %r1, 64;
			mul.lo.s32 %r13, %r6, %r7; add.s32 %r14, %r13, %r1; shr.u32 %r15, %r14, 7; ret;`,
			map[string]Variance{"%r2": Invariant, "%r3": Varies, "%r4": Varies, "%r5": Invariant, "%r9": Invariant, "%r11": MayVary,
				"%p1": Invariant, "%p2": Varies, "%p3": Invariant, "%p4": Varies, "%r12": Invariant, "%r15": Invariant}},
		{"number of the warp in its warpgroup", `mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 127; shr.u32 %r3, %r2, 5; and.b32 %r4, %r1, 126; shr.u32 %r5, %r4, 5;
			rem.u32 %r6, %r1, 96; shr.u32 %r7, %r6, 5; rem.u32 %r8, %r1, 100; shr.u32 %r9, %r8, 5; ret;`,
			map[string]Variance{"%r2": Varies, "%r3": Invariant, "%r5": Varies, "%r7": Invariant, "%r9": Varies}},
		{"values that meet", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; @%p1 bra other; mov.u32 %r2, 1; mov.u32 %r3, 1; add.s32 %r4, %r3, 1; bra meet;
			other: mov.u32 %r2, 2; meet: st.shared.u32 [%r2], %r2; ret;`,
			map[string]Variance{"%r2": Varies, "%r3": Invariant, "%r4": Invariant}},
		{"values that meet before an exit", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; setp.eq.u32 %p2, %r1, 4; mov.u32 %r2, 1; @%p1 bra other; mov.u32 %r2, 2; @%p2 exit;
			other: st.shared.u32 [%r2], %r2; ret;`,
			map[string]Variance{"%r2": Varies}},
		{"a uniform branch", `ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 3; @%p1 bra other; mov.u32 %r2, 1; bra meet; other: mov.u32 %r2, 2; meet: st.shared.u32 [%r2], %r2; ret;`,
			map[string]Variance{"%r2": Invariant}},
		{"bra.uni", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; @%p1 bra.uni other; mov.u32 %r2, 1; bra meet; other: mov.u32 %r2, 2; meet: st.shared.u32 [%r2], %r2; ret;`,
			map[string]Variance{"%r2": Invariant}},
		{"a loop that lanes leave apart", `mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0; loop: add.s32 %r2, %r2, 1; add.s32 %r3, %r2, 5; setp.lt.u32 %p1, %r2, %r1; @%p1 bra loop; st.shared.u32 [%r2], %r2; ret;`,
			map[string]Variance{"%r2": Varies}},
		{"a loop that they leave together", `mov.u32 %r1, %ntid.x; mov.u32 %r2, 0; loop: add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra loop; st.shared.u32 [%r2], %r2; ret;`,
			map[string]Variance{"%r2": Invariant, "%p1": Invariant}},
		{"a uniform loop inside a divergent branch", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; @%p1 bra done; mov.u32 %r2, 0; loop: add.s32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra loop; done: ret;`,
			map[string]Variance{"%r2": Invariant, "%p2": Invariant}},
		{"a guard", `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3; mov.u32 %r2, 1; @%p1 mov.u32 %r2, 2; ret;`,
			map[string]Variance{"%r2": Varies}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, f := kernelOf(t, strings.ReplaceAll(tt.body, ";", ";\n"))
			u := Uniformity(f, NewCFG(f))
			for name, want := range tt.want {
				if got := u.Reg(register(t, f, name)); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
		})
	}
}

func register(t *testing.T, f *ptx.Func, name string) *ptx.Symbol {
	t.Helper()
	for _, r := range f.Regs {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no register %s", name)
	return nil
}

// TestFunctionParameters checks that the parameters of a device function count as different in
// each lane.
func TestFunctionParameters(t *testing.T) {
	m := mustParse(t, "f.ptx", header+".func f(.param .b32 a) {\n.reg .b32 %r1;\nld.param.u32 %r1, [a];\nret;\n}\n")
	f := m.Func("f")
	if got := Uniformity(f, NewCFG(f)).Reg(register(t, f, "%r1")); got != MayVary {
		t.Errorf("%%r1 is %s, want unknown", got)
	}
}

func TestControl(t *testing.T) {
	_, f := kernelOf(t, `mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3;
		@%p1 bra over;
		add.s32 %r2, %r1, 1;
	over:
		ret;`)
	g := NewCFG(f)
	u := Uniformity(f, g)
	for b, want := range []Variance{Invariant, Varies, Invariant} {
		if got, by := u.Control(b); got != want || want == Varies && by != 0 {
			t.Errorf("block %d runs %s under block %d, want %s under block 0", b, got, by, want)
		}
	}
	if u.Branch(0) != Varies {
		t.Errorf("the branch is %s", u.Branch(0))
	}
}
