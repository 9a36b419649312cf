package check_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// oneKernel is a kernel k with a buffer of 4096 zeros.
type oneKernel struct {
	target  string // sm_80 when ""
	threads int    // 32 when 0
	before  string // functions and variables of the module
	body    string
}

const kernelRegisters = `
	.reg .pred %p<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<32>;
	.reg .f32 %f<32>;
	.reg .b64 %rd<16>;
	ld.param.u64 %rd0, [buf];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd1, %rd0, %rd1;
`

func (k oneKernel) text() string {
	target, version := k.target, "8.0"
	if target == "" {
		target = "sm_80"
	}
	return fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n%s\n.visible .entry k(.param .u64 buf)\n{%s%s\tret;\n}\n",
		version, target, k.before, kernelRegisters, k.body)
}

// run launches the kernel and returns the findings of these kinds, or of all kinds.
func (k oneKernel) run(t *testing.T, kinds ...finding.Kind) []finding.Finding {
	t.Helper()
	mod, err := parse.Parse("k.ptx", k.text())
	if err != nil {
		t.Fatal(err)
	}
	c := check.New(kinds...)
	dev, err := emu.New(mod.Target, emu.Options{Observer: c})
	if err != nil {
		t.Fatal(err)
	}
	k.launch(t, dev)
	return c.Findings()
}

