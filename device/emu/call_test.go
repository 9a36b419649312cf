package emu

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestCallParam calls with values, arrays and results in .param memory.
func TestCallParam(t *testing.T) {
	text := header + `
.func (.param .b32 sum) weigh(.param .align 8 .b8 in[16], .param .b32 n)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [in+8];
	ld.param.u32 %r1, [in];
	ld.param.u32 %r2, [n];
	cvt.u32.u64 %r3, %rd1;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	st.param.b32 [sum], %r1;
	ret;
}
` + strings.TrimPrefix(kernelText(`{
	.param .align 8 .b8 a[16];
	.param .b32 b;
	.param .b32 back;
	mov.u64 %rd2, 1000;
	st.param.u32 [a], %r0;
	st.param.u64 [a+8], %rd2;
	st.param.b32 [b], 7;
	call.uni (back), weigh, (a, b);
	ld.param.u32 %r1, [back];
	}`+store), header)
	for i, v := range u32s(runText(t, text, 1, 64, 256)) {
		if want := uint32(1000 + 7*i); v != want {
			t.Fatalf("thread %d has %d, want %d", i, v, want)
		}
	}
}

// TestCallReg passes all arguments in registers, including a constant and a predicate.
func TestCallReg(t *testing.T) {
	text := header + `
.func (.reg .u32 sum, .reg .u64 wide) f(.reg .u32 a, .reg .u32 b, .reg .f32 c, .reg .pred p)
{
	.reg .b32 %t;
	cvt.rzi.u32.f32 %t, c;
	add.u32 sum, a, b;
	@p add.u32 sum, sum, %t;
	mul.wide.u32 wide, a, 3;
	ret;
}
` + strings.TrimPrefix(kernelText(`
	setp.gt.u32 %p1, %r0, 9;
	call (%r1, %rd2), f, (%r0, 5, 0f42C80000, %p1);
	cvt.u32.u64 %r2, %rd2;
	add.u32 %r1, %r1, %r2;
	`+store), header)
	for i, v := range u32s(runText(t, text, 1, 32, 128)) {
		want := uint32(4*i + 5)
		if i > 9 {
			want += 100
		}
		if v != want {
			t.Fatalf("thread %d has %d, want %d", i, v, want)
		}
	}
}

// TestCallRecursive computes a different Fibonacci number in each lane, with a local
// variable in each frame.
func TestCallRecursive(t *testing.T) {
	text := header + `
.func (.param .b32 back) fib(.param .b32 n)
{
	.local .b32 keep[4];
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.reg .pred %p;
	ld.param.u32 %r1, [n];
	setp.lt.u32 %p, %r1, 2;
	@%p bra LEAF;
	mov.u64 %rd1, keep;
	cvta.local.u64 %rd2, %rd1;
	st.local.u32 [keep+4], %r1;
	sub.u32 %r2, %r1, 1;
	{
	.param .b32 a;
	.param .b32 b;
	st.param.b32 [a], %r2;
	call (b), fib, (a);
	ld.param.b32 %r3, [b];
	}
	st.u32 [%rd2+8], %r3;
	ld.local.u32 %r4, [%rd1+4];
	sub.u32 %r4, %r4, 2;
	{
	.param .b32 a;
	.param .b32 b;
	st.param.b32 [a], %r4;
	call (b), fib, (a);
	ld.param.b32 %r5, [b];
	}
	ld.local.u32 %r6, [keep+8];
	add.u32 %r1, %r6, %r5;
LEAF:
	st.param.b32 [back], %r1;
	ret;
}
` + strings.TrimPrefix(kernelText(`{
	.param .b32 a;
	.param .b32 b;
	and.b32 %r2, %r0, 15;
	st.param.b32 [a], %r2;
	call (b), fib, (a);
	ld.param.b32 %r1, [b];
	}`+store), header)
	fib := []uint32{0, 1}
	for len(fib) < 16 {
		fib = append(fib, fib[len(fib)-1]+fib[len(fib)-2])
	}
	for i, v := range u32s(runText(t, text, 1, 40, 160)) {
		if v != fib[i%16] {
			t.Fatalf("thread %d has %d, want %d", i, v, fib[i%16])
		}
	}
}

