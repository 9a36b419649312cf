package verify

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLivenessByIteration compares with the data-flow equations, iterated until
// nothing changes.
func TestLivenessByIteration(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		f := randomFunc(t, rng, 2+rng.IntN(12))
		c := newDecoder().decode(f, NewCFG(f), nil)
		got := c.live()
		want := iterate(c)
		for b := range want {
			for r, live := range want[b] {
				if slices.Contains(got.in[b], int32(r)) != live {
					t.Fatalf("%s live into block %d: %v, want %v", f.Regs[r].Name, b, !live, live)
				}
			}
		}
	}
}

func iterate(c *code) [][]bool {
	in := make([][]bool, len(c.cfg.Blocks))
	for b := range in {
		in[b] = make([]bool, len(c.fn.Regs))
	}
	for changed := true; changed; {
		changed = false
		for b, blk := range c.cfg.Blocks {
			live := make([]bool, len(c.fn.Regs))
			for _, s := range blk.Succs {
				for r := range live {
					live[r] = live[r] || in[s][r]
				}
			}
			for i := blk.End - 1; i >= blk.Start; i-- {
				for _, r := range c.writes(i) {
					live[r] = live[r] && !c.kills(i, r)
				}
				for _, r := range c.reads(i) {
					live[r] = true
				}
			}
			if !slices.Equal(live, in[b]) {
				in[b], changed = live, true
			}
		}
	}
	return in
}

func TestPressure(t *testing.T) {
	tests := []struct {
		name, body  string
		regs, preds int
		at          string
	}{
		{"none", "ret;", 0, 0, ""},
		{"chain", "ld.param.u32 %r1, [n]; add.s32 %r2, %r1, 1; add.s32 %r3, %r2, 1; st.shared.u32 [%r3], %r3; ret;",
			1, 0, "st.shared.u32 [%r3], %r3;"},
		{"three at once", "ld.param.u32 %r1, [n]; mov.u32 %r2, 1; mov.u32 %r3, 2; add.s32 %r1, %r1, %r2; add.s32 %r1, %r1, %r3; st.shared.u32 [%r1], %r1; ret;",
			3, 0, "add.s32 %r1, %r1, %r2;"},
		{"64 bits take two", "ld.param.u64 %rd1, [out]; mov.f32 %f1, 0f00000000; st.global.f32 [%rd1], %f1; ret;",
			3, 0, "st.global.f32 [%rd1], %f1;"},
		{"predicates apart", "ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2; and.pred %p3, %p1, %p2; @%p3 st.shared.u32 [%r1], %r1; ret;",
			1, 2, "@%p3 st.shared.u32 [%r1], %r1;"},
		{"live round a loop", "ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.u32 %r5, 7; loop: mov.u32 %r3, 1; add.s32 %r2, %r2, %r3; setp.lt.u32 %p1, %r2, %r1; @%p1 bra loop; st.shared.u32 [%r5], %r2; ret;",
			4, 1, "add.s32 %r2, %r2, %r3;"},
		{"a guard keeps the old value", "mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 1; @%p1 mov.u32 %r1, 2; st.shared.u32 [%r1], %r1; ret;",
			1, 1, "st.shared.u32 [%r1], %r1;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, f := kernelOf(t, tt.body)
			got := Pressure(f, NewCFG(f))
			if got.Registers != tt.regs || got.Predicates != tt.preds {
				t.Errorf("got %d registers and %d predicates, want %d and %d", got.Registers, got.Predicates, tt.regs, tt.preds)
			}
			at := ""
			if got.At != nil {
				at = got.At.String()
			}
			same(t, "peak", at, tt.at)
		})
	}
}
