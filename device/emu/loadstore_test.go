package emu

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestLoadTypes loads every type into every register that may hold it: signed values are
// sign-extended, others are zero-extended.
func TestLoadTypes(t *testing.T) {
	word := uint64(0x8182838485868788)
	regs := []struct {
		name string
		bits int
	}{{"%h1", 16}, {"%r1", 32}, {"%rd5", 64}}
	for _, typ := range []ptx.Type{ptx.B8, ptx.U8, ptx.S8, ptx.B16, ptx.U16, ptx.S16, ptx.B32, ptx.U32, ptx.S32, ptx.B64, ptx.U64, ptx.S64} {
		want := word & (1<<typ.Bits() - 1)
		for _, r := range regs {
			if r.bits < typ.Bits() {
				continue
			}
			if typ.Class() == ptx.ClassSigned {
				want = uint64(int64(word<<(64-typ.Bits())) >> (64 - typ.Bits()))
			}
			for _, space := range []string{".global", ".shared", ".local", "", ".global.nc", ".volatile.global", ".relaxed.gpu.global", ".global.cs"} {
				got := loadThrough(t, space, typ, r.name, r.bits, word)
				if mask := uint64(1)<<r.bits - 1; got != want&mask {
					t.Errorf("ld%s.%s into %s: %#x, want %#x", space, typ, r.name, got, want&mask)
				}
			}
		}
	}
}

// loadThrough stores a word in a state space, loads it as a type and returns the whole
// register.
func loadThrough(t *testing.T, space string, typ ptx.Type, reg string, bits int, word uint64) uint64 {
	t.Helper()
	at := "%rd0+64"
	put := ".global"
	switch space {
	case ".shared", ".local":
		at, put = "v"+space[1:], space
	}
	body := fmt.Sprintf(`.shared .align 8 .b64 vshared;
	.local .align 8 .b64 vlocal;
	mov.u64 %%rd1, %#x;
	st%s.u64 [%s], %%rd1;
	ld%s.%s %s, [%s];
	st.global.b%d [%%rd0], %s;`, word, put, at, space, typ, reg, at, bits, reg)
	return u64s(runText(t, kernelText(body), 1, 1, 128))[0]
}

// TestVectors stores and loads vectors of every shape in all state spaces, in some lanes and
// in all, at descending addresses.
func TestVectors(t *testing.T) {
	for _, c := range []struct{ vec, in, out string }{
		{"v2.u32", "{%r10, %r11}", "{%r12, %r13}"},
		{"v4.u32", "{%r10, %r11, %r10, %r11}", "{%r12, %r13, %r12, %r13}"},
		{"v2.u64", "{%rd10, %rd11}", "{%rd12, %rd13}"},
		{"v4.u16", "{%h1, %h2, %h1, %h2}", "{%h3, %h4, %h3, %h4}"},
		{"v2.u8", "{%h1, %h2}", "{%h3, %h4}"},
		{"b128", "%q1", "%q2"},
	} {
		for _, guard := range []string{"", "@%p1 "} {
			for _, space := range []string{".global", ".shared", ".local", ""} {
				got := u32s(runText(t, vectorText(c.vec, c.in, c.out, guard, space), 1, 32, 2048))
				for lane := range uint32(32) {
					want := 7*lane + 1
					if guard != "" && lane%3 != 0 {
						want = 5
					}
					if got[lane] != want {
						t.Fatalf("%sld%s.%s: lane %d has %d, want %d", guard, space, c.vec, lane, got[lane], want)
					}
				}
			}
		}
	}
}

// vectorText returns a kernel that stores a vector and loads it again. Its elements are
// 7*lane and 1.
func vectorText(vec, in, out, guard, space string) string {
	addr := "%rd2"
	switch space {
	case ".shared":
		addr = "%rd3"
	case ".local":
		addr = "%rd4"
	}
	sum := `cvt.u32.u64 %r12, %rd12;
	cvt.u32.u64 %r13, %rd13;`
	switch vec {
	case "v2.u32", "v4.u32":
		sum = ""
	case "v4.u16", "v2.u8":
		sum = "cvt.u32.u16 %r12, %h3;\ncvt.u32.u16 %r13, %h4;"
	case "b128":
		sum = "mov.b128 {%rd12, %rd13}, %q2;\n" + sum
	}
	return kernelText(`.shared .align 16 .b8 s[512];
	.local .align 16 .b8 l[16];
	rem.u32 %r20, %r0, 3;
	setp.eq.u32 %p1, %r20, 0;
	mul.lo.u32 %r10, %r0, 7;
	mov.u32 %r11, 1;
	cvt.u64.u32 %rd10, %r10;
	mov.u64 %rd11, 1;
	cvt.u16.u32 %h1, %r10;
	mov.u16 %h2, 1;
	mov.b128 %q1, {%rd10, %rd11};
	mov.u32 %r12, 3;
	mov.u32 %r13, 2;
	mov.u64 %rd12, 3;
	mov.u64 %rd13, 2;
	mov.u16 %h3, 3;
	mov.u16 %h4, 2;
	mov.b128 %q2, {%rd12, %rd13};
	sub.u32 %r21, 31, %r0;
	mul.wide.u32 %rd5, %r21, 16;
	add.u64 %rd2, %rd0, %rd5;
	add.u64 %rd2, %rd2, 1024;
	mov.u64 %rd3, s;
	add.u64 %rd3, %rd3, %rd5;
	mov.u64 %rd4, l;
	` + guard + "st" + space + "." + vec + " [" + addr + "], " + in + `;
	` + guard + "ld" + space + "." + vec + " " + out + ", [" + addr + `];
	` + sum + `
	add.u32 %r1, %r12, %r13;` + store)
}