// TestCallIndirect calls different functions of a table in different lanes, with a
// prototype, a list of targets and an alias.
func TestCallIndirect(t *testing.T) {
	for _, last := range []string{
		"proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n\tcall (b), %rd3, (a), proto;",
		"list: .calltargets triple, square;\n\tcall (b), %rd3, (a), list;",
	} {
		text := header + `
.func (.param .b32 r) triple(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; mul.lo.u32 %r, %r, 3; st.param.b32 [r], %r; ret; }
.func (.param .b32 r) square(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; mul.lo.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }
.func (.param .b32 r) other(.param .b32 x);
.alias other, triple;
.global .align 8 .u64 table[3] = {triple, square, other};
` + strings.TrimPrefix(kernelText(`{
	.param .b32 a;
	.param .b32 b;
	mov.u64 %rd2, table;
	rem.u32 %r2, %r0, 3;
	mul.wide.u32 %rd3, %r2, 8;
	add.u64 %rd2, %rd2, %rd3;
	ld.global.u64 %rd3, [%rd2];
	st.param.b32 [a], %r0;
	`+last+`
	ld.param.b32 %r1, [b];
	}`+store), header)
		for i, v := range u32s(runText(t, text, 1, 32, 128)) {
			want := uint32(3 * i)
			if i%3 == 1 {
				want = uint32(i * i)
			}
			if v != want {
				t.Fatalf("thread %d has %d, want %d", i, v, want)
			}
		}
	}
}

// TestCallDivergent leaves a function at different places. At one of them the thread ends.
func TestCallDivergent(t *testing.T) {
	text := header + `
.func (.param .b32 r) f(.param .b32 x)
{
	.reg .b32 %r<3>;
	.reg .pred %p<3>;
	ld.param.b32 %r1, [x];
	st.param.b32 [r], 100;
	setp.lt.u32 %p1, %r1, 8;
	@%p1 ret;
	setp.eq.u32 %p2, %r1, 20;
	@%p2 exit;
	st.param.b32 [r], 200;
	ret;
}
` + strings.TrimPrefix(kernelText(`{
	.param .b32 a;
	.param .b32 b;
	mov.u32 %r1, 1;
	st.param.b32 [a], %r0;
	setp.ne.u32 %p1, %r0, 3;
	@%p1 call (b), f, (a);
	@%p1 ld.param.b32 %r1, [b];
	vote.sync.ballot.b32 %r2, %p1, -1;
	setp.eq.u32 %p2, %r0, 31;
	@%p2 mov.u32 %r1, %r2;
	}`+store), header)
	for i, v := range u32s(runText(t, text, 1, 32, 128)) {
		want := uint32(200)
		switch {
		case i == 3:
			want = 1
		case i < 8:
			want = 100
		case i == 20:
			want = 0
		case i == 31:
			want = machine.FullMask &^ (1<<3 | 1<<20)
		}
		if v != want {
			t.Errorf("thread %d has %#x, want %#x", i, v, want)
		}
	}
}

func TestCallFaults(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	_, err := d.Load("test.ptx", header+`.extern .func elsewhere;
.visible .entry k() { call elsewhere; ret; }`)
	if err == nil || !strings.Contains(err.Error(), "test.ptx:5:23: call: function elsewhere has no body") {
		t.Errorf("extern function: %v", err)
	}
	failText(t, d, kernelText("mov.u64 %rd1, 64;\nproto: .callprototype _ ();\ncall %rd1, proto;"), 1, 1, "call of address 0x40: there is no function")
	failText(t, d, header+`.func f() { call f; ret; }`+strings.TrimPrefix(kernelText("call f;"), header), 1, 1, "nested more than 4096 deep")
}

