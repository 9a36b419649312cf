package verify

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestLivenessByIteration compares the result with a solution of the data-flow equations by
// iteration.
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
		{"a load is issued early", "mov.u32 %r1, 8; mov.u32 %r4, 1; add.s32 %r5, %r4, 1; st.shared.u32 [%r5], %r5; ld.shared.u32 %r2, [%r1]; st.shared.u32 [%r1], %r2; ret;",
			3, 0, "st.shared.u32 [%r5], %r5;"},
		{"with its address", "mov.u32 %r1, 8; mov.u32 %r4, 1; add.s32 %r5, %r4, 1; st.shared.u32 [%r5], %r5; xor.b32 %r3, %r1, 4; ld.shared.u32 %r2, [%r3]; st.shared.u32 [%r1], %r2; ret;",
			3, 0, "st.shared.u32 [%r5], %r5;"},
		{"but not before a barrier", "mov.u32 %r1, 8; mov.u32 %r4, 1; add.s32 %r5, %r4, 1; st.shared.u32 [%r5], %r5; bar.sync 0; ld.shared.u32 %r2, [%r1]; st.shared.u32 [%r1], %r2; ret;",
			2, 0, "st.shared.u32 [%r1], %r2;"},
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

// TestRegisterLimit checks that the launch bounds limit the registers of a thread.
func TestRegisterLimit(t *testing.T) {
	for bounds, want := range map[string]int{
		"":                                  255,
		".maxntid 64":                       255,
		".reqntid 384":                      168,
		".reqntid 640":                      96,
		".reqntid 16, 2, 20":                96,
		".maxntid 100 .minnctapersm 4":      128,
		".reqntid 256 .minnctapersm 2":      128,
		".maxnreg 168":                      168,
		".reqntid 512 .maxnreg 168":         128,
		".maxntid 1024 .minnctapersm 64000": 8,
	} {
		m := mustParse(t, "f.ptx", header+".entry f() "+bounds+" {\nret;\n}\n")
		f := m.Func("f")
		if got := Pressure(f, NewCFG(f)).Limit; got != want {
			t.Errorf("%q: %d registers, want %d", bounds, got, want)
		}
	}
}

// TestReplacedAccumulators checks that the accumulators of a wgmma are live before it only if
// the product adds to them.
func TestReplacedAccumulators(t *testing.T) {
	body := `.reg .pred %q; .reg .f32 %a<5>; .reg .b64 %d;
		mov.f32 %a1, 0f00000000; mov.f32 %a2, %a1; mov.f32 %a3, %a1; mov.f32 %a4, %a1; mov.b64 %d, 0; mov.pred %q, SCALE;
		wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%a1, %a2, %a3, %a4}, %d, %d, %q, 1, 1; st.shared.f32 [0], %a1; ret;`
	for scale, want := range map[string]bool{"0": false, "1": true} {
		text := ".version 8.4\n.target sm_90a\n.address_size 64\n.entry f() {\n" + strings.ReplaceAll(body, "SCALE", scale) + "\n}\n"
		f := mustParse(t, "f.ptx", text).Func("f")
		c := newDecoder().decode(f, NewCFG(f), nil)
		for i := range c.at {
			if in := c.at[i].in; in != nil && in.Op.Name == "wgmma" {
				if got := slices.Contains(c.reads(i), register(t, f, "%a1").ID); got != want {
					t.Errorf("with scale-d %s the product reads its accumulators: %t", scale, got)
				}
			}
		}
	}
}
