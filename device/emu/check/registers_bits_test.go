package check_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestUndefinedBits compares the rules with all values that undefined bits may have. A bit of the
// result that depends on them must be undefined; with exact rules no other bit may be. %r6 has the
// undefined bits, %r4 has defined bits, %r7 is the result.
func TestUndefinedBits(t *testing.T) {
	for _, c := range []struct {
		exact bool
		op    string
	}{
		{true, "and.b32 %r7, %r6, %r4;"},
		{true, "or.b32 %r7, %r4, %r6;"},
		{true, "xor.b32 %r7, %r6, %r4;"},
		{true, "not.b32 %r7, %r6;"},
		{true, "lop3.b32 %r7, %r6, %r4, 0x33335555, 0x1e;"},
		{true, "lop3.b32 %r7, %r4, %r6, 0x0f0f0f0f, 0xca;"},
		{true, "shl.b32 %r7, %r6, 5;"},
		{true, "shl.b32 %r7, %r6, 40;"},
		{true, "shr.u32 %r7, %r6, 7;"},
		{true, "shr.s32 %r7, %r6, 7;"},
		{true, "shr.s32 %r7, %r6, 99;"},
		{true, "shf.l.wrap.b32 %r7, %r6, %r4, 9;"},
		{true, "shf.r.clamp.b32 %r7, %r4, %r6, 32;"},
		{true, "shf.r.wrap.b32 %r7, %r4, %r6, 33;"},
		{true, "prmt.b32 %r7, %r6, %r4, 0x4b06;"},
		{true, "prmt.b32 %r7, %r4, %r6, 0xd7f2;"},
		{true, "bfe.u32 %r7, %r6, 5, 9;"},
		{true, "bfe.s32 %r7, %r6, 5, 9;"},
		{true, "bfe.s32 %r7, %r6, 28, 9;"},
		{true, "bfe.s32 %r7, %r6, 3, 0;"},
		{true, "bfi.b32 %r7, %r6, %r4, 6, 11;"},
		{true, "bfi.b32 %r7, %r4, %r6, 20, 30;"},
		{true, "cvt.u32.u16 %r7, %r6;"},
		{true, "cvt.s32.s8 %r7, %r6;"},
		{true, "cvt.u64.u32 %rd5, %r6;\nshr.u64 %rd5, %rd5, 16;\ncvt.u32.u64 %r7, %rd5;"},
		{true, "cvt.s64.s32 %rd5, %r6;\nshr.u64 %rd5, %rd5, 16;\ncvt.u32.u64 %r7, %rd5;"},
		{true, "mov.b32 {%h1, %h2}, %r6;\nmov.b32 %r7, {%h2, %h1};"},
		{true, "mov.b64 %rd5, {%r6, %r4};\nmov.b64 {%r7, %r8}, %rd5;"},
		{true, "mov.b64 %rd5, {%r4, %r6};\nshr.u64 %rd5, %rd5, 24;\ncvt.u32.u64 %r7, %rd5;"},
		{true, "setp.eq.u32 %p1, %r6, %r4;\nselp.u32 %r7, 1, 0, %p1;"},
		{true, "setp.lt.u32 %p1, %r6, %r4;\nselp.u32 %r7, 1, 0, %p1;"},
		{true, "setp.ge.s32 %p1, %r6, %r4;\nselp.u32 %r7, 1, 0, %p1;"},
		{true, "setp.hi.u32 %p1, %r4, %r6;\nselp.u32 %r7, 1, 0, %p1;"},
		{true, "setp.le.s32 %p1, %r4, %r6;\nselp.u32 %r7, 1, 0, %p1;"},
		{true, "setp.ne.u32 %p1, %r4, 0;\nselp.u32 %r7, %r6, %r4, %p1;"},
		{true, "mul.lo.u32 %r7, %r6, 0;"},
		{true, "sub.u32 %r7, %r6, %r6;"},
		{false, "add.u32 %r7, %r6, %r4;"},
		{false, "sub.u32 %r7, %r4, %r6;"},
		{false, "neg.s32 %r7, %r6;"},
		{false, "mul.lo.u32 %r7, %r6, %r4;"},
		{false, "mul.hi.s32 %r7, %r6, %r4;"},
		{false, "mul.wide.s32 %rd5, %r6, %r4;\nshr.u64 %rd5, %rd5, 20;\ncvt.u32.u64 %r7, %rd5;"},
		{false, "mad.lo.u32 %r7, %r4, 3, %r6;"},
		{false, "mad.hi.u32 %r7, %r6, %r4, %r4;"},
		{false, "min.s32 %r7, %r6, %r4;"},
		{false, "abs.s32 %r7, %r6;"},
		{false, "popc.b32 %r7, %r6;"},
		{false, "add.cc.u32 %r8, %r6, %r4;\naddc.u32 %r7, %r4, 0;"},
		{false, "add.f16x2 %r7, %r6, %r4;"},
		{false, "cvt.rn.f32.u32 %f1, %r6;\nmov.b32 %r7, %f1;"},
		{false, "setp.lt.u32 %p1, %r6, %r4;\nsetp.gt.and.u32 %p1, %r6, 77, %p1;\nselp.u32 %r7, %r4, %r6, %p1;"},
		{false, "vote.sync.ballot.b32 %r7, %p1, -1;"},
		{false, "slct.s32.s32 %r7, %r4, 5, %r6;"},
	} {
		t.Run(c.op, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			for range 3 {
				k := bitsKernel{op: c.op, value: rnd.Uint32(), other: rnd.Uint32() >> rnd.IntN(32)}
				for range 5 {
					k.at = append(k.at, rnd.IntN(32))
				}
				k.hold(t, c.exact)
			}
		})
	}
}