// printer returns a kernel that prints a format. code stores the arguments at [%SP].
func printer(format, code string) string {
	var bytes []string
	for _, c := range []byte(format + "\x00") {
		bytes = append(bytes, fmt.Sprint(c))
	}
	return header + fmt.Sprintf(`
.extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 args);
.global .align 1 .b8 fmt[%d] = {%s};
.global .align 1 .b8 word[4] = {97, 98, 99, 0};
`, len(bytes), strings.Join(bytes, ", ")) + strings.TrimPrefix(kernelText(`
	.local .align 8 .b8 depot[64];
	mov.u64 %rd1, depot;
	cvta.local.u64 %rd2, %rd1;
	`+code+`
	mov.u64 %rd3, fmt;
	cvta.global.u64 %rd4, %rd3;
	{
	.param .b64 a;
	.param .b64 b;
	.param .b32 c;
	st.param.b64 [a], %rd4;
	st.param.b64 [b], %rd2;
	call.uni (c), vprintf, (a, b);
	ld.param.b32 %r1, [c];
	}
	mov.u32 %r3, %ctaid.x;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 ret; // blocks run side by side: one of them writes
	`+store), header)
}

func TestPrintf(t *testing.T) {
	var out bytes.Buffer
	d := deviceFor(t, ptx.SM90a, Options{Output: &out})
	text := printer("%d %s %f %lld%%\n", `
	mov.u32 %r3, %ctaid.x;
	mad.lo.u32 %r2, %r3, 100, %r0;
	st.local.u32 [depot], %r2;
	mov.u64 %rd5, word;
	cvta.global.u64 %rd5, %rd5;
	st.local.u64 [depot+8], %rd5;
	mov.f64 %fd1, 0d3FF8000000000000;
	st.local.f64 [depot+16], %fd1;
	mov.u64 %rd6, -5;
	st.local.u64 [depot+24], %rd6;`)
	data := runOn(t, d, text, 20, 2, make([]byte, 8))
	if got := u32s(data); got[0] != 4 {
		t.Errorf("printf returned %d, want 4 arguments", got[0])
	}
	var want strings.Builder
	for b := range 20 {
		for th := range 2 {
			fmt.Fprintf(&want, "%d abc 1.500000 -5%%\n", 100*b+th)
		}
	}
	if out.String() != want.String() {
		t.Errorf("printed\n%s", out.String())
	}
}

// TestAssert checks that the error names the assertion and its place.
func TestAssert(t *testing.T) {
	text := header + `
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s) .noreturn;
.global .align 1 .b8 msg[6] = {120, 32, 62, 32, 48, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 name[2] = {107, 0};
` + strings.TrimPrefix(kernelText(`
	setp.ne.u32 %p1, %r0, 5;
	@%p1 bra END;
	{
	.param .b64 a;
	.param .b64 b;
	.param .b32 c;
	.param .b64 d;
	.param .b64 e;
	mov.u64 %rd1, msg;
	st.param.b64 [a], %rd1;
	mov.u64 %rd1, file;
	st.param.b64 [b], %rd1;
	st.param.b32 [c], 42;
	mov.u64 %rd1, name;
	st.param.b64 [d], %rd1;
	st.param.b64 [e], 1;
	call.uni __assertfail, (a, b, c, d, e);
	}
END:`), header)
	failText(t, deviceFor(t, ptx.SM90a, Options{}), text, 1, 32, "a.cu:42: k: assertion `x > 0` failed", "lane 5")
}

// TestHeap allocates memory in every thread. A second free and an access after free must
// fault.
func TestHeap(t *testing.T) {
	externs := header + `
.extern .func (.param .b64 p) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
`
	alloc := `{
	.param .b64 n;
	.param .b64 p;
	st.param.b64 [n], 16;
	call (p), malloc, (n);
	ld.param.b64 %rd5, [p];
	}
	mul.lo.u32 %r2, %r0, 5;
	st.u32 [%rd5+12], %r2;
	`
	release := `{
	.param .b64 p;
	st.param.b64 [p], %rd5;
	call free, (p);
	}
	`
	use := "ld.u32 %r1, [%rd5+12];\n"
	body := func(s string) string { return externs + strings.TrimPrefix(kernelText(s+store), header) }
	for i, v := range u32s(runText(t, body(alloc+use+release), 1, 64, 256)) {
		if v != uint32(5*i) {
			t.Fatalf("thread %d has %d, want %d", i, v, 5*i)
		}
	}
	d := deviceFor(t, ptx.SM90a, Options{})
	failText(t, d, body(alloc+release+use), 1, 1, "in no allocation")
	failText(t, d, body(alloc+release+release), 1, 1, "malloc did not return this address")
	failText(t, d, body("mov.u64 %rd5, %rd0;\n"+release), 1, 1, "malloc did not return this address")
}

