package check_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
)

// TestLocal: a load of unwritten local memory is a defect if its value is used. It is reported at
// the line of the load.
func TestLocal(t *testing.T) {
	const depot = ".local .align 16 .b8 depot[64];\nmov.u64 %rd2, depot;\ncvta.local.u64 %rd3, %rd2;\n"
	for name, body := range map[string]string{
		"unwritten":       "ld.local.u32 %r1, [%rd2+8]; // <- uninit-local\nst.global.u32 [%rd1], %r1;\n",
		"by name":         "ld.local.u32 %r1, [depot+8]; // <- uninit-local\nst.global.u32 [%rd1], %r1;\n",
		"generic":         "ld.u32 %r1, [%rd3+8]; // <- uninit-local\nst.global.u32 [%rd1], %r1;\n",
		"computed":        "ld.local.u32 %r1, [%rd2]; // <- uninit-local\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%rd1], %r2;\n",
		"branch":          "ld.local.u8 %r1, [%rd2]; // <- uninit-local\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra OVER;\nst.global.u32 [%rd1], 1;\nOVER:\n",
		"one element":     "st.local.u32 [%rd2], 1;\nld.local.v2.u32 {%r1, %r2}, [%rd2]; // <- uninit-local\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;\n",
		"some lanes":      "setp.lt.u32 %p1, %r0, 9;\n@%p1 st.local.u32 [%rd2], 1;\nld.local.u32 %r1, [%rd2]; // <- uninit-local\nst.global.u32 [%rd1], %r1;\n",
		"through a copy":  "ld.local.u32 %r1, [%rd2];\nst.local.u32 [%rd2+4], %r1;\nld.local.u32 %r2, [%rd2+4]; // <- uninit-local\nst.global.u32 [%rd1], %r2;\n",
		"unused":          "ld.local.u32 %r1, [%rd2];\nadd.u32 %r2, %r1, 1;\nst.local.u32 [%rd2+4], %r2;\n",
		"written":         "st.local.u32 [%rd2+8], 7;\nld.local.u32 %r1, [%rd2+8];\nst.global.u32 [%rd1], %r1;\n",
		"written generic": "st.u32 [%rd3+8], 7;\nld.local.u32 %r1, [%rd2+8];\nst.global.u32 [%rd1], %r1;\n",
		"its own lanes":   "setp.lt.u32 %p1, %r0, 9;\n@%p1 st.local.u32 [%rd2], 1;\n@%p1 ld.local.u32 %r1, [%rd2];\n@%p1 st.global.u32 [%rd1], %r1;\n",
		"bit fields": "ld.local.u8 %r1, [%rd2];\nand.b32 %r1, %r1, 0xf8;\nor.b32 %r1, %r1, 3;\nst.local.u8 [%rd2], %r1;\n" +
			"ld.local.u8 %r1, [%rd2];\nand.b32 %r1, %r1, 7;\nor.b32 %r1, %r1, 40;\nst.local.u8 [%rd2], %r1;\n" +
			"ld.local.u8 %r1, [%rd2];\nst.global.u32 [%rd1], %r1;\n",
		"one bit field": "ld.local.u8 %r1, [%rd2];\nand.b32 %r1, %r1, 0xf8;\nor.b32 %r1, %r1, 3;\nst.local.u8 [%rd2], %r1;\n" +
			"ld.local.u8 %r1, [%rd2]; // <- uninit-local\nshr.u32 %r2, %r1, 3;\nsetp.eq.u32 %p1, %r2, 2;\n@%p1 st.global.u32 [%rd1], %r2;\n",
		"a variable beside": "st.local.u32 [%rd2], 1;\nst.local.u32 [%rd2+4], %r5;\nld.local.v2.u32 {%r1, %r2}, [%rd2];\nst.global.v2.u32 [%rd0], {%r1, %r2}; // <- uninit-register\n",
		"other lines": ".loc 1 1 1\nst.local.u32 [%rd2], 1;\n.loc 1 2 1\nld.local.u32 %r1, [%rd2];\nst.global.u32 [%rd0], %r1;\n" +
			".loc 1 3 1\nld.local.u32 %r2, [%rd2+4]; // <- uninit-local\nst.global.u32 [%rd0+4], %r2;\n",
		"padding in a word": "st.local.u8 [%rd2], 7;\nld.local.u32 %r1, [%rd2];\nst.global.u32 [%rd1], %r1;\n",
		"padding words": "st.local.u32 [%rd2], 7;\nst.local.u64 [%rd2+8], 9;\n" +
			"ld.local.u32 %r1, [%rd2];\nld.local.u32 %r2, [%rd2+4];\nld.local.u64 %rd4, [%rd2+8];\n" +
			"st.global.u32 [%rd0], %r1;\nst.global.u32 [%rd0+4], %r2;\nst.global.u64 [%rd0+8], %rd4;\n",
		"padding elements": "st.local.u64 [%rd2], 7;\nld.local.v4.u32 {%r1, %r2, %r3, %r4}, [%rd2];\nst.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};\n",
	} {
		t.Run(name, func(t *testing.T) { oneKernel{body: depot + body}.expect(t, undefinedKinds...) })
	}
}