// launch runs the kernel on a device and returns its buffer.
func (k oneKernel) launch(t *testing.T, dev device.Device) device.Buffer {
	t.Helper()
	m, err := dev.Load("k.ptx", k.text())
	if err != nil {
		t.Fatalf("%v in\n%s", err, k.text())
	}
	entry, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	buf, err := dev.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := buf.Write(0, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	threads := k.threads
	if threads == 0 {
		threads = 32
	}
	err = entry.Launch(context.Background(), device.Launch{
		Grid: device.D(1), Block: device.D(threads), Params: []device.Param{device.Ptr(buf)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return buf
}

var undefinedKinds = []finding.Kind{check.UninitRegister, check.UninitLocal, check.ShuffleInactive}

// expect runs the kernel and compares the findings with the marks in its text: a
// line with "<- KIND" has an error of that kind and one with "<- KIND warning" a
// warning, and there are no others.
func (k oneKernel) expect(t *testing.T, kinds ...finding.Kind) []finding.Finding {
	t.Helper()
	var want []string
	for i, line := range strings.Split(k.text(), "\n") {
		if _, mark, ok := strings.Cut(line, "<- "); ok {
			kind, severity, _ := strings.Cut(mark, " ")
			if severity == "" {
				severity = string(finding.Error)
			}
			want = append(want, fmt.Sprintf("line %d: %s %s", i+1, severity, kind))
		}
	}
	var got []string
	found := k.run(t, kinds...)
	for i := range found {
		d := &found[i]
		got = append(got, fmt.Sprintf("line %d: %s %s", d.Pos.Line, d.Severity, d.Kind))
		if d.Why == "" || d.Fix == "" || d.Message == "" {
			t.Errorf("%v does not explain itself", d)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
		for i := range found {
			t.Log(&found[i])
		}
		t.Log(k.text())
	}
	return found
}

// TestUndefinedUses: an undefined register is a defect in an address, a store, a
// guard or a branch, at that line.
func TestUndefinedUses(t *testing.T) {
	for name, body := range map[string]string{
		"store":          "st.global.u32 [%rd1], %r5; // <- uninit-register\n",
		"vector store":   "mov.u32 %r4, 1;\nshl.b32 %r1, %r0, 3;\nst.global.v2.u32 [%rd0], {%r4, %r5}; // <- uninit-register\n",
		"atomic":         "red.global.add.u32 [%rd0], %r5; // <- uninit-register\n",
		"address":        "and.b64 %rd5, %rd5, 7;\nor.b64 %rd5, %rd5, %rd0;\nand.b64 %rd5, %rd5, -8;\nld.global.u8 %r4, [%rd5];\n",
		"wrong address":  "add.u64 %rd6, %rd5, %rd0;\nld.global.u32 %r4, [%rd6]; // <- uninit-register\n",
		"guard":          "@%p5 st.global.u32 [%rd1], 1; // <- uninit-register\n",
		"branch":         "@%p5 bra OVER; // <- uninit-register\nst.global.u32 [%rd1], 1;\nOVER:\n",
		"negated branch": "@!%p5 bra OVER; // <- uninit-register\nst.global.u32 [%rd1], 1;\nOVER:\n",
		"computed guard": "setp.lt.s32 %p1, %r5, 3;\n@%p1 bra OVER; // <- uninit-register\nst.global.u32 [%rd1], 1;\nOVER:\n",
		"one path": "setp.lt.u32 %p1, %r0, 4;\n@%p1 bra OVER;\nmov.u32 %r5, 2;\nOVER:\n" +
			"st.global.u32 [%rd1], %r5; // <- uninit-register\n",
		"under a guard": "setp.lt.u32 %p1, %r0, 4;\n@%p1 mov.u32 %r5, 2;\nst.global.u32 [%rd1], %r5; // <- uninit-register\n",
		"in a loop": "mov.u32 %r1, 0;\nLOOP:\nadd.f32 %f1, %f1, 0f3F800000;\nadd.u32 %r1, %r1, 1;\n" +
			"setp.lt.u32 %p1, %r1, 4;\n@%p1 bra LOOP;\nst.global.f32 [%rd1], %f1; // <- uninit-register\n",
		"carry":     "add.cc.u32 %r4, %r5, 1;\naddc.u32 %r6, 1, 1;\nst.global.u32 [%rd1], %r6; // <- uninit-register\n",
		"half":      "mov.b32 %r4, {%h1, %h2};\nmov.b32 {%h3, %h4}, %r4;\nst.global.b16 [%rd1], %h4; // <- uninit-register\n",
		"part":      "mov.u16 %h1, 7;\nmov.b32 %r4, {%h1, %h2};\nst.global.b32 [%rd1], %r4; // <- uninit-register warning\n",
		"vector":    ".reg .v2 .b32 %v;\nmov.u32 %v.x, 1;\nst.global.v2.u32 [%rd0], %v; // <- uninit-register\n",
		"of a lane": "setp.eq.u32 %p1, %r0, 0;\n@%p1 mov.u32 %r5, 1;\nshfl.sync.idx.b32 %r6, %r5, 1, 31, -1;\nst.global.u32 [%rd1], %r6; // <- uninit-register\n",
		"product": "mov.b32 %r1, 0;\nmov.f32 %f0, 0f00000000;\n" +
			"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r5}, {%r1}, {%f0, %f0, %f0, %f0};\n" +
			"st.global.f32 [%rd1], %f1; // <- uninit-register\n",
		"metadata": "and.b32 %r4, %r0, 3;\nsetp.ne.u32 %p1, %r4, 1;\nmov.b32 %r1, 0;\nmov.f32 %f0, 0f00000000;\n@%p1 mov.b32 %r5, 0x44444444;\n" +
			"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1}, {%r1, %r1}, {%f0, %f0, %f0, %f0}, %r5, 1;\n" +
			"st.global.f32 [%rd1], %f1; // <- uninit-register\n",
	} {
		t.Run(name, func(t *testing.T) { oneKernel{body: body}.expect(t, undefinedKinds...) })
	}
}

// TestUndefinedUnused: an undefined value whose result is not used is not a defect.
func TestUndefinedUnused(t *testing.T) {
	for name, body := range map[string]string{
		"moved":         "mov.u32 %r6, %r5;\nadd.u32 %r7, %r6, 1;\n",
		"vector":        ".reg .v2 .b32 %v;\nmov.u32 %v.x, 1;\nst.global.u32 [%rd1], %v.x;\n",
		"selected away": "setp.lt.u32 %p1, %r0, 99;\nselp.u32 %r6, %r0, %r5, %p1;\nst.global.u32 [%rd1], %r6;\n",
		"masked":        "and.b32 %r6, %r5, 0;\nst.global.u32 [%rd1], %r6;\n",
		"times zero":    "mul.lo.u32 %r6, %r5, 0;\nst.global.u32 [%rd1], %r6;\n",
		"minus itself":  "sub.u32 %r6, %r5, %r5;\nxor.b32 %r7, %r5, %r5;\nst.global.v2.u32 [%rd0], {%r6, %r7};\n",
		"own condition": "setp.lt.u32 %p1, %r0, 4;\n@%p1 mov.u32 %r5, 2;\n@%p1 add.u32 %r5, %r5, 1;\n@%p1 st.global.u32 [%rd1], %r5;\n",
		"low half":      "mov.u16 %h1, 7;\nmov.b32 %r4, {%h1, %h2};\nadd.f16x2 %r4, %r4, %r4;\nmov.b32 {%h3, %h4}, %r4;\nst.global.b16 [%rd1], %h3;\n",
		"bit field":     "bfi.b32 %r5, 3, %r5, 0, 16;\nbfi.b32 %r5, 3, %r5, 16, 16;\nst.global.u32 [%rd1], %r5;\n",
		"byte":          "prmt.b32 %r6, %r0, %r5, 0x3210;\nst.global.u32 [%rd1], %r6;\n",
		"shifted out":   "mov.b64 %rd5, {%r5, %r0};\nshr.u64 %rd5, %rd5, 32;\nst.global.u32 [%rd1], %rd5;\n",
		"narrowed":      "mov.b64 %rd5, {%r0, %r5};\ncvt.u32.u64 %r6, %rd5;\nst.global.u32 [%rd1], %r6;\n",
		"logic":         "lop3.b32 %r6, %r0, %r5, 0, 0x80;\nor.b32 %r7, %r5, -1;\nst.global.v2.u32 [%rd0], {%r6, %r7};\n",
		"compared":      "mov.u16 %h1, 7;\nmov.b32 %r4, {%h2, %h1};\nsetp.gt.u32 %p1, %r4, 5;\n@%p1 st.global.u32 [%rd1], 1;\n",
		"decided vote": "setp.eq.u32 %p1, %r0, 0;\n@%p1 mov.pred %p2, 1;\n@!%p1 setp.gt.u32 %p2, %r5, 5;\n" +
			"vote.sync.any.pred %p3, %p2, -1;\n@%p3 st.global.u32 [%rd1], 1;\n",
		"other rows": "setp.lt.u32 %p1, %r0, 4;\nmov.b32 %r1, 0;\nmov.f32 %f0, 0f00000000;\n@%p1 mov.b32 %r5, 0;\n" +
			"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r5}, {%r1}, {%f0, %f0, %f0, %f0};\n" +
			"@%p1 st.global.f32 [%rd1], %f1;\n",
		"other metadata": "and.b32 %r4, %r0, 3;\nsetp.eq.u32 %p1, %r4, 1;\nmov.b32 %r1, 0;\nmov.f32 %f0, 0f00000000;\n@%p1 mov.b32 %r5, 0x44444444;\n" +
			"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1}, {%r1, %r1}, {%f0, %f0, %f0, %f0}, %r5, 1;\n" +
			"st.global.f32 [%rd1], %f1;\n",
	} {
		t.Run(name, func(t *testing.T) { oneKernel{body: body}.expect(t, undefinedKinds...) })
	}
}

// TestUndefinedTwins: the kernels of the first test are clean when the register is
// written.
func TestUndefinedTwins(t *testing.T) {
	const set = "mov.u32 %r5, 1;\nmov.f32 %f1, 0f00000000;\nmov.u64 %rd5, 0;\nmov.u16 %h1, 1;\nmov.u16 %h2, 1;\nsetp.eq.u32 %p5, %r0, 0;\n"
	for name, body := range map[string]string{
		"store":   "st.global.u32 [%rd1], %r5;\n",
		"address": "add.u64 %rd6, %rd5, %rd0;\nld.global.u32 %r4, [%rd6];\n",
		"guard":   "@%p5 st.global.u32 [%rd1], 1;\n",
		"branch":  "@%p5 bra OVER;\nst.global.u32 [%rd1], 1;\nOVER:\n",
		"loop": "mov.u32 %r1, 0;\nLOOP:\nadd.f32 %f1, %f1, 0f3F800000;\nadd.u32 %r1, %r1, 1;\n" +
			"setp.lt.u32 %p1, %r1, 4;\n@%p1 bra LOOP;\nst.global.f32 [%rd1], %f1;\n",
		"half": "mov.b32 %r4, {%h1, %h2};\nst.global.b32 [%rd1], %r4;\n",
	} {
		t.Run(name, func(t *testing.T) { oneKernel{body: set + body}.expect(t, undefinedKinds...) })
	}
}

// TestUndefinedReport: the report names the register, the lanes, and where it was
// read first or declared.
func TestUndefinedReport(t *testing.T) {
	k := oneKernel{body: "setp.lt.u32 %p1, %r0, 30;\n@%p1 mov.u32 %r5, 2;\nadd.u32 %r6, %r5, 1;\nst.global.u32 [%rd1], %r6;\n"}
	ds := k.run(t, check.UninitRegister)
	if len(ds) != 1 {
		t.Fatalf("%d defects", len(ds))
	}
	d := ds[0]
	if want := "st.global.u32 stores %r6, computed from %r5, which was never written"; d.Message != want {
		t.Errorf("%s\nwant %s", d.Message, want)
	}
	if d.Lanes != 3<<30 || d.Other == nil || d.Other.Inst != "add.u32" {
		t.Errorf("%v, other %+v", d.Lanes, d.Other)
	}
	ds = oneKernel{body: "st.global.u32 [%rd1], %r5;\n"}.run(t, check.UninitRegister)
	if len(ds) != 1 || ds[0].Other == nil || ds[0].Other.Inst != ".reg" || ds[0].Other.Pos.Line != 9 {
		t.Errorf("%+v", ds)
	}
}

// TestUndefinedCalls: undefined values are followed into functions and back. The registers of a
// function are undefined at each call.
func TestUndefinedCalls(t *testing.T) {
	const pass = `.func (.param .b32 back) pass(.param .b32 in)
{
	.reg .b32 %a<4>;
	ld.param.u32 %a1, [in];
	add.u32 %a2, %a1, 1;
	st.param.b32 [back], %a2;
	ret;
}`
	const call = `{
	.param .b32 a;
	.param .b32 b;
	st.param.b32 [a], %r5;
	call (b), pass, (a);
	ld.param.b32 %r6, [b];
	}
`
	oneKernel{before: pass, body: call + "st.global.u32 [%rd1], %r6; // <- uninit-register\n"}.expect(t, undefinedKinds...)
	oneKernel{before: pass, body: call + "mov.u32 %r6, 1;\nst.global.u32 [%rd1], %r6;\n"}.expect(t, undefinedKinds...)
	oneKernel{before: pass, body: "mov.u32 %r5, 3;\n" + call + "st.global.u32 [%rd1], %r6;\n"}.expect(t, undefinedKinds...)
	const keep = `.func keep(.param .b64 to, .param .b32 set)
{
	.reg .b32 %a<4>;
	.reg .b64 %b;
	.reg .pred %q;
	ld.param.u64 %b, [to];
	ld.param.u32 %a1, [set];
	setp.ne.u32 %q, %a1, 0;
	@%q mov.u32 %a2, 5;
	st.global.u32 [%b], %a2;MARK
	ret;
}`
	calls := func(sets ...int) (text string) {
		for _, n := range sets {
			text += fmt.Sprintf("{\n.param .b64 a;\n.param .b32 b;\nst.param.b64 [a], %%rd1;\nst.param.b32 [b], %d;\ncall keep, (a, b);\n}\n", n)
		}
		return text
	}
	oneKernel{before: strings.Replace(keep, "MARK", " // <- uninit-register", 1), body: calls(1, 0)}.expect(t, undefinedKinds...)
	oneKernel{before: strings.Replace(keep, "MARK", "", 1), body: calls(1, 1)}.expect(t, undefinedKinds...)
}

// TestUndefinedAccumulator: the accumulator of the first wgmma needs no value when
// scale-d is false.
func TestUndefinedAccumulator(t *testing.T) {
	text := func(scale, mark string) string {
		return `.shared .align 128 .b8 tile[4096];
	mov.u32 %r1, tile;
	shr.u32 %r1, %r1, 4;
	cvt.u64.u32 %rd4, %r1;
	or.b64 %rd4, %rd4, 0x0000000800080000;
	setp.ne.u32 %p1, ` + scale + `, 0;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %rd4, %rd4, %p1, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	st.global.f32 [%rd1], %f4;` + mark + "\n"
	}
	oneKernel{target: "sm_90a", threads: 128, body: text("0", "")}.expect(t, undefinedKinds...)
	oneKernel{target: "sm_90a", threads: 128, body: text("1", " // <- uninit-register")}.expect(t, undefinedKinds...)
}

// TestUndefinedFree: the checker watches no instruction of a kernel in which no register can be
// undefined.
func TestUndefinedFree(t *testing.T) {
	k := oneKernel{body: "shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1;\nst.global.u32 [%rd1], %r2;\n"}
	others := k.wanted(t, check.Misaligned)
	if n := k.wanted(t, undefinedKinds...); n != others {
		t.Errorf("%d instructions are watched, %d of them by others", n, others)
	}
	k.threads = 16 // with lanes missing, the checker watches the shuffle and what follows it
	if n := k.wanted(t, undefinedKinds...); n == others {
		t.Error("nothing is watched")
	}
}

// wanted returns the number of instructions that a checker wants to see.
func (k oneKernel) wanted(t *testing.T, kinds ...finding.Kind) int {
	t.Helper()
	o := &wantCounter{Checker: check.New(kinds...)}
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	k.launch(t, dev)
	return o.counted
}

// wantCounter counts the instructions that a checker wants to see.
type wantCounter struct {
	*check.Checker
	counted int
}

func (w *wantCounter) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	lo := w.Checker.Launch(info)
	for i := range info.Program {
		if lo.Wants(&info.Program[i]) {
			w.counted++
		}
	}
	return lo
}
