package isatest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

func matches(t *testing.T, ops ...string) []isa.Match {
	t.Helper()
	var ms []isa.Match
	for _, op := range ops {
		m := isa.Lookup(ptx.NewOpcode(op))
		if len(m) != 1 {
			t.Fatalf("%s: %d forms", op, len(m))
		}
		ms = append(ms, m...)
	}
	return ms
}

// TestSamples checks that the samples of a variant cover its constants, its optional
// operands and negated predicates.
func TestSamples(t *testing.T) {
	for _, c := range []struct{ op, want string }{
		{"mad.wide.s16", "mad.wide.s16 %s32_0, %s16_0, %s16_1, %s32_1;"},
		{"fma.rn.bf16x2", "fma.rn.bf16x2 %b32_0, %b32_1, %b32_2, %b32_3;"},
		{"cvt.u32.u8", "cvt.u32.u8 %u32_0, %b16_0;"},
		{"lop3.b32", "lop3.b32 %b32_0, %b32_1, %b32_2, %b32_3, 0;\n" +
			"lop3.b32 %b32_0, %b32_1, %b32_2, %b32_3, 255;"},
		{"setp.lt.or.f32", "setp.lt.or.f32 %pred_0, %f32_0, %f32_1, %pred_1;\n" +
			"setp.lt.or.f32 %pred_0|%pred_1, %f32_0, %f32_1, !%pred_2;"},
		{"setp.eq.f16x2", "setp.eq.f16x2 %pred_0|%pred_1, %b32_0, %b32_1;"},
	} {
		var lines []string
		for _, in := range isatest.Samples(matches(t, c.op)[0]) {
			lines = append(lines, in.String())
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.op, got, c.want)
		}
	}
}

// TestCheck checks that an error of the assembler is attributed to the variant that caused
// it.
func TestCheck(t *testing.T) {
	a, err := isatest.Find()
	if err != nil {
		t.Skip(err)
	}
	ms := matches(t, "add.u64", "add.u16x2", "sub.u64")
	needs, ok := a.Floor(isa.Needs{Version: ptx.Version{Major: 7}, Target: ptx.SM80})
	if !ok {
		t.Skipf("%s has no %s", a.Path, ptx.SM80)
	}
	bad, err := a.Check(ms, needs)
	if err != nil {
		t.Fatal(err)
	}
	if len(bad) != 1 || !strings.Contains(bad[1], "sm_90") {
		t.Errorf("add.u16x2 for sm_80: %v", bad)
	}
	if needs, ok = a.Floor(ms[1].Needs()); !ok {
		t.Skipf("%s is too old for add.u16x2", a.Path)
	}
	if bad, err = a.Check(ms, needs); err != nil || len(bad) > 0 {
		t.Errorf("for sm_90: %v, %v", bad, err)
	}
}

// TestAssemble checks that the error quotes the line that ptxas refuses.
func TestAssemble(t *testing.T) {
	a, err := isatest.Find()
	if err != nil {
		t.Skip(err)
	}
	m := isatest.Kernel("k", matches(t, "add.u16x2"))
	m.Version, m.Target = ptx.Version{Major: 7}, ptx.SM80
	err = a.Assemble(m)
	if err == nil || !strings.Contains(err.Error(), "add.u16x2 %b32_0, %b32_1, %b32_2;: ") {
		t.Errorf("add.u16x2 for sm_80: %v", err)
	}
	m = isatest.Kernel("k", matches(t, "add.u64"))
	m.Version, m.Target = ptx.Version{Major: 7}, ptx.SM80
	if err := a.Assemble(m); err != nil {
		t.Error(err)
	}
}

func ExampleKernel() {
	ms := isa.Lookup(ptx.NewOpcode("fma.rn.relu.bf16"))
	m := isatest.Kernel("k", ms)
	text := m.String()
	fmt.Println(m.Version, m.Target)
	fmt.Print(text[strings.Index(text, ".visible"):])
	// Output:
	// 7.0 sm_80
	// .visible .entry k(.param .align 128 .b8 arg[128])
	// {
	// 	.reg .b16 %b16_<4>;
	// 	.reg .b32 %word;
	// 	.reg .b64 %base;
	// 	ld.param.b64 %base, [arg];
	// 	ld.global.b16 %b16_0, [%base];
	// 	ld.global.b16 %b16_1, [%base+16];
	// 	ld.global.b16 %b16_2, [%base+32];
	// 	ld.global.b16 %b16_3, [%base+48];
	// 	// variant 0
	// 	fma.rn.relu.bf16 %b16_0, %b16_1, %b16_2, %b16_3;
	// 	st.volatile.global.b16 [%base], %b16_0;
	// done:
	// 	ret;
	// }
}