// TestLocalFrames: the stack of a call is undefined for the next call. A function can read the
// local memory of its caller.
func TestLocalFrames(t *testing.T) {
	const f = `.func (.param .b32 back) f(.param .b32 set)
{
	.local .align 8 .b8 mine[16];
	.reg .b32 %a<4>;
	.reg .pred %q;
	ld.param.u32 %a1, [set];
	setp.ne.u32 %q, %a1, 0;
	@%q st.local.u32 [mine+4], 5;
	ld.local.u32 %a2, [mine+4];MARK
	st.param.b32 [back], %a2;
	ret;
}
.func g(.param .b64 to)
{
	.reg .b32 %a;
	.reg .b64 %b;
	ld.param.u64 %b, [to];
	ld.u32 %a, [%b];
	add.u32 %a, %a, 1;
	st.u32 [%b], %a;
	ret;
}`
	call := func(set string) string {
		return "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], " + set + ";\ncall (b), f, (a);\nld.param.b32 %r6, [b];\n}\nst.global.u32 [%rd1], %r6;\n"
	}
	const own = `.local .align 8 .b8 depot[16];
	st.local.u32 [depot], 1;
	mov.u64 %rd2, depot;
	cvta.local.u64 %rd3, %rd2;
	{
	.param .b64 a;
	st.param.b64 [a], %rd3;
	call g, (a);
	}
	ld.local.u32 %r1, [depot];
	st.global.u32 [%rd1], %r1;
`
	oneKernel{before: strings.Replace(f, "MARK", " // <- uninit-local", 1), body: own + call("1") + call("0")}.expect(t, undefinedKinds...)
	oneKernel{before: strings.Replace(f, "MARK", "", 1), body: own + call("1") + call("1")}.expect(t, undefinedKinds...)
}

// TestLocalStack: memory from alloca is undefined, also if it was written before.
func TestLocalStack(t *testing.T) {
	body := func(mark, again string) string {
		return `stacksave.u64 %rd5;
	alloca.u64 %rd2, 16;
	st.local.u32 [%rd2], 1;
	stackrestore.u64 %rd5;
	alloca.u64 %rd2, 16;
	` + again + `
	ld.local.u32 %r1, [%rd2];` + mark + `
	st.global.u32 [%rd1], %r1;
`
	}
	oneKernel{body: body(" // <- uninit-local", "")}.expect(t, undefinedKinds...)
	oneKernel{body: body("", "st.local.u32 [%rd2], 2;")}.expect(t, undefinedKinds...)
}

// TestLocalReport: the place of the finding is the load, and the other place is the use.
func TestLocalReport(t *testing.T) {
	ds := oneKernel{body: ".local .align 4 .b8 depot[64];\nld.local.u32 %r1, [depot+8];\nst.global.u32 [%rd1], %r1;\n"}.run(t, check.UninitLocal)
	if len(ds) != 1 {
		t.Fatalf("%d defects", len(ds))
	}
	d := ds[0]
	if d.Inst != "ld.local.u32" || d.Address != "depot+0x8" || d.Other == nil || d.Other.Inst != "st.global.u32" {
		t.Errorf("%+v at %s, other %+v", d, d.Address, d.Other)
	}
	if want := "ld.local.u32 reads local memory that was never written, and st.global.u32 at line 18 stores the value"; d.Message != want {
		t.Errorf("%s\nwant %s", d.Message, want)
	}
}