// TestKernelParamAddress uses the address of a kernel parameter.
func TestKernelParamAddress(t *testing.T) {
	text := header + `.visible .entry k(.param .u64 out, .param .align 4 .b8 s[64])
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	mov.u64 %rd2, s;
	mul.wide.u32 %rd3, %r0, 4;
	add.u64 %rd2, %rd2, %rd3;
	ld.param.u32 %r1, [%rd2];
	cvta.param.u64 %rd4, %rd2;
	ld.u32 %r2, [%rd4];
	add.u32 %r1, %r1, %r2;
` + store + "\nret;\n}"
	d := deviceFor(t, ptx.SM90a, Options{})
	b, err := d.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	var words []uint32
	for i := range 16 {
		words = append(words, uint32(i*i))
	}
	l := device.Launch{Block: device.D(16), Params: []device.Param{device.Ptr(b), bytesOf(words...)}}
	if err := launchText(t, d, text, l); err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 64)
	if err := b.Read(0, out); err != nil {
		t.Fatal(err)
	}
	for i, v := range u32s(out) {
		if v != uint32(2*i*i) {
			t.Fatalf("thread %d has %d, want %d", i, v, 2*i*i)
		}
	}
}

// TestSharedOfKernels checks that dynamic shared memory follows the static shared memory of
// the kernel that runs, even in a function that several kernels call. The static shared
// memory of that function must not overlap with other variables.
func TestSharedOfKernels(t *testing.T) {
	kernel := func(name, static string) string {
		return ".visible .entry " + name + `(.param .u64 out)
{
	.shared .align 4 .b8 mine[` + static + `];
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd0, [out];
	st.shared.u32 [mine], 1;
	st.shared.u32 [mine+` + static + `-4], 2;
	st.shared.u32 [dyn], 5;
	call (%r1), last, ();
	ld.shared.u32 %r2, [mine];
	ld.shared.u32 %r3, [mine+` + static + `-4];
	st.global.v2.u32 [%rd0], {%r1, %r2};
	st.global.u32 [%rd0+8], %r3;
	ret;
}
`
	}
	text := header + `.extern .shared .align 16 .b8 dyn[];
.func (.reg .u32 r) last()
{
	.shared .align 4 .b32 own;
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	st.shared.u32 [own], 100;
	mov.u32 %r1, dyn;
	ld.shared.u32 r, [%r1];
	mov.u64 %rd1, dyn;
	ld.shared.u32 %r2, [%rd1];
	add.u32 r, r, %r2;
	ld.shared.u32 %r2, [dyn];
	add.u32 r, r, %r2;
	ld.shared.u32 %r2, [own];
	add.u32 r, r, %r2;
	ret;
}
` + kernel("other", "48000") + kernel("k", "20")
	d := deviceFor(t, ptx.SM90a, Options{})
	b, err := d.Alloc(12)
	if err != nil {
		t.Fatal(err)
	}
	l := device.Launch{Shared: 200000, Params: []device.Param{device.Ptr(b)}}
	if err := launchText(t, d, text, l); err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 12)
	if err := b.Read(0, out); err != nil {
		t.Fatal(err)
	}
	if got := u32s(out); got[0] != 115 || got[1] != 1 || got[2] != 2 {
		t.Errorf("%v, want [115 1 2]", got)
	}
}

// TestRegisterPlusConstant checks operands of the form register+constant.
func TestRegisterPlusConstant(t *testing.T) {
	for i, v := range u32s(runText(t, kernelText(`cvt.u64.u32 %rd2, %r0;
	mov.u32 %r2, %r0+4;
	mov.u64 %rd3, %rd2+-1;
	cvt.u32.u64 %r3, %rd3;
	add.u32 %r1, %r2, %r3;`+store), 1, 32, 128)) {
		if v != uint32(2*i+3) {
			t.Fatalf("thread %d has %d, want %d", i, v, 2*i+3)
		}
	}
}