// bitsKernel runs an operation on a word with undefined bits. Each lane also runs it on one of the
// values that the word may have.
type bitsKernel struct {
	op           string
	value, other uint32
	at           []int // the undefined bits
}

func (k *bitsKernel) mask() (m uint32) {
	for _, b := range k.at {
		m |= 1 << b
	}
	return m
}

func (k *bitsKernel) hold(t *testing.T, exact bool) {
	t.Helper()
	u := k.mask()
	var b strings.Builder
	fmt.Fprintf(&b, "setp.eq.u32 %%p1, %%r0, 99;\nmov.u32 %%r4, %#x;\nand.b32 %%r6, %%r5, %#x;\nor.b32 %%r6, %%r6, %#x;\n%s\n", k.other, u, k.value&^u, k.op)
	const mark = "st.global.u32 [%rd0+2048], %r8;"
	for i := range 32 {
		fmt.Fprintf(&b, "bfe.u32 %%r8, %%r7, %d, 1;\n%s\n", i, mark)
	}
	fmt.Fprintf(&b, "mov.u32 %%r6, %#x;\n", k.value&^u)
	for i, at := range k.at {
		fmt.Fprintf(&b, "bfe.u32 %%r8, %%r0, %d, 1;\nshl.b32 %%r8, %%r8, %d;\nor.b32 %%r6, %%r6, %%r8;\n", i, at)
	}
	fmt.Fprintf(&b, "%s\nst.global.u32 [%%rd1], %%r7;\n", k.op)
	one := oneKernel{body: b.String()}

	c := check.New(check.UninitRegister)
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: c})
	if err != nil {
		t.Fatal(err)
	}
	buf := one.launch(t, dev)
	out := make([]byte, 128)
	if err := buf.Read(0, out); err != nil {
		t.Fatal(err)
	}
	all, some := uint32(1<<32-1), uint32(0)
	for l := range 32 {
		v := binary.LittleEndian.Uint32(out[4*l:])
		all, some = all&v, some|v
	}
	first := 0
	for i, line := range strings.Split(one.text(), "\n") {
		if line == mark {
			first = i + 1
			break
		}
	}
	var undefined uint32
	for _, d := range c.Findings() {
		if n := int(d.Pos.Line) - first; n >= 0 && n < 64 && n%2 == 0 {
			undefined |= 1 << (n / 2)
		} else {
			t.Errorf("%v", &d)
		}
	}
	varies := all ^ some
	if varies&^undefined != 0 || exact && undefined != varies {
		t.Errorf("value %#x, undefined %#x, other %#x: bits %#x of the result vary, %#x count as undefined", k.value, u, k.other, varies, undefined)
	}
}