// TestStoreConflict stores to one word from all lanes: the word must hold the value of the
// last lane.
func TestStoreConflict(t *testing.T) {
	got := u32s(runText(t, kernelText("st.global.u32 [%rd0], %r0;\nsetp.lt.u32 %p1, %r0, 20;\n@%p1 st.global.u32 [%rd0+4], %r0;"), 1, 32, 8))
	if got[0] != 31 || got[1] != 19 {
		t.Errorf("%v, want [31 19]", got)
	}
}

// TestScattered accesses two allocations, shared and local memory in one
// instruction.
func TestScattered(t *testing.T) {
	text := header + ".global .align 4 .u32 g[32];\n" + kernelText(`.shared .align 4 .b32 s[32];
	.local .align 4 .b32 l;
	cvta.shared.u64 %rd2, s;
	cvta.local.u64 %rd3, l;
	mov.u64 %rd4, g;
	and.b32 %r2, %r0, 3;
	setp.eq.u32 %p1, %r2, 1;
	setp.eq.u32 %p2, %r2, 2;
	setp.eq.u32 %p3, %r2, 3;
	selp.b64 %rd5, %rd2, %rd4, %p1;
	selp.b64 %rd5, %rd0, %rd5, %p2;
	mul.wide.u32 %rd6, %r0, 4;
	add.u64 %rd5, %rd5, %rd6;
	selp.b64 %rd5, %rd3, %rd5, %p3;
	mul.lo.u32 %r3, %r0, 11;
	st.u32 [%rd5], %r3;
	ld.u32 %r1, [%rd5];` + store)[len(header):]
	for i, v := range u32s(runText(t, text, 1, 32, 128)) {
		if v != uint32(11*i) {
			t.Errorf("lane %d has %d, want %d", i, v, 11*i)
		}
	}
}

// TestInitialisers reads variables with every kind of initialiser.
func TestInitialisers(t *testing.T) {
	text := header + `.global .align 4 .u32 value[3] = {10, 20, 30};
.global .align 8 .u64 where[2] = {value+4, generic(value)};
.const .align 4 .f32 f[2] = {0f3F800000, 2.5};
.global .align 1 .b8 mixed[4] = {1, 0xff, 3};
.global .align 4 .u32 matrix[2][2] = {{1, 2}, {3, 4}};
` + kernelText(`ld.global.u64 %rd1, [where];
	ld.global.u32 %r1, [%rd1];
	ld.global.u64 %rd1, [where+8];
	ld.u32 %r2, [%rd1+8];
	ld.const.u32 %r3, [f+4];
	ld.global.u32 %r4, [mixed];
	st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
	ld.global.u32 %r5, [matrix+8];
	st.global.u32 [%rd0+16], %r5;`)[len(header):]
	got := u32s(runText(t, text, 1, 1, 32))
	for i, want := range []uint32{20, 30, f32bits(2.5), 0x0003ff01, 3} {
		if got[i] != want {
			t.Errorf("value %d is %#x, want %#x", i, got[i], want)
		}
	}
}

func TestAccessFaults(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	for _, c := range []struct{ body, want string }{
		{"ld.global.u32 %r1, [%rd0+4096];", "0 bytes past the end of an allocation of 4096"},
		{"ld.global.u8 %r1, [%rd0+4097];", "1 byte past the end of an allocation of 4096 bytes"},
		{"ld.global.u32 %r1, [%rd0+4095];", "not aligned to 4"},
		{"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0+8];", "not aligned to 16"},
		{"st.global.u64 [%rd0+-8], %rd0;", "8 bytes before an allocation"},
		{"add.u64 %rd1, %rd0, 4094;\nld.global.u16 %h1, [%rd1+2];", "past the end"},
		{"setp.eq.u32 %p1, %r0, 9;\nmov.u64 %rd1, %rd0;\n@%p1 mov.u64 %rd1, 16;\nst.global.u32 [%rd1], 1;", "lane 9"},
		{"ld.param.u64 %rd1, [out+8];", "kernel parameter access of 8 bytes at 0x8"},
	} {
		failText(t, d, kernelText(c.body), 1, 32, c.want)
	}
}

// TestWideNarrow stores the low part of wide registers.
func TestWideNarrow(t *testing.T) {
	out := runText(t, kernelText(`mov.u64 %rd1, 0x1122334455667788;
	st.global.u32 [%rd0], %rd1;
	st.global.u16 [%rd0+4], %rd1;
	mov.u32 %r1, 0xaabbccdd;
	st.global.u8 [%rd0+6], %r1;
	st.global.u8 [%rd0+7], %rd1;`), 1, 1, 8)
	if got := binary.LittleEndian.Uint64(out); got != 0x88dd778855667788 {
		t.Errorf("%#x", got)
	}
}
